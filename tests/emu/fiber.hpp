/* A stack of its own on which a function runs until it leaves, to be entered again later. */
#ifndef GF_EMU_FIBER_HPP
#define GF_EMU_FIBER_HPP

#include <stddef.h>

namespace emu
{
class fiber
{
  public:
    /* main must never return. */
    explicit fiber(void (*main)());
    ~fiber();
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;

    void enter();        /* from outside: run it until it leaves */
    static void leave(); /* from inside: back to where it was entered */

  private:
    static void begin();
    struct context;
    context *context_;
    void (*main_)();
    char *memory_;
    size_t bytes_;
};
} // namespace emu

#endif
