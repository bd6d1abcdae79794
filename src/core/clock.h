#ifndef GFI_CORE_CLOCK_H
#define GFI_CORE_CLOCK_H

/* Monotonic time in nanoseconds. */
double gfi_clock_ns(void);

#endif
