/* Argument structs shared by the kernels (CUDA) and their callers (C). Plain data, fixed layout.
 * A kernel takes exactly one argument: one of these. */
#ifndef GF_KARGS_H
#define GF_KARGS_H

#ifdef __cplusplus
#define GF_SAME_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#else
#define GF_SAME_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#endif

/* Values of gf_pixel; kernels take them as int. */
enum { GF_P_U8 = 1, GF_P_U16 = 2, GF_P_F32 = 3 };

/* A device image, the first of a batch: those of the others lie `next` units of 16 bytes apart. The
 * grid's z axis counts the images of a batch; where it counts something else, next is 0. */
typedef struct gf_kimage {
    void *data;
    long long pitch; /* bytes */
    int width, height, pixel, next;
} gf_kimage;
GF_SAME_SIZE(gf_kimage, 32);

/* Point filters that follow each other; op is a gfi_point_op. */
typedef struct gf_kpoint {
    int op;
    float a, b, c;
} gf_kpoint;

enum { GF_MOST_POINTS = 4 };
typedef struct gf_kpoints {
    gf_kpoint at[GF_MOST_POINTS];
    int n, unused;
} gf_kpoints;
GF_SAME_SIZE(gf_kpoints, 72);

/* dst = the filters applied to src, at least one. */
typedef struct gf_point_args {
    gf_kimage src, dst;
    gf_kpoints points;
} gf_point_args;
GF_SAME_SIZE(gf_point_args, 136);

/* Order statistics of an image, and normalising by them. The state lives in device memory and is all
 * zeros before an image is looked at. Ranks are found by radix select on 32-bit keys that sort as
 * the pixels do, a few leading bits a pass; targets that share the bits known so far share a slot. */
enum { GF_RANGE_TARGETS = 4, GF_RANGE_BINS = 2048, GF_RANGE_PASSES = 3, GF_RANGE_PICK_THREADS = 256 };

typedef struct gf_range_state {
    unsigned long long n;                      /* pixels that are numbers */
    unsigned long long rank[GF_RANGE_TARGETS]; /* of each target among the pixels of its slot */
    unsigned prefix[GF_RANGE_TARGETS];         /* leading key bits of each slot, the rest 0 */
    int slot[GF_RANGE_TARGETS];                /* of each target */
    int n_slots;
    unsigned max_key, inverted_min_key;        /* 0 while no number was seen */
    int unused;
    double fraction[2];                        /* between targets 0 and 1, and 2 and 3 */
    double lo, hi;                             /* the result, NaN when there is no number */
    float lo_high, lo_low, factor;             /* lo as a sum, and out range / range */
    int mode;                                  /* one of those below */
    unsigned long long histogram[GF_RANGE_PASSES][GF_RANGE_TARGETS][GF_RANGE_BINS];
} gf_range_state;

/* How pixels are mapped: not at all, in float, or in double where floats would overflow. */
enum { GF_RANGE_FLAT = 1, GF_RANGE_FLOAT = 2, GF_RANGE_DOUBLE = 3 };

/* Shared memory of gf_reduce_pick. */
typedef struct gf_range_pick_memory {
    unsigned long long sums[GF_RANGE_PICK_THREADS]; /* of each thread's bins, then running sums */
    unsigned long long rank[GF_RANGE_TARGETS];
    unsigned prefix[GF_RANGE_TARGETS];
} gf_range_pick_memory;

typedef struct gf_range_args {
    gf_kimage src, dst;    /* dst: normalising only */
    gf_range_state *state;
    double q[2];           /* quantiles, 0 to 1 */
    double out_low, out_high;
    int pass, last;        /* last: there is no pass after this one */
} gf_range_args;
GF_SAME_SIZE(gf_range_args, 112);

/* ---- windows: kernels/direct.cu, sep.cu, any.cu ------------------------------------------- */

/* How a window's sums become a pixel: see gfi_window; then the point filters that follow. */
typedef struct gf_kcombine {
    int combine; /* value of gfi_combine */
    float scale, offset, amount, threshold;
    int unused;
    gf_kpoints points;
} gf_kcombine;
GF_SAME_SIZE(gf_kcombine, 96);

