#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"

#include <time.h>

double gfi_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
