#include "filters/point_cuda.h"

#include "filters/kimage.h"
#include "filters/pixelwise.h"

void gfi_kpoints_add(gf_kpoints *list, const gfi_point *point)
{
    list->at[list->n++] = (gf_kpoint){ .op = (int)point->op,
                                       .a = (float)point->a,
                                       .b = (float)point->b,
                                       .c = gfi_float_below(point->c) };
}

void gfi_kpoints_add_fused(gf_kpoints *list, const gfi_request *request)
{
    for (int i = 0; i < request->n_fused; i++) gfi_kpoints_add(list, &request->fused[i]);
}

/* The kernel to run; it belongs to the device. */
typedef struct point_state {
    const gfi_kernel *kernel;
} point_state;

static gf_status prepare(const gfi_request *request, void *state)
{
    gfi_point point;
    point_state *s = state;
    request->def->point(request->params, request->white, &point);
    return gfi_kernel_find(gfi_queue_device(request->queue),
                           point.op == GFI_POINT_GAMMA ? "gf_point_gamma" : "gf_point", &s->kernel);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    enum { BLOCKS_PER_SM = 16 };
    gfi_point point;
    request->def->point(request->params, request->white, &point);
    gf_point_args args = { .src = gfi_kimage_src(request, src),
                           .dst = gfi_kimage_dst(request, dst) };
    gfi_kpoints_add(&args.points, &point);
    gfi_kpoints_add_fused(&args.points, request);
    const size_t in = gf_pixel_bytes(src->pixel), out = gf_pixel_bytes(dst->pixel);
    gfi_launch launch = gfi_pixelwise_launch(request->facts, dst->width, dst->height,
                                             in > out ? in : out, BLOCKS_PER_SM);
    launch.grid[2] = gfi_batch_images(request);
    launch.args = &args;
    launch.args_bytes = sizeof args;
    return gfi_kernel_launch(request->queue, ((const point_state *)state)->kernel, &launch);
}

static double cost_ns(const gfi_request *request)
{
    return gfi_pixelwise_cost_ns(
        request, gf_pixel_bytes(request->in.pixel) + gf_pixel_bytes(request->out.pixel), 1);
}

const gf_impl gfi_point_cuda = { .name = "cuda-point",
                                 .backend = GF_BACKEND_CUDA,
                                 .batches = true,
                                 .fuses = true,
                                 .cost_ns = cost_ns,
                                 .state_bytes = sizeof(point_state),
                                 .prepare = prepare,
                                 .run = run };
