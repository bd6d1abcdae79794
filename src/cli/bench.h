/* Timing of chains on one context, one picture size and one pixel type. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "args.h"

typedef struct bench {
    const cli_args *args;
    gf_context *context;
    gf_memory memory;
    gf_image_desc desc;      /* of one picture */
    int batch;               /* pictures of a run */
    int n_pictures;          /* in a stack, one below the other; a multiple of batch */
    gf_image *source;        /* a stack */
    double copy_ns_per_byte; /* a plain copy, per byte read or written */
} bench;

typedef struct bench_result {
    char impls[160]; /* of the stages, with + between */
    gf_backend backend;
    int runs;
    double expected_ns;  /* by the cost models */
    double ns;           /* median of the runs, each of b->batch pictures */
    double pixels_per_s; /* of the result */
    double bytes_per_s;  /* input and output, each once */
    double copy_share;   /* time of a copy of as many bytes, divided by ns */
} bench_result;

/* Fill a picture in host memory with noise, always the same. */
void bench_noise(const gf_view *view);

/* Make noise and measure the copy. b->args, context, memory, desc and batch are set by the caller. */
cli_exit bench_start(bench *b);
void bench_end(bench *b);

/* Measure one chain. */
cli_exit bench_chain(bench *b, const gf_graph *graph, bench_result *out);

#endif
