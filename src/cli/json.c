#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Return the length of a well-formed UTF-8 sequence at s, or 0. */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
            : (s[0] & 0xf0) == 0xe0       ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* overlong forms, surrogates, past U+10FFFF */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

/* Bytes that are no UTF-8 (file names may hold any) become the replacement character. */
static void quoted(json *j, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', j->out);
    while (*s) {
        int n = utf8_length(s);
        if (n == 0)
            fputs("\\ufffd", j->out);
        else if (*s == '"' || *s == '\\')
            fprintf(j->out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", j->out);
        else if (*s == '\t')
            fputs("\\t", j->out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(j->out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, j->out);
        s += n ? n : 1;
    }
    fputc('"', j->out);
}

static void begin_value(json *j, const char *key)
{
    if (j->used[j->depth]) fputc(',', j->out);
    j->used[j->depth] = true;
    if (j->depth) fprintf(j->out, "\n%*s", 2 * j->depth, "");
    if (!key) return;
    quoted(j, key);
    fputs(": ", j->out);
}

static void open_level(json *j, const char *key, char bracket)
{
    begin_value(j, key);
    fputc(bracket, j->out);
    j->used[++j->depth] = false;
}

static void close_level(json *j, char bracket)
{
    bool empty = !j->used[j->depth--];
    if (!empty) fprintf(j->out, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->out);
    if (!j->depth) fputc('\n', j->out);
}

void json_object(json *j, const char *key) { open_level(j, key, '{'); }
void json_end_object(json *j) { close_level(j, '}'); }
void json_array(json *j, const char *key) { open_level(j, key, '['); }
void json_end_array(json *j) { close_level(j, ']'); }

void json_string(json *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        quoted(j, value);
    else
        fputs("null", j->out);
}

void json_number(json *j, const char *key, double value)
{
    char text[40];
    begin_value(j, key);
    if (isfinite(value)) {
        snprintf(text, sizeof text, "%.15g", value);
        if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
    } else
        strcpy(text, "null");
    fputs(text, j->out);
}

void json_integer(json *j, const char *key, long long value)
{
    begin_value(j, key);
    fprintf(j->out, "%lld", value);
}

void json_bool(json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}
