/* Make a test picture: discs of different brightness on an uneven background, with noise.
 *
 *   make_image OUT [WIDTH HEIGHT] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gpufilter/gpufilter.h>

enum { DISCS = 24 };

/* Numerical Recipes' quick generator: the same picture everywhere. */
static unsigned next_random(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }

static double unit(unsigned *state) { return (next_random(state) >> 8) / 16777216.0; }

static void draw(const gf_view *view)
{
    const int w = view->width, h = view->height, side = w < h ? w : h;
    unsigned state = 7;
    double disc[DISCS][4]; /* x, y, radius, brightness */
    for (int i = 0; i < DISCS; i++) {
        disc[i][0] = (i % 6 + 0.3 + 0.4 * unit(&state)) * w / 6;
        disc[i][1] = (i / 6 + 0.3 + 0.4 * unit(&state)) * h / 4;
        disc[i][2] = (0.045 + 0.04 * unit(&state)) * side;
        disc[i][3] = 90 + 100 * unit(&state);
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double v = 30 + 40.0 * x / w + 20.0 * y / h;
            for (int i = 0; i < DISCS; i++) {
                const double r = hypot(x - disc[i][0], y - disc[i][1]) / disc[i][2];
                if (r < 1) v = disc[i][3] + 25 * sqrt(1 - r * r);
            }
            v += 12 * (unit(&state) + unit(&state) - 1);
            ((unsigned char *)view->data)[(size_t)y * view->pitch_bytes + (size_t)x] =
                (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: make_image OUT [WIDTH HEIGHT]\n");
        return 2;
    }
    gf_image_desc desc = { 960, 640, GF_PIXEL_U8 };
    if (argc == 4) desc.width = atoi(argv[2]), desc.height = atoi(argv[3]);
    gf_image *image;
    gf_status status = gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image);
    if (status == GF_OK) {
        gf_view view = gf_image_view(image);
        draw(&view);
        status = gf_image_save(argv[1], &view, NULL);
    }
    if (status != GF_OK) fprintf(stderr, "make_image: %s\n", gf_error_message());
    gf_image_destroy(&image);
    return status != GF_OK;
}