/* The 2-D kernels. Rows of the tile in shared memory hold tile_groups groups of four floats. */
enum { GF_DIRECT_TAPS = 961 };
typedef struct gf_direct_args {
    gf_kimage src, dst;
    const float *more; /* all taps, in device memory, when there are more than GF_DIRECT_TAPS */
    int kw, kh, ax, ay, border;
    float border_value, scale, offset;
    int rows; /* output rows of a block; the run-time-size kernel has its own */
    int tile_groups;
    unsigned tile_groups_inverse; /* 2^32 / tile_groups + 1 */
    int unused;
    float taps[GF_DIRECT_TAPS + 3]; /* kh rows of kw */
} gf_direct_args;
GF_SAME_SIZE(gf_direct_args, 120 + 4 * (GF_DIRECT_TAPS + 3));

/* The streaming kernels. Thread t owns the source's columns from t * GF_STREAM_COLUMNS on. */
enum { GF_STREAM_LONGEST = 15, GF_STREAM_WHOLE_LONGEST = 7, GF_STREAM_WHOLE_WORDS = 2 };
typedef struct gf_stream_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    int ax, ay, border;
    float border_value;
    int rows, lead;  /* output rows of a block; the first ones begin `lead` rows above the image */
    int edge_layers; /* first rows of blocks, which make columns one by one, */
    int edge_rows;   /* so many of their pixels a thread: */
    int left, right; /* the output columns before `left` and from `right` on */
    int first, last; /* the threads first … last-1 of the other blocks make what is between */
    int plain;       /* the result has the source's type and no point filters follow; MAGNITUDE of
                      * integers: squares stay normal */
    int folds;       /* the first of all threads and the last one fold the border themselves, */
    unsigned fold_left, fold_right; /* bytes: as gf_pick_bytes' `which` of pixels and the value */
    unsigned border_byte; /* WHOLE: border_value, */
    unsigned bytes[GF_STREAM_WHOLE_LONGEST][GF_STREAM_WHOLE_WORDS]; /* taps of the terms' rows or of
                                                                     * all rows, */
    unsigned bias[2];     /* added to the rows' sums of a term, */
    float start[2];       /* and taken off again here, with the column's taps */
    float middle;         /* GRADIENT: c, */
    unsigned middle_halves; /* and HALVES, twice as binary16 */
    unsigned border_word;   /* pixels of the border's value, */
    int tiles;              /* for which there are such pixels: all goes by tiles */
    int unused[2];
    float full[GF_STREAM_LONGEST * GF_STREAM_LONGEST + 3];    /* K rows of K, no terms */
    float row[2][GF_STREAM_LONGEST + 1], col[2][GF_STREAM_LONGEST + 1]; /* of the terms */
} gf_stream_args;
GF_SAME_SIZE(gf_stream_args, 328 + 912 + 256);

/* The fused separable kernel. */
enum { GF_SEP_TAPS = 512 };
typedef struct gf_sep_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    int n_terms, kw, kh, ax, ay, border;
    float border_value;
    int strip; /* output columns of a block, a multiple of 8 */
    int rows;  /* output rows of a block */
    int lag;   /* kh - 1 rounded up to a multiple of 8: rows the results stay behind the input */
    int tile_groups;
    unsigned tile_groups_inverse; /* 2^32 / tile_groups + 1 */
    int tile_pitch, ring_pitch;   /* floats; gf_sep_K_TERMS has no tile, and rows but no ring */
    float row[2][GF_SEP_TAPS], col[2][GF_SEP_TAPS];
} gf_sep_args;
GF_SAME_SIZE(gf_sep_args, 216 + 4 * 4 * GF_SEP_TAPS);

