/* One picture on its way: load, plan, run, save, verify. A batch keeps what pictures share. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "args.h"
#include "difference.h"

typedef struct batch {
    const cli_args *args;
    gf_context *context;
    gf_graph *graph;
    gf_image *expected; /* --verify */
    gf_plan *plan;      /* of the last picture; used again while size and type stay */
    gf_image_desc plan_in;
    bool context_counted; /* the start of CUDA is in some picture's times */
    bool context_ready;   /* it is over */
    gf_image *result;     /* memory for a result, made while CUDA started; may be of another size */
} batch;

typedef struct picture_times {
    double decode_ns, context_ns, plan_ns, upload_ns, kernels_ns, download_ns, encode_ns;
} picture_times;

typedef struct picture {
    const char *input, *output; /* output NULL: nothing is written */
    cli_exit code;
    char error[1024]; /* "" when all went well */
    gf_file_info info;
    gf_image_desc out;
    bool planned, written, verified;
    bool new_plan; /* made for this picture */
    picture_times times;
    difference difference; /* when verified */
} picture;

/* Check what can be checked of an output before anything is read. */
cli_exit picture_check_output(const cli_args *args, const char *output);

/* Load a file for any command: messages and notices are written. */
cli_exit picture_load(const cli_args *args, const char *path, gf_file_info *info, gf_image **out);

/* Take one picture through all steps. Messages are written, and the outcome is in p. */
void picture_process(batch *s, picture *p);

/* The same checks and the same care for commands that only write. */
cli_exit picture_save(const cli_args *args, const char *path, const gf_view *view);

/* The pixel type to write: --depth, the one a format holds when it holds only floats, or input. */
gf_pixel picture_out_pixel(const cli_args *args, const char *path, gf_pixel input);

#endif
