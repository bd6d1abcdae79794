/* Writers of the generated documentation. Each gets an open file and the public API's tables. */
#ifndef GEN_H
#define GEN_H

#include <stdio.h>

#include <gpufilter/gpufilter.h>

void gen_filter_page(const gf_filter_info *filter, FILE *out);
void gen_filter_index(FILE *out);
void gen_man(FILE *out);
void gen_bash(FILE *out);
void gen_zsh(FILE *out);
void gen_fish(FILE *out);

#endif
