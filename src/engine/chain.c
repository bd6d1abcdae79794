/* The chain grammar: name[=value][:key=value]… with stages separated by commas. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "engine/graph.h"
#include "engine/params.h"
#include "engine/registry.h"

typedef struct scanner {
    const char *text, *p;
    char *word; /* the last word, unquoted and trimmed */
    char end;   /* the delimiter that ended it, 0 at the end of the text */
} scanner;

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Read a word up to one of the delimiters, which is consumed. Blanks at its ends are dropped
 * unless quoted. */
static gf_status read_word(scanner *s, const char *delimiters)
{
    char *w = s->word, *keep = s->word, quote = 0;
    const char *opened = NULL;
    while (blank(*s->p)) s->p++;
    for (; *s->p && (quote || !strchr(delimiters, *s->p)); s->p++) {
        char c = *s->p;
        if (c == '\\') {
            if (!s->p[1])
                return gfi_fail(GF_ERROR_FORMAT, "chain: '\\' at the end escapes nothing");
            *w++ = *++s->p;
            keep = w;
        } else if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            opened = s->p;
            keep = w;
        } else {
            *w++ = c;
            if (quote || !blank(c)) keep = w;
        }
    }
    if (quote)
        return gfi_fail(GF_ERROR_FORMAT, "chain: the %c at character %d is never closed", quote,
                        (int)(opened - s->text) + 1);
    *keep = '\0';
    s->end = *s->p;
    if (*s->p) s->p++;
    return GF_OK;
}

/* value or key=value, each up to ':' or ','. */
static gf_status read_item(scanner *s, gfi_stage *stage, int *position, bool may_have_key)
{
    GFI_TRY(read_word(s, may_have_key ? "=:," : ":,"));
    if (s->end != '=') {
        const gf_param *p = gfi_params_positional(stage->def, *position);
        if (!p)
            return gfi_fail(GF_ERROR_FORMAT,
                            "value '%s' has no place: the filter takes %d without a name", s->word,
                            *position);
        ++*position;
        return gfi_stage_set(stage, p->info.name, s->word);
    }
    char *key = gfi_strdup(s->word);
    if (!key) return GF_ERROR_NO_MEMORY;
    gf_status status = read_word(s, ":,");
    if (status == GF_OK) status = gfi_stage_set(stage, key, s->word);
    gfi_free(key);
    return status;
}

static gf_status read_items(scanner *s, gfi_stage *stage)
{
    int position = 0;
    if (s->end == '=') GFI_TRY(read_item(s, stage, &position, false));
    while (s->end == ':') GFI_TRY(read_item(s, stage, &position, true));
    return gfi_params_check(stage->def, stage->params);
}

static gf_status read_chain(scanner *s, gf_graph *graph)
{
    do {
        GFI_TRY(read_word(s, "=:,"));
        if (!*s->word)
            return gfi_fail(GF_ERROR_FORMAT,
                            "stage %d: no filter named; write a chain like \"gaussian=2,sobel\"",
                            graph->n_stages + 1);
        const gf_filter_def *def = gfi_registry_find(s->word);
        if (!def) return gfi_prepend(gfi_unknown_filter(s->word), "stage %d", graph->n_stages + 1);
        gfi_stage *stage;
        GFI_TRY(gfi_graph_add(graph, def, &stage));
        GFI_TRY(gfi_stage_prepend(read_items(s, stage), graph, graph->n_stages - 1));
    } while (s->end == ',');
    return GF_OK;
}

/* A scanner over text with room for its longest word. */
static gf_status open_scanner(const char *text, scanner *s)
{
    *s = (scanner){ text, text, gfi_alloc(strlen(text) + 1, 1, "chain"), ':' };
    return s->word ? GF_OK : GF_ERROR_NO_MEMORY;
}

gf_status gf_graph_parse(const char *text, gf_graph **out)
{
    if (!text || !out) return gfi_fail(GF_ERROR_INVALID, "graph parse: NULL");
    *out = NULL;
    scanner s;
    GFI_TRY(open_scanner(text, &s));
    gf_status status = gf_graph_create(out);
    if (status == GF_OK) status = read_chain(&s, *out);
    gfi_free(s.word);
    if (status != GF_OK) gf_graph_destroy(out);
    return status;
}

gf_status gfi_params_parse(const gf_filter_def *def, const char *text, void **out)
{
    scanner s;
    gfi_stage stage = { .def = def };
    GFI_TRY(gfi_params_create(def, &stage.params));
    gf_status status = open_scanner(text, &s);
    if (status == GF_OK && !*text) s.end = 0;
    if (status == GF_OK) {
        status = read_items(&s, &stage);
        gfi_free(s.word);
    }
    gfi_free(stage.impl);
    if (status != GF_OK) gfi_params_destroy(def, &stage.params);
    *out = stage.params;
    return status;
}
