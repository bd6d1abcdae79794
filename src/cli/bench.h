/* Timing of chains on one context, one picture size and one pixel type. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "args.h"

/* Buffers take turns, so that a cache does not hold the whole picture from one run to the next. */
enum { BENCH_BUFFERS = 8 };

typedef struct bench {
    const cli_args *args;
    gf_context *context;
    gf_memory memory;
    gf_image_desc desc;      /* of one picture */
    gf_image *source;        /* BENCH_BUFFERS pictures, one below the other */
    double copy_ns_per_byte; /* a plain copy, per byte read or written */
} bench;

typedef struct bench_result {
    char impls[160]; /* of the stages, with + between */
    gf_backend backend;
    int runs;
    double expected_ns;  /* by the cost models */
    double ns;           /* median of the runs */
    double pixels_per_s; /* of the result */
    double bytes_per_s;  /* input and output, each once */
    double copy_share;   /* time of a copy of as many bytes, divided by ns */
} bench_result;

/* Fill a picture in host memory with noise, always the same. */
void bench_noise(const gf_view *view);

/* Make noise and measure the copy. b->args, context, memory and desc are set by the caller. */
cli_exit bench_start(bench *b);
void bench_end(bench *b);

/* Measure one chain. */
cli_exit bench_chain(bench *b, const gf_graph *graph, bench_result *out);

#endif
