#define _POSIX_C_SOURCE 200809L
#include "signals.h"

#include <signal.h>
#include <unistd.h>

/* What a handler and the program tell each other. */
static volatile sig_atomic_t held, pending;

static void on_signal(int number)
{
    if (!held || pending) _exit(128 + number);
    pending = number;
}

void signals_install(void)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction stop = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    struct sigaction old;
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    /* a caller that ignores interrupts (nohup, a background job of a shell) keeps that */
    if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN) sigaction(SIGINT, &stop, NULL);
    if (!sigaction(SIGTERM, NULL, &old) && old.sa_handler != SIG_IGN)
        sigaction(SIGTERM, &stop, NULL);
}

void signals_hold(void) { held = 1; }

void signals_release(void)
{
    held = 0;
    if (pending) _exit(128 + pending);
}