/* The kernels for windows of any size; taps and scratch are in device memory. */
typedef struct gf_any_args {
    gf_kimage src, dst;         /* row pass: dst is the scratch image */
    gf_kimage own;              /* column pass: the window's source, for UNSHARP */
    const float *taps, *taps_b; /* of the terms, or kh rows of kw; taps_b NULL: one term */
    const float *src_b;         /* column pass: second term's scratch image, laid out as src */
    gf_kcombine combine;
    int kw, kh, ax, ay, border;
    float border_value, outside_a, outside_b; /* column pass: a row filtered outside the image */
} gf_any_args;
GF_SAME_SIZE(gf_any_args, 248);

/* ---- convolution by FFT: kernels/fft.cu --------------------------------------------------- */

/* Overlap-save. Tile t of n x n pixels makes step_x x step_y output pixels, from column
 * (t % tiles_x) * step_x and row (t / tiles_x) * step_y; its input begins origin_x columns and
 * origin_y rows before them. A batch holds the tiles from first_tile on. */
typedef struct gf_fft_args {
    gf_kimage src, dst;
    float *real;            /* batch tiles of n rows of n floats */
    float *spectrum;        /* batch spectra of n rows of n/2+1 pairs */
    const float *transform; /* spectrum of the taps, divided by n*n */
    const float *taps;      /* kh rows of kw; then the same of each term, when there are two */
    int *wild;              /* for each tile of the batch, whether it holds pixels no FFT may see; or NULL */
    int n, batch, first_tile, tiles_x, tiles, step_x, step_y;
    int origin_x, origin_y, shift; /* the taps begin at column `shift` of the tile, row 0 */
    int kw, kh, border;
    float border_value, scale, offset;
    float limit; /* pixels of this size or more, and NaN, are not let into the FFT */
    int terms;   /* sums that are made one by one when pixels are infinite */
} gf_fft_args;
GF_SAME_SIZE(gf_fft_args, 176);

/* ---- separable windows on tensor cores: kernels/tensor.cu --------------------------------- */

typedef struct gf_tensor_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    const void *weights; /* both band matrices: see tensor.variants.h */
    int lead, rise;      /* columns and rows before a block's first pixel that its tile begins */
    int border, border_byte;
    int tiles_x;         /* blocks side by side */
    float factor, start; /* result = sum * factor; start: what the u8 kernel adds, for rounding too */
    float lift, bias;    /* u8: what sums between the passes get, and the other pass takes back */
    int narrow;          /* results need no clamping */
    int unused[2];
} gf_tensor_args;
GF_SAME_SIZE(gf_tensor_args, 216);

/* ---- convolution by FFT in shared memory: kernels/tilefft.cu ------------------------------ */

/* Overlap-save. Block t makes step_x x step_y output pixels from column (t % tiles_x) * step_x and
 * row (t / tiles_x) * step_y; its tile begins ax columns and ay rows before them, and the taps at
 * column `shift` of the tile. */
typedef struct gf_tilefft_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    const float *spectrum; /* of the taps, divided by the points of a tile, in the kernel's order */
    const float *roots;    /* see tilefft.variants.h */
    const float *taps;     /* kh rows of kw; then the same of each term, when there are two */
    int tiles_x, step_x, step_y;
    int kw, kh, ax, ay, shift, border;
    float border_value;
    float limit; /* pixels of this size or more, and NaN, are not let into the FFT */
    float probe; /* such a pixel times this is no finite float, others are far from it */
    int terms;   /* sums that are made one by one when pixels are infinite */
    int unused;
} gf_tilefft_args;
GF_SAME_SIZE(gf_tilefft_args, 240);
/* ---- smooth separable windows from a coarse grid: kernels/coarse.cu ----------------------- */

/* Node J of the coarse grid, along either axis, stands for the GF_COARSE_SPAN * step pixels from
 * J * step on, weighted by phi. See kernels/coarse.cu for the passes and what lies between them. */
enum { GF_COARSE_SPAN = 7, GF_COARSE_MOST_STEP = 64 };

