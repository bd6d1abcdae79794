#define _POSIX_C_SOURCE 200809L
#include "timer.h"

#include <stdio.h>
#include <time.h>

double timer_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Write value in the largest unit that leaves it at 1 or more; units rise by 1000. */
static const char *scaled(double value, const char *const *units, int n_units, char *out,
                          size_t n_bytes)
{
    int unit = 0;
    while (unit + 1 < n_units && value >= 999.5) {
        value /= 1000;
        unit++;
    }
    snprintf(out, n_bytes, "%.3g %s", value, units[unit]);
    return out;
}

const char *timer_text(double ns, char *out, size_t n_bytes)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    return scaled(ns, units, 4, out, n_bytes);
}

const char *bytes_text(double bytes, char *out, size_t n_bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    return scaled(bytes, units, 5, out, n_bytes);
}
