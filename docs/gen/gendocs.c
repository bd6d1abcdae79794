/* gendocs FOLDER: write docs/filters/, docs/gpufilter.1 and completions/ below FOLDER, from the
 * registry of filters and the tables of the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gen.h"

static void die(const char *path)
{
    fprintf(stderr, "gendocs: %s: %s\n", path, strerror(errno));
    exit(1);
}

static void make_folder(const char *root, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (mkdir(path, 0777) && errno != EEXIST) die(path);
}

static FILE *open_file(const char *root, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *out = fopen(path, "w");
    if (!out) die(path);
    return out;
}

static void close_file(FILE *out, const char *name)
{
    if (ferror(out)) die(name);
    if (fclose(out)) die(name);
}

static void write_file(const char *root, const char *name, void (*write)(FILE *))
{
    FILE *out = open_file(root, name);
    write(out);
    close_file(out, name);
}

static void write_pages(const char *root)
{
    const gf_filter_info *filter;
    char name[256];
    for (size_t i = 0; (filter = gf_filter_get(i)); i++) {
        snprintf(name, sizeof name, "docs/filters/%s.md", filter->name);
        FILE *out = open_file(root, name);
        gen_filter_page(filter, out);
        close_file(out, name);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: gendocs FOLDER\n");
        return 2;
    }
    make_folder(argv[1], "docs");
    make_folder(argv[1], "docs/filters");
    make_folder(argv[1], "completions");
    write_pages(argv[1]);
    write_file(argv[1], "docs/filters/README.md", gen_filter_index);
    write_file(argv[1], "docs/gpufilter.1", gen_man);
    write_file(argv[1], "completions/gpufilter.bash", gen_bash);
    write_file(argv[1], "completions/_gpufilter", gen_zsh);
    write_file(argv[1], "completions/gpufilter.fish", gen_fish);
    return 0;
}
