/* Signals: a picture half written is finished or removed before the program goes. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Let writes to a closed pipe or past a size limit fail with an error instead of killing the
 * program, and exit with 128 + signal on SIGINT and SIGTERM. */
void signals_install(void);

/* Between these two a first SIGINT or SIGTERM waits; a second one does not. */
void signals_hold(void);
void signals_release(void);

#endif
