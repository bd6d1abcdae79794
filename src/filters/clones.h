/* Function multiversioning of hot loops. The build defines GFI_HAVE_CLONES where compiler and C
 * library can choose at load time; elsewhere the marker is empty and the code is the same. Use it
 * on static functions with names unique in the library: clang makes their resolvers global. */
#ifndef GFI_CLONES_H
#define GFI_CLONES_H

#ifdef GFI_HAVE_CLONES
#define GFI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=haswell", "default")))
#else
#define GFI_CLONES
#endif

#define GFI_INLINE static inline __attribute__((always_inline))

#endif
