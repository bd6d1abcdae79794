#include "engine/suggest.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_CHARS = 32 };

/* Levenshtein distance (V. Levenshtein, 1966) of short names, one row of the table at a time. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_MAX_CHARS + 1], na = (int)strlen(a), nb = (int)strlen(b);
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

void gfi_suggest(gfi_suggestion *s, const char *candidate)
{
    if (strlen(s->wanted) > NAME_MAX_CHARS || strlen(candidate) > NAME_MAX_CHARS) return;
    int distance = edit_distance(s->wanted, candidate), allowed = (int)strlen(s->wanted) / 3 + 1;
    if (distance > allowed || (s->best && distance >= s->distance)) return;
    s->best = candidate;
    s->distance = distance;
}

const char *gfi_suggestion_text(gfi_suggestion *s)
{
    s->text[0] = '\0';
    if (s->best) snprintf(s->text, sizeof s->text, "; did you mean '%s'?", s->best);
    return s->text;
}
