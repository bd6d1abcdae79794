/* The border fold against its definition: walk from the image one pixel at a time. */
#include "suite.h"

#include <gpufilter/common.h>

#include "kernels/gf_border.h"

/* Pixel that stands at i: step outwards from pixel 0, turning at the ends as the border says. */
static int walked(int i, int n, int border)
{
    if (border == GF_BORDER_CONSTANT) return i >= 0 && i < n ? i : -1;
    if (border == GF_BORDER_REPLICATE) return i < 0 ? 0 : i >= n ? n - 1 : i;
    int at = 0, way = i < 0 ? -1 : 1;
    for (int step = i < 0 ? -i : i; step > 0; step--) {
        int next = at + way;
        if (next >= 0 && next < n) {
            at = next;
        } else if (border == GF_BORDER_WRAP) {
            at = next < 0 ? n - 1 : 0;
        } else {
            way = -way; /* reflect stays for one step: the edge comes twice */
            if (border == GF_BORDER_MIRROR && n > 1) at += way;
        }
    }
    return at;
}

START_TEST(fold_is_the_walk)
{
    for (int border = GF_BORDER_CONSTANT; border <= GF_BORDER_WRAP; border++)
        for (int n = 1; n <= 9; n++)
            for (int i = -7 * n - 5; i <= 7 * n + 5; i++)
                ck_assert_msg(gf_border_index(i, n, border) == walked(i, n, border),
                              "border %d, n %d, i %d: %d, not %d", border, n, i,
                              gf_border_index(i, n, border), walked(i, n, border));
}
END_TEST

START_TEST(public_values_are_the_kernels_values)
{
    ck_assert_int_eq(GF_BORDER_CONSTANT, GF_B_CONSTANT);
    ck_assert_int_eq(GF_BORDER_REPLICATE, GF_B_REPLICATE);
    ck_assert_int_eq(GF_BORDER_REFLECT, GF_B_REFLECT);
    ck_assert_int_eq(GF_BORDER_MIRROR, GF_B_MIRROR);
    ck_assert_int_eq(GF_BORDER_WRAP, GF_B_WRAP);
}
END_TEST

START_TEST(documented_rows)
{
    /* for a b c d, two pixels outside on each side, as common.h shows them */
    static const int right[5][4] = {
        { -1, -1, -1, -1 }, { 0, 0, 3, 3 }, { 1, 0, 3, 2 }, { 2, 1, 2, 1 }, { 2, 3, 0, 1 }
    };
    static const int at[4] = { -2, -1, 4, 5 };
    for (int border = 0; border < 5; border++)
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(gf_border_index(at[k], 4, border), right[border][k]);
}
END_TEST

START_TEST(single_pixel_is_everywhere)
{
    static const int far[] = { -1000000007, -2, -1, 0, 1, 2, 1000000007 };
    for (int border = GF_BORDER_REPLICATE; border <= GF_BORDER_WRAP; border++)
        for (int k = 0; k < 7; k++) ck_assert_int_eq(gf_border_index(far[k], 1, border), 0);
}
END_TEST

START_TEST(far_distances_have_the_period)
{
    for (int n = 2; n <= 1000; n += 37) {
        const int period[5] = { 0, 0, 2 * n, 2 * n - 2, n };
        for (int border = GF_BORDER_REFLECT; border <= GF_BORDER_WRAP; border++) {
            int times = 1000000000 / period[border];
            for (int i = 0; i < n; i++) {
                ck_assert_int_eq(gf_border_index(i + times * period[border], n, border), i);
                ck_assert_int_eq(gf_border_index(i - times * period[border], n, border), i);
            }
        }
        ck_assert_int_eq(gf_border_index(2000000000, n, GF_BORDER_REPLICATE), n - 1);
        ck_assert_int_eq(gf_border_index(-2000000000, n, GF_BORDER_REPLICATE), 0);
        ck_assert_int_eq(gf_border_index(2000000000, n, GF_BORDER_CONSTANT), -1);
        ck_assert_int_eq(gf_border_index(-2000000000, n, GF_BORDER_CONSTANT), -1);
    }
}
END_TEST

/* The widest image has 2^31-1 pixels: its period does not fit an int. */
START_TEST(widest_image)
{
    const int n = 2147483647;
    for (int border = GF_BORDER_REPLICATE; border <= GF_BORDER_WRAP; border++) {
        ck_assert_int_eq(gf_border_index(0, n, border), 0);
        ck_assert_int_eq(gf_border_index(n - 1, n, border), n - 1);
    }
    ck_assert_int_eq(gf_border_index(-1, n, GF_BORDER_REFLECT), 0);
    ck_assert_int_eq(gf_border_index(-1, n, GF_BORDER_MIRROR), 1);
    ck_assert_int_eq(gf_border_index(-1, n, GF_BORDER_WRAP), n - 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("border");
    suite_add(s, "walk", fold_is_the_walk);
    suite_add(s, "values", public_values_are_the_kernels_values);
    suite_add(s, "rows", documented_rows);
    suite_add(s, "single", single_pixel_is_everywhere);
    suite_add(s, "far", far_distances_have_the_period);
    suite_add(s, "widest", widest_image);
    return suite_run(s);
}
