/* "did you mean …?": the nearest of several names by edit distance. */
#ifndef GFI_ENGINE_SUGGEST_H
#define GFI_ENGINE_SUGGEST_H

typedef struct gfi_suggestion {
    const char *wanted;
    const char *best; /* NULL: nothing near enough yet */
    int distance;
    char text[96];
} gfi_suggestion;

/* Offer one candidate. */
void gfi_suggest(gfi_suggestion *suggestion, const char *candidate);

/* Return "; did you mean 'x'?" or "". */
const char *gfi_suggestion_text(gfi_suggestion *suggestion);

#endif