typedef struct gf_coarse_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    float *down, *more; /* sums of rows by node and column, and what the next thread's rows add;
                           NULL: nothing */
    float *smooth;      /* down after the nodes' taps */
    float *wide;        /* smooth made so in x too, with the rest: the rows the result is made of */
    unsigned *blocks;   /* sum and first moment of each block of a source row, two bfloat16 */
    float *grid, *bent; /* the blocks smoothed, at every grid_step pixels; then the rest in y */
    int pitch;          /* floats: from row to row of down, more, smooth, wide */
    int grid_pitch, block_pitch;
    const float *node_taps;   /* reach on both sides */
    const float *column_taps; /* the same in y; for u8 results with the window's scale */
    const void *digits;       /* phi for products of bytes */
    const float *rest_taps;   /* the rest's before the window and after it, along rows */
    const void *bend_parts;   /* and in y for products, as column_taps */
    const void *block_parts;             /* taps for products of sums, then of moments */
    const float *bends;        /* eight for each block of columns of a grid interval */
    const float *taps;         /* kh rows of kw, for wild pixels */
    int *wild;                 /* whether there are any; or NULL */
    int border;
    float border_value, outside, bent_outside; /* what lies around src, smooth and grid */
    float limit;                /* pixels of this size or more, and NaN, count as wild */
    int kw, kh, ax, ay, terms;
    int step;                   /* pixels from node to node */
    int reach;                  /* nodes on each side that a node's taps take in */
    int nodes, wide_rows;       /* rows of down, and of smooth and wide */
    int run;                    /* steps that a thread of `down` takes; at least GF_COARSE_SPAN - 1;
                                   by digits groups of nodes that a warp makes */
    int up_run;                 /* steps of a thread of `up` */
    int down_runs;              /* of all rows */
    int step_inverse;           /* see GF_COARSE_INVERSE_BITS */
    int group_steps;            /* steps of the products that eight nodes take */
    float digit_unit;           /* what the digits of phi count */
    int node_n;                 /* length of the list of the nodes' taps */
    int rest_from[2], rest_steps; /* offset of the first of the rest's taps; steps of the products */
    int block_left;             /* pixels before the image where the first block begins */
    int block_steps, block_step; /* steps of the products; blocks from grid point to grid point */
    int grid_step, grid_columns;
    int blocks_across;          /* of threads, of `blocks` */
    int bend_blocks;            /* blocks of threads that make `bent` */
    int segments, segment, lead, held; /* wide: how many in a row; columns of a block; and before them, and in all, in memory */
    float phi[GF_COARSE_MOST_STEP * GF_COARSE_SPAN]; /* by row of a step, then step of the span */
} gf_coarse_args;
GF_SAME_SIZE(gf_coarse_args, 448 + 4 * GF_COARSE_MOST_STEP * GF_COARSE_SPAN);

/* ---- other windows of u8 images on tensor cores: kernels/band.cu -------------------------- */

typedef struct gf_band_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    const void *taps; /* see band.variants.h */
    int lead, ay;     /* columns and rows before a block's first pixel that its tile begins */
    int border, border_byte;
    int tiles_x;      /* blocks side by side */
    int groups;       /* of rows */
    float factor;     /* window's sum = the taps' sum * factor */
    int unused;
} gf_band_args;
GF_SAME_SIZE(gf_band_args, 200);

/* ---- separable windows of u16 and f32 pixels on tensor cores: kernels/wide.cu -------------- */

typedef struct gf_wide_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    const void *weights; /* both band matrices: see wide.variants.h */
    const double *taps;  /* kw along rows, then kh down columns */
    int kw, kh, ax, ay, border;
    float border_value;
    float factor; /* from the kernel's sums to the window's */
    int lead;     /* columns before a strip's first result that its pixels begin */
    int strips;   /* side by side */
    int rows;     /* output rows of a block, a multiple of GF_WIDE_STEP */
    int edges;    /* blocks that make the first and the last strip, in turns, where these are apart, */
    int edge_rows; /* and their rows */
} gf_wide_args;
GF_SAME_SIZE(gf_wide_args, 224);
/* ---- boxes by running sums: kernels/box.cu -------------------------------------------------- */

