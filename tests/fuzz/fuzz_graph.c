/* Any text must parse into a graph or be refused with a message, without a fault of memory.
 *
 * With a fuzzer:  clang -fsanitize=fuzzer,address,undefined …
 * Without one:    -DFUZZ_STANDALONE gives a main() that runs the files named on its command line,
 *                 or else a fixed number of damaged chains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpufilter/error.h>
#include <gpufilter/graph.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exactly as long, so that a read past it is seen */
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    /* what a file holds is not the parser's doing */
    if (strchr(text, '@')) {
        free(text);
        return 0;
    }
    gf_graph *graph;
    gf_status status = gf_graph_parse(text, &graph);
    if (status == GF_ERROR_INTERNAL || (status == GF_OK) != (graph != NULL)) abort();
    if (status != GF_OK && !*gf_error_message()) abort();
    if (status == GF_OK && gf_graph_size(graph) < 1) abort();
    gf_graph_destroy(&graph);
    free(text);
    return 0;
}

#ifdef FUZZ_STANDALONE

enum { RUNS = 200000, LONGEST = 200 };

static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Words that chains are made of, so that damage reaches deep into the grammar. */
static const char *const words[] = { "gaussian",  "box",
                                     "sobel",     "correlate",
                                     "clamp",     "normalize",
                                     "threshold", "scale",
                                     "sigma",     "size",
                                     "kernel",    "border",
                                     "wrap",      "mirror",
                                     "impl",      "ref",
                                     "mode",      "valid",
                                     "1 2;3 4",   "=",
                                     "=",         ":",
                                     ",",         ",",
                                     "'",         "\"",
                                     "\\",        "1",
                                     "-2.5",      "1e9",
                                     "1e-320",    "nan",
                                     "0x1p3",     "99999999999999999999",
                                     " ",         "\n",
                                     ";",         "#",
                                     "\xff" };

static size_t damaged(char text[LONGEST], unsigned *state)
{
    size_t n = 0, pieces = 1 + next(state) % 12;
    for (size_t i = 0; i < pieces; i++) {
        const char *word = words[next(state) % (sizeof words / sizeof *words)];
        size_t length = strlen(word);
        if (n + length > LONGEST) break;
        memcpy(text + n, word, length);
        n += length;
    }
    if (n && next(state) % 2) text[next(state) % n] = (char)next(state);
    return n;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    size_t n = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file)
        LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    free(bytes);
    return file ? fclose(file) : 1;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) failed |= run_file(argv[i]);
    if (argc > 1) return failed != 0;
    unsigned state = 1;
    char text[LONGEST];
    for (int i = 0; i < RUNS; i++) {
        size_t n = damaged(text, &state);
        LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    }
    printf("%d damaged chains parsed or refused\n", RUNS);
    return 0;
}

#endif
