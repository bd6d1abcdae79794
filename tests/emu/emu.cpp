/* The emulator's machine: a fiber for every thread of a block, and the scheduler that plays the
 * block's barriers and its warps' exchanges. Launches are serialised by the caller. */
#include "emu.hpp"

#include <stdio.h>
#include <stdlib.h>

#include <memory>
#include <vector>

#include "fiber.hpp"

namespace emu
{
position now;

namespace
{
enum class state { fresh, ready, at_barrier, at_warp, done };

struct thread {
    uint3 id;
    state at;
    const char *file; /* where it waits */
    int line;
    bool vote;
    uint64_t value;
    message words;
    fiber *home;
};

enum { WARP = 32, MAX_THREADS = 1024 };

std::vector<thread> threads; /* of the block that runs */
std::vector<uint64_t> heard; /* each thread's value of the last exchange */
std::vector<message> heard_words;
bool barrier_vote;
size_t current;
bool reverse; /* last thread and block first */
const gfi_kernel *kernel;
const void *kernel_args;

std::vector<std::unique_ptr<fiber>> fibers;
std::vector<fiber *> idle;

void become(size_t i, fiber *home)
{
    current = i;
    now.thread = threads[i].id;
    threads[i].home = home;
}

/* Go on with the next thread in order where it has not begun: most never wait, and so a whole block
 * of them runs without a change of stacks. */
bool begin_next()
{
    const size_t next = reverse ? current - 1 : current + 1;
    if (next >= threads.size() || threads[next].at != state::fresh) return false;
    become(next, threads[current].home);
    return true;
}

void run_threads_for_ever()
{
    for (;;) {
        kernel->body(kernel_args);
        threads[current].at = state::done;
        if (!begin_next()) fiber::leave();
    }
}

fiber *take_fiber()
{
    if (idle.empty()) {
        fibers.push_back(std::make_unique<fiber>(run_threads_for_ever));
        return fibers.back().get();
    }
    fiber *f = idle.back();
    idle.pop_back();
    return f;
}

/* Run a thread until it waits or has returned; its fiber may then have begun others. */
void resume(size_t i)
{
    become(i, threads[i].at == state::fresh ? take_fiber() : threads[i].home);
    threads[i].home->enter();
    const thread &last = threads[current];
    if (last.at == state::done) idle.push_back(last.home);
}

void wait(state at, const char *file, int line)
{
    thread &t = threads[current];
    t.at = at;
    t.file = file;
    t.line = line;
    fiber::leave();
}

/* The threads of [from, to) are not all at one place: say where each group is, and die. */
[[noreturn]] void die_divergent(const char *what, size_t from, size_t to)
{
    fprintf(stderr, "emulator: %s: divergent %s in block %u,%u,%u:\n", kernel->name, what,
            now.block.x, now.block.y, now.block.z);
    for (size_t i = from, run; i < to; i += run) {
        const thread &t = threads[i];
        const bool done = t.at == state::done;
        for (run = 1; i + run < to; run++) {
            const thread &u = threads[i + run];
            if (u.at != t.at || (!done && (u.line != t.line || u.file != t.file))) break;
        }
        if (done)
            fprintf(stderr, "  threads %zu to %zu have returned\n", i, i + run - 1);
        else
            fprintf(stderr, "  threads %zu to %zu wait at %s:%d\n", i, i + run - 1, t.file, t.line);
    }
    abort();
}

bool all_wait(size_t from, size_t to, state at)
{
    const thread &first = threads[from];
    for (size_t i = from; i < to; i++) {
        const thread &t = threads[i];
        if (t.at != at || t.line != first.line || t.file != first.file) return false;
    }
    return true;
}

/* Let every warp go on whose lanes all wait at one exchange. */
bool release_warps()
{
    bool any = false;
    for (size_t from = 0; from < threads.size(); from += WARP) {
        const size_t to = min<size_t>(from + WARP, threads.size());
        if (!all_wait(from, to, state::at_warp)) continue;
        for (size_t i = from; i < to; i++) {
            heard[i] = threads[i].value;
            heard_words[i] = threads[i].words;
            threads[i].at = state::ready;
        }
        any = true;
    }
    return any;
}

void release_barrier()
{
    barrier_vote = false;
    for (thread &t : threads) {
        barrier_vote |= t.vote;
        t.at = state::ready;
    }
}

bool all_done()
{
    return std::all_of(threads.begin(), threads.end(),
                       [](const thread &t) { return t.at == state::done; });
}

void check_warps_can_go_on()
{
    for (size_t i = 0; i < threads.size(); i++) {
        if (threads[i].at != state::at_warp) continue;
        const size_t from = i / WARP * WARP;
        die_divergent("warp operation", from, min<size_t>(from + WARP, threads.size()));
    }
}

void run_block()
{
    const size_t n = threads.size();
    for (thread &t : threads) t.at = state::fresh;
    for (;;) {
        for (size_t k = 0; k < n; k++) {
            const size_t i = reverse ? n - 1 - k : k;
            if (threads[i].at == state::fresh || threads[i].at == state::ready) resume(i);
        }
        if (release_warps()) continue;
        if (all_done()) return;
        check_warps_can_go_on();
        if (!all_wait(0, n, state::at_barrier)) die_divergent("barrier", 0, n);
        release_barrier();
    }
}

uint3 split(size_t i, const uint3 &size)
{
    return { static_cast<unsigned>(i % size.x), static_cast<unsigned>(i / size.x % size.y),
             static_cast<unsigned>(i / size.x / size.y) };
}

size_t volume(const uint3 &size) { return static_cast<size_t>(size.x) * size.y * size.z; }

/* Exactly this many bytes, so that ASan sees the first one past the end. */
std::unique_ptr<unsigned char, void (*)(void *)> exact_bytes(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) abort();
    return { static_cast<unsigned char *>(memory), free };
}
} // namespace

