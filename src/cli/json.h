/* A small streaming JSON writer. Keys are NULL inside arrays and for the outermost value. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

enum { JSON_DEPTH = 16 };

typedef struct json {
    FILE *out;
    int depth;
    bool used[JSON_DEPTH]; /* something was written at this depth: a comma is due */
} json;

void json_object(json *j, const char *key);
void json_end_object(json *j); /* the outermost one also ends the line */
void json_array(json *j, const char *key);
void json_end_array(json *j);
void json_string(json *j, const char *key, const char *value); /* NULL becomes null */
void json_number(json *j, const char *key, double value);      /* NaN and Inf become null */
void json_integer(json *j, const char *key, long long value);
void json_bool(json *j, const char *key, bool value);

#endif
