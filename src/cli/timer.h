/* Wall-clock time, and times and sizes as a person reads them. */
#ifndef CLI_TIMER_H
#define CLI_TIMER_H

#include <stddef.h>

double timer_now_ns(void);

/* "41 us", "5.2 ms"; written to out, which is returned. */
const char *timer_text(double ns, char *out, size_t n_bytes);
/* "1.5 MB" */
const char *bytes_text(double bytes, char *out, size_t n_bytes);

#endif
