#include "fiber.hpp"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(EMU_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu
{
namespace
{
enum { STACK_BYTES = 256 << 10 };

fiber *inside; /* the fiber that runs, or none */

/* Tell ASan about a change of stacks; without it, it would take ours for an overflow. */
struct stack_switch {
    void *fake = nullptr;
    void before(const void *bottom, size_t bytes)
    {
#if defined(EMU_ASAN)
        __sanitizer_start_switch_fiber(&fake, bottom, bytes);
#else
        (void)bottom, (void)bytes;
#endif
    }
    void after(const void **from_bottom, size_t *from_bytes)
    {
#if defined(EMU_ASAN)
        __sanitizer_finish_switch_fiber(fake, from_bottom, from_bytes);
#else
        (void)from_bottom, (void)from_bytes;
#endif
    }
};

const void *outer_bottom; /* the stack that enter() was called on */
size_t outer_bytes;
} // namespace

#if defined(__x86_64__)
/* swapcontext() would make two system calls a switch. Saves what a call must keep. */
extern "C" void emu_switch_stack(void **save, void *load);
asm(".text\n"
    ".globl emu_switch_stack\n"
    ".type emu_switch_stack,@function\n"
    "emu_switch_stack:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq "
    "%r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size emu_switch_stack,.-emu_switch_stack\n");

struct fiber::context {
    void *inner, *outer;
    context(void (*main)(), char *stack, size_t bytes)
    {
        /* as if main had been called and had then been switched away from: its caller (none), the
         * address to go on at, six registers */
        void **top = reinterpret_cast<void **>(stack + bytes);
        *--top = nullptr;
        *--top = reinterpret_cast<void *>(main);
        for (int i = 0; i < 6; i++) *--top = nullptr;
        inner = top;
    }
    void enter() { emu_switch_stack(&outer, inner); }
    void leave() { emu_switch_stack(&inner, outer); }
};
#else
struct fiber::context {
    ucontext_t inner, outer;
    context(void (*main)(), char *stack, size_t bytes)
    {
        if (getcontext(&inner)) abort();
        inner.uc_stack.ss_sp = stack;
        inner.uc_stack.ss_size = bytes;
        inner.uc_link = nullptr;
        makecontext(&inner, main, 0);
    }
    void enter() { swapcontext(&outer, &inner); }
    void leave() { swapcontext(&inner, &outer); }
};
#endif

fiber::fiber(void (*main)()) : main_(main)
{
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = STACK_BYTES + page;
    void *memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    if (mprotect(memory, page, PROT_NONE)) abort(); /* a stack that overflows ends here */
    memory_ = static_cast<char *>(memory);
    context_ = new context(begin, memory_ + page, STACK_BYTES);
}

fiber::~fiber()
{
    delete context_;
    munmap(memory_, bytes_);
}

void fiber::begin()
{
    stack_switch().after(&outer_bottom, &outer_bytes);
    inside->main_();
    abort();
}

void fiber::enter()
{
    stack_switch s;
    inside = this;
    s.before(memory_ + (bytes_ - STACK_BYTES), STACK_BYTES);
    context_->enter();
    s.after(nullptr, nullptr);
    inside = nullptr;
}

void fiber::leave()
{
    stack_switch s;
    fiber *self = inside;
    s.before(outer_bottom, outer_bytes);
    self->context_->leave();
    s.after(&outer_bottom, &outer_bytes);
}
} // namespace emu