typedef struct gf_box_args {
    gf_kimage src, dst;
    gf_kcombine combine; /* its scale has the taps' in it */
    int kw, kh, ax, ay, border;
    float border_value;
    int first, step; /* source column of the first strip; columns from strip to strip */
    int lead;        /* columns of a strip before the window of its first result */
    int strips;      /* side by side */
    int rows;        /* output rows of a segment of a strip */
    int segments;    /* in all */
    int aligned;     /* rows of both images begin at multiples of 16 bytes */
    int unused;
} gf_box_args;
GF_SAME_SIZE(gf_box_args, 216);

/* The same for u8 and u16, for windows that lie around their results: kw / 2 columns before it. */
typedef struct gf_boxwalk_args {
    gf_kimage src, dst;
    int kw, kh, ax, ay, border;
    unsigned outside_pixels, outside_sum; /* a word of the border's value; kh of it */
    int strips, step; /* side by side; results from one to the next, which fill 16 bytes */
    int rows;         /* output rows of a segment of a strip, which a block makes */
    int left;         /* columns of a strip before the first window */
    int walkers;      /* threads of a block that keep sums of columns, whole warps */
    int ring_rows;    /* a multiple of GF_BOX_STEP */
    /* u8: what a sum begins with, a float's bits; what it is multiplied with, in bytes for columns
     * that enter, that leave (the lower half of a word, the higher), and for both halves */
    int start, enters, leaves, both;
    float factor, rounds; /* of a sum; so that adding it rounds, less what `start` amounts to */
    int unused;
} gf_boxwalk_args;
GF_SAME_SIZE(gf_boxwalk_args, 144);

/* ---- two windows in one launch: kernels/pair.cu --------------------------------------------- */

typedef struct gf_pair_args {
    gf_tensor_args first;    /* the first window; but combine is the second one's, dst its result */
    int border;              /* of the second window */
    float border_value;      /* as a sum of the first one's kernel, which is what the second one sees */
    float row[2][4], col[2][4]; /* taps of its terms, three and a 0 */
    int kind;                   /* see pair.variants.h; EDGES: only m counts of the taps */
    float gate, above, below;   /* GATED: of squares above the gate, and of others, come these */
} gf_pair_args;
GF_SAME_SIZE(gf_pair_args, 216 + 8 + 64 + 16);

/* ---- separable windows of one term, K x K: kernels/ring.cu ---------------------------------- */

enum { GF_RING_TAPS = 32 };
typedef struct gf_ring_args {
    gf_kimage src, dst;
    gf_kcombine combine;
    int ax, ay, border;
    float border_value;
    int strip, rows; /* output columns of a block, a multiple of GF_RING_COLUMNS; and rows */
    float centre;    /* what the source's pixel counts beside the window's sum; */
    int plain;       /* that sum is the result */
    float row[GF_RING_TAPS], col[GF_RING_TAPS];
} gf_ring_args;
GF_SAME_SIZE(gf_ring_args, 192 + 2 * 4 * GF_RING_TAPS);

/* ---- separable windows by warpgroups: kernels/wgmma.cu -------------------------------------- */

typedef struct gf_wgmma_args {
    gf_kimage src, dst;
    /* taps, see wgmma.variants.h: for most blocks, or NULL if those for the sides are to serve them
     * too; for those at the sides */
    const void *inner, *sides;
    int lead, rise;   /* columns and rows of the source that a block begins before its results */
    int near, trail;  /* columns of the source before and after results that count */
    int rows;         /* of results of a block, a multiple of twice GF_WGMMA_BAND_ROWS */
    int sides_blocks; /* blocks that make half as many rows each: */
    int side_strips;  /* of the first strip, and of the last ones; */
    int strips;       /* of the others so many lie side by side, from the second one on */
    int border, folds; /* folds: `sides` deals with columns outside, or they need no care */
    unsigned border_word; /* of pixels outside, where the border is constant */
    int base, add; /* see wgmma.variants.h */
    float start;   /* what is added to results, times 2^-149 */
    float own;     /* unsharp: what the pixel itself counts; sums are what it is to lose */
} gf_wgmma_args;
GF_SAME_SIZE(gf_wgmma_args, 144);

#endif
