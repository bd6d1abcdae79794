#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 2048, NAME_CHARS = 40 };

/* Names of files may hold anything; a terminal gets no control characters from us. */
static void write_line(const char *kind, const char *text)
{
    char line[LINE_BYTES];
    size_t n = 0;
    for (; text[n] && n < sizeof line - 1; n++) {
        unsigned char c = (unsigned char)text[n];
        line[n] = c < 0x20 || c == 0x7f ? '?' : text[n];
    }
    line[n] = '\0';
    fprintf(stderr, "gpufilter: %s: %s\n", kind, line);
}

cli_exit cli_error(cli_exit code, const char *hint, const char *fmt, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    write_line("error", text);
    if (hint) write_line("hint", hint);
    return code;
}

cli_exit cli_library_error(cli_exit code, const char *hint)
{
    return cli_error(code, hint, "%s", gf_error_message());
}

void cli_notice(const char *fmt, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    write_line("notice", text);
}

void cli_log_line(gf_log_level level, const char *message, void *user)
{
    const cli_log *log = user;
    if (level > log->level) return;
    write_line(level == GF_LOG_WARNING  ? "warning"
               : level == GF_LOG_NOTICE ? "notice"
                                        : "detail",
               message);
}

static int min_int(int a, int b) { return a < b ? a : b; }

/* Edits, and swaps of neighbours, that lead from a to b, both of NAME_CHARS at most; a swap is the
 * commonest slip of fingers. Three rows of the table are enough. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][NAME_CHARS + 1], na = (int)strlen(a), nb = (int)strlen(b);
    for (int j = 0; j <= nb; j++) rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            row[j] =
                min_int(above[j - 1] + (a[i - 1] != b[j - 1]), min_int(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_int(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

void cli_nearest_offer(cli_nearest *nearest, const char *candidate)
{
    enum { PREFIX_CHARS = 3 }; /* enough of a name to count as its beginning */
    size_t n = strlen(nearest->wanted);
    if (n > NAME_CHARS || strlen(candidate) > NAME_CHARS) return;
    bool begins = n >= PREFIX_CHARS && !strncmp(candidate, nearest->wanted, n);
    int distance = begins ? 1 : edit_distance(nearest->wanted, candidate);
    if (distance > (int)n / 3 + 1) return;
    if (nearest->best && distance >= nearest->distance) return;
    nearest->best = candidate;
    nearest->distance = distance;
}

const char *cli_nearest_hint(const cli_nearest *nearest, const char *fallback, char *out,
                             unsigned n_bytes)
{
    if (nearest->best)
        snprintf(out, n_bytes, "did you mean '%s'?", nearest->best);
    else
        snprintf(out, n_bytes, "%s", fallback);
    return out;
}
