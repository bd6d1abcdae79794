/* Order statistics of a whole image, and normalising by them; nothing of it visits the host.
 *
 * Minimum and maximum: gf_reduce_minmax, gf_reduce_finish. Any quantiles: gf_reduce_histogram and
 * gf_reduce_pick for every digit of the key, most significant first (radix select); the last
 * gf_reduce_pick finishes. gf_reduce_map then reads the result. All sums are of integers, so results
 * do not depend on the order of blocks. */
#include "kernels/gf_pixelwise.cuh"

/* ---- keys: 32-bit numbers that sort as pixels do -------------------------------------------- */

/* Integers are moved to the top, so that fewer passes see all of their bits. Adding 2^23 leaves an
 * integer in a float's low bits. */
GF_DEVICE unsigned key_of(float v, unsigned char) { return gf_float_bits(v + 8388608.0f) << 24; }
GF_DEVICE unsigned key_of(float v, unsigned short) { return gf_float_bits(v + 8388608.0f) << 16; }
GF_DEVICE unsigned key_of(float v, float)
{
    const unsigned bits = gf_float_bits(v);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

GF_DEVICE double value_of(unsigned key, int pixel)
{
    if (pixel == GF_P_U8) return key >> 24;
    if (pixel == GF_P_U16) return key >> 16;
    return gf_bits_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

/* Digits of 11, 11 and 10 bits. */
GF_DEVICE int digit_shift(int pass) { return pass == 0 ? 21 : pass == 1 ? 10 : 0; }
GF_DEVICE unsigned digit_of(unsigned key, int pass)
{
    return key >> digit_shift(pass) & (pass == 2 ? 1023u : 2047u);
}

/* ---- the result --------------------------------------------------------------------------------
 */

/* Choose how to map x to (x - lo) * (out_high - out_low) / (hi - lo) + out_low. lo is split in two
 * floats, so that x - lo keeps its bits where lo is large against hi - lo. */
GF_DEVICE void set_mapping(gf_range_state &s, const gf_range_args &a, double lo, double hi)
{
    const double factor = (a.out_high - a.out_low) / (hi - lo), size = fabs(factor),
                 range = hi - lo;
    const bool roomy = range > 1e-30 && range < 1e30 && size > 1e-30 && size < 1e30;
    s.lo = lo;
    s.hi = hi;
    s.lo_high = static_cast<float>(lo);
    s.lo_low = static_cast<float>(lo - s.lo_high);
    s.factor = static_cast<float>(factor);
    s.mode = !(hi > lo) ? GF_RANGE_FLAT : roomy ? GF_RANGE_FLOAT : GF_RANGE_DOUBLE;
}

/* Between two neighbours of the order; an infinity counts only where it has weight. */
GF_DEVICE double between(double a, double b, double fraction)
{
    return fraction > 0.0 ? a + (b - a) * fraction : a;
}

/* One block. */
GF_KERNEL(gf_reduce_finish, gf_range_args, a)
{
    gf_range_state &s = *a.state;
    if (threadIdx.x == 0) /* without any number both are NaN */
        set_mapping(s, a, value_of(~s.inverted_min_key, a.src.pixel),
                    value_of(s.max_key, a.src.pixel));
}

/* ---- minimum and maximum --------------------------------------------------------------------- */

GF_KERNEL_BOUNDS(256, 4, gf_reduce_minmax, gf_range_args, a)
{
    unsigned most = 0, inverted_least = 0;
    gf_visit(a.src, [&](float v, auto type) {
        if (v != v) return;
        const unsigned key = key_of(v, type);
        most = max(most, key);
        inverted_least = max(inverted_least, ~key);
    });
    for (int by = 16; by > 0; by /= 2) {
        most = max(most, gf_shfl_xor(most, by));
        inverted_least = max(inverted_least, gf_shfl_xor(inverted_least, by));
    }
    if (threadIdx.x % 32 != 0) return;
    gf_atomic_max(&a.state->max_key, most);
    gf_atomic_max(&a.state->inverted_min_key, inverted_least);
}

/* ---- histogram of one digit -------------------------------------------------------------------
 */

/* Adds runs of one bin at once: flat images would queue up at a single counter. */
struct bin_counter {
    unsigned *bins;
    int bin;
    unsigned run;

    GF_DEVICE void flush()
    {
        if (run) gf_atomic_add(bins + bin, run);
        run = 0;
    }
    GF_DEVICE void add(int b)
    {
        if (b != bin) flush();
        bin = b;
        run++;
    }
};

/* Shared memory: GF_RANGE_BINS counters for every slot. */
GF_KERNEL_BOUNDS(256, 4, gf_reduce_histogram, gf_range_args, a)
{
    GF_SHARED(unsigned, bins);
    const gf_range_state &s = *a.state;
    const int pass = a.pass, n_slots = pass == 0 ? 1 : s.n_slots, n_bins = n_slots * GF_RANGE_BINS;
    unsigned prefix[GF_RANGE_TARGETS];
    for (int i = 0; i < GF_RANGE_TARGETS; i++) prefix[i] = s.prefix[i];
    for (int i = threadIdx.x; i < n_bins; i += blockDim.x) bins[i] = 0;
    __syncthreads();

    bin_counter counter = { bins, 0, 0 };
    /* a shift by 32 is not one: pass 0 has no known bits and one slot */
    const unsigned known = pass == 0 ? 0u : ~0u << digit_shift(pass - 1);
    gf_visit(a.src, [&](float v, auto type) {
        if (v != v) return;
        const unsigned key = key_of(v, type);
        const int digit = static_cast<int>(digit_of(key, pass));
#pragma unroll
        for (int i = 0; i < GF_RANGE_TARGETS; i++)
            if (i < n_slots && ((key ^ prefix[i]) & known) == 0)
                counter.add(i * GF_RANGE_BINS + digit);
    });
    counter.flush();
    __syncthreads();

    unsigned long long *total = a.state->histogram[pass][0];
    for (int i = threadIdx.x; i < n_bins; i += blockDim.x)
        if (bins[i]) gf_atomic_add(total + i, static_cast<unsigned long long>(bins[i]));
}

/* ---- choosing the digit of every target ---------------------------------------------------------
 */

enum { PICK_BINS = GF_RANGE_BINS / GF_RANGE_PICK_THREADS };

/* The ranks of the two pixels around quantile q of n. */
GF_DEVICE void set_target(gf_range_state &s, int i, double q)
{
    /* written as fma, or the compiler would make one of the product and the difference below */
    const double at = fma(q, static_cast<double>(s.n - 1), 0.0);
    const unsigned long long below = static_cast<unsigned long long>(at);
    s.fraction[i] = at - static_cast<double>(below);
    s.rank[2 * i] = below;
    s.rank[2 * i + 1] = min(below + 1, s.n - 1);
}

/* Running sums over the threads, this thread's value included. Every thread must call it. */
GF_DEVICE void add_up(unsigned long long *sums)
{
    for (unsigned by = 1; by < GF_RANGE_PICK_THREADS; by *= 2) {
        const unsigned long long v = threadIdx.x >= by ? sums[threadIdx.x - by] : 0;
        __syncthreads();
        sums[threadIdx.x] += v;
        __syncthreads();
    }
}

/* Give targets that share a prefix one slot. */
GF_DEVICE void share_slots(gf_range_state &s, const gf_range_pick_memory &m)
{
    s.n_slots = 0;
    for (int t = 0; t < GF_RANGE_TARGETS; t++) {
        int slot = 0;
        while (slot < s.n_slots && s.prefix[slot] != m.prefix[t]) slot++;
        if (slot == s.n_slots) s.prefix[s.n_slots++] = m.prefix[t];
        s.slot[t] = slot;
        s.rank[t] = m.rank[t];
    }
}

GF_DEVICE void finish_targets(gf_range_state &s, const gf_range_args &a)
{
    double v[GF_RANGE_TARGETS];
    for (int t = 0; t < GF_RANGE_TARGETS; t++) v[t] = value_of(s.prefix[s.slot[t]], a.src.pixel);
    set_mapping(s, a, between(v[0], v[1], s.fraction[0]), between(v[2], v[3], s.fraction[1]));
}

/* One block of GF_RANGE_PICK_THREADS; shared memory: gf_range_pick_memory. */
GF_KERNEL_BOUNDS(GF_RANGE_PICK_THREADS, 1, gf_reduce_pick, gf_range_args, a)
{
    GF_SHARED(gf_range_pick_memory, m);
    gf_range_state &s = *a.state;
    const int n_slots = a.pass == 0 ? 1 : s.n_slots;
    for (int slot = 0; slot < n_slots; slot++) {
        const unsigned long long *bins = s.histogram[a.pass][slot] + threadIdx.x * PICK_BINS;
        unsigned long long own = 0;
        for (int i = 0; i < PICK_BINS; i++) own += bins[i];
        m->sums[threadIdx.x] = own;
        __syncthreads();
        add_up(m->sums);
        if (a.pass == 0 && threadIdx.x == 0) {
            s.n = m->sums[GF_RANGE_PICK_THREADS - 1];
            for (int i = 0; i < 2 && s.n > 0; i++) set_target(s, i, a.q[i]);
        }
        __syncthreads();
        for (int t = 0; t < GF_RANGE_TARGETS; t++) {
            unsigned long long before = m->sums[threadIdx.x] - own;
            const unsigned long long rank = s.rank[t];
            if (s.slot[t] != slot || rank < before || rank >= before + own) continue;
            int bin = 0; /* this thread's bins hold the target: find the one */
            while (rank >= before + bins[bin]) before += bins[bin++];
            m->rank[t] = rank - before;
            m->prefix[t] = s.prefix[slot] | (threadIdx.x * PICK_BINS + static_cast<unsigned>(bin))
                                                << digit_shift(a.pass);
        }
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    if (s.n > 0) share_slots(s, *m);
    if (a.last) finish_targets(s, a);
}

/* ---- the map
 * -------------------------------------------------------------------------------------- */

GF_KERNEL(gf_reduce_map, gf_range_args, a)
{
    const gf_range_state &s = *a.state;
    const int mode = s.mode;
    const float lo_high = s.lo_high, lo_low = s.lo_low, factor = s.factor;
    const double lo = s.lo, range = s.hi - s.lo, out_range = a.out_high - a.out_low;
    const float low = static_cast<float>(a.out_low), high = static_cast<float>(a.out_high);
    const float least = fminf(low, high), most = fmaxf(low, high);
    gf_map(a.src, a.dst, [&](auto &v) {
        for (float &x : v) {
            float r;
            if (mode == GF_RANGE_FLAT)
                r = x == x ? low : x;
            else if (mode == GF_RANGE_FLOAT)
                r = fmaf((x - lo_high) - lo_low, factor, low);
            else
                r = static_cast<float>((x - lo) * out_range / range + a.out_low);
            x = r < least ? least : r > most ? most : r; /* NaN stays */
        }
    });
}