int lane_id() { return static_cast<int>(current % WARP); }

bool sync(bool b, const char *file, int line)
{
    threads[current].vote = b;
    wait(state::at_barrier, file, line);
    return barrier_vote;
}

uint64_t exchange(uint64_t value, int lane, const char *file, int line)
{
    threads[current].value = value;
    wait(state::at_warp, file, line);
    const size_t source = current / WARP * WARP + static_cast<size_t>(lane);
    if (source >= threads.size()) {
        fprintf(stderr, "emulator: %s: %s:%d reads lane %d, which the block does not have\n",
                kernel->name, file, line, lane);
        abort();
    }
    return heard[source];
}

unsigned ballot(bool b, const char *file, int line)
{
    threads[current].value = b;
    wait(state::at_warp, file, line);
    const size_t from = current / WARP * WARP;
    unsigned votes = 0;
    for (size_t i = from; i < min<size_t>(from + WARP, threads.size()); i++)
        votes |= static_cast<unsigned>(heard[i]) << (i - from);
    return votes;
}

const message *gather(const message &own, const char *file, int line)
{
    threads[current].words = own;
    wait(state::at_warp, file, line);
    const size_t from = current / WARP * WARP;
    if (from + WARP > threads.size()) {
        fprintf(stderr, "emulator: %s: %s:%d needs a whole warp\n", kernel->name, file, line);
        abort();
    }
    return &heard_words[from];
}

void run(const gfi_kernel &k, const grid &g, const void *args)
{
    const size_t n = volume(g.threads), n_blocks = volume(g.blocks);
    threads.assign(n, thread{});
    heard.assign(n, 0);
    heard_words.assign(n, message{});
    for (size_t i = 0; i < n; i++) threads[i].id = split(i, g.threads);

    const auto own_args = exact_bytes(k.args_bytes), shared = exact_bytes(g.shared_bytes);
    memcpy(own_args.get(), args, k.args_bytes);
    reverse = g.reverse;
    kernel = &k;
    kernel_args = own_args.get();
    now.block_dim = g.threads;
    now.grid_dim = g.blocks;
    now.shared = shared.get();
    for (size_t b = 0; b < n_blocks; b++) {
        now.block = split(reverse ? n_blocks - 1 - b : b, g.blocks);
        memset(shared.get(), 0xff, g.shared_bytes); /* NaN to whoever reads before writing */
        run_block();
    }
}
} // namespace emu
