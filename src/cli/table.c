#include "table.h"

#include <string.h>

const cli_command cli_commands[] = {
    { CMD_FILTER, "FILTER", "IN OUT | IN... -o DIR", "Filter pictures with one filter.",
      "FILTER is any name that gpufilter list shows; its parameters are options, and "
      "gpufilter help FILTER describes them. IN and OUT are image files; - is standard input or "
      "output. With -o every picture goes to DIR under its own name." },
    { CMD_RUN, "run", "-f CHAIN IN OUT | -f CHAIN IN... -o DIR",
      "Filter pictures with a chain of filters.",
      "A chain is written name[=value][:key=value]... with stages separated by commas. Values "
      "without a key are the filter's first parameters in their order. '...' and \"...\" quote, \\ "
      "takes the next character as it is. Between stages pixels stay 32-bit floats; the result is "
      "rounded once, at the end. Every stage also takes impl=NAME." },
    { CMD_LIST, "list", "[GROUP]", "List the filters.", "With --json also all their parameters." },
    { CMD_HELP, "help", "[FILTER | COMMAND]", "Describe a filter or a command.", "" },
    { CMD_INFO, "info", "FILE...", "Say what image files hold.",
      "Format, size, bit depth, channels, and how gray is made of them." },
    { CMD_DEVICES, "devices", "", "List the GPUs, or say why there is none.", "" },
    { CMD_COMPARE, "compare", "A B", "Compare two pictures.",
      "Prints the largest difference, RMSE, PSNR (against the white level of A), and count and "
      "place of differing pixels. Two pixels that are both NaN are equal. Exits 0 when no pixel "
      "differs by more than the tolerance, else 6." },
    { CMD_BENCH, "bench", "[FILTER | CHAIN]...", "Measure filters.",
      "Runs the representative cases of the filters named, or of all, on noise: median time of a "
      "run, pixels and bytes (input and output, each once) per second, and the speed as a share of "
      "a plain copy measured in the same process. Eight pairs of buffers take turns. On a GPU the "
      "pictures are already in its memory and time is the GPU's own." },
    { CMD_TUNE, "tune", "[FILTER]...",
      "Measure this machine, so that the fastest implementations are chosen.",
      "Runs the representative cases of the filters named, or of all, with every implementation, "
      "checks each result "
      "against the reference, and writes what was expected and what was measured. Programs find "
      "the "
      "file by the environment variable GPUFILTER_TUNE. Without -o it goes to standard output. "
      "Without a GPU, or with --backend cpu, only "
      "the CPU is measured. Takes a minute or two; nothing else should run meanwhile." },
    { 0, NULL, NULL, NULL, NULL },
};

#define BIT(id) (1u << (id))
#define PICTURES (BIT(CMD_FILTER) | BIT(CMD_RUN))
#define RUNS (PICTURES | BIT(CMD_BENCH))
#define MACHINE (RUNS | BIT(CMD_TUNE))
#define READS (PICTURES | BIT(CMD_COMPARE) | BIT(CMD_INFO))
#define WRITES (PICTURES | BIT(CMD_COMPARE))
#define ALL (~0u)

const cli_option cli_options[] = {
    { OPT_CHAIN, "chain", 'f', "CHAIN", BIT(CMD_RUN),
      "The chain of filters, such as " CLI_EXAMPLE_CHAIN "." },
    { OPT_OUTPUT, "output", 'o', "PATH", PICTURES | BIT(CMD_TUNE),
      "Folder for the results of several inputs, made when missing; for tune the file to write." },
    { OPT_BACKEND, "backend", 0, "auto|cpu|cuda", MACHINE,
      "Where to compute; auto takes what should be faster." },
    { OPT_DEVICE, "device", 0, "N", MACHINE, "Which GPU (default 0)." },
    { OPT_IMPL, "impl", 0, "NAME", RUNS, "Implementation to use in every stage that has it." },
    { OPT_THREADS, "threads", 0, "N", MACHINE, "CPU threads (default: one per core)." },
    { OPT_DEPTH, "depth", 0, "u8|u16|f32", WRITES,
      "Pixel type of the result (default: the input's). Values are kept, rounded and clipped." },
    { OPT_FORMAT, "format", 0, "NAME", WRITES,
      "File format of the result (default: by its name)." },
    { OPT_QUALITY, "quality", 0, "N", WRITES, "JPEG quality, 1 to 100 (default 90)." },
    { OPT_WHITE, "white", 0, "W", PICTURES,
      "White level of the chain (default: 255, 65535, or 1 for floats)." },
    { OPT_MAX_PIXELS, "max-pixels", 0, "N", READS,
      "Refuse pictures with more pixels (default 2147483647)." },
    { OPT_NO_CLOBBER, "no-clobber", 0, NULL, WRITES, "Refuse to overwrite a file." },
    { OPT_VERIFY, "verify", 0, "FILE", PICTURES,
      "Compare the result with FILE; exit 6 when it differs." },
    { OPT_TOLERANCE, "tolerance", 0, "T", WRITES,
      "Largest difference that still counts as equal (default 0)." },
    { OPT_DIFF, "diff", 0, "OUT", BIT(CMD_COMPARE), "Write the absolute difference as a picture." },
    { OPT_SIZE, "size", 0, "N|WxH", BIT(CMD_BENCH),
      "Size of the pictures (default: 8192 on a GPU, 2048 without)." },
    { OPT_BATCH, "batch", 0, "N", BIT(CMD_BENCH),
      "Filter N pictures in one call; times are of the call (default 1)." },
    { OPT_PIXEL, "pixel", 0, "u8|u16|f32", BIT(CMD_BENCH),
      "Pixel type of the pictures (default u8)." },
    { OPT_DRY_RUN, "dry-run", 0, NULL, PICTURES, "Read and plan, but filter and write nothing." },
    { OPT_TIMINGS, "timings", 0, NULL, PICTURES, "Say how long each step took." },
    { OPT_EXPLAIN, "explain", 0, NULL, PICTURES,
      "Say which implementation each stage uses, and why." },
    { OPT_JSON, "json", 0, NULL, ALL, "Write the result as one JSON object." },
    { OPT_QUIET, "quiet", 'q', NULL, ALL, "No notices or warnings." },
    { OPT_VERBOSE, "verbose", 'v', NULL, ALL, "Say more." },
    { OPT_HELP, "help", 'h', NULL, ALL, "Describe the command." },
    { OPT_VERSION, "version", 0, NULL, BIT(CMD_VERSION),
      "Print the version; with --verbose also what is built in." },
    { 0, NULL, 0, NULL, 0, NULL },
};

const cli_exit_text cli_exit_texts[] = {
    { 0, "All went well." },
    { 1, "Failed; also when some of several inputs failed." },
    { 2, "Wrong usage, or a parameter out of range." },
    { 3, "An input could not be read." },
    { 4, "An output could not be written." },
    { 5, "The backend that was asked for is not there." },
    { 6, "--verify or compare found a difference." },
    { 130, "Interrupted (SIGINT)." },
    { 143, "Terminated (SIGTERM)." },
    { 0, NULL },
};

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c->id != CMD_FILTER && !strcmp(c->name, name)) return c;
    return NULL;
}

const cli_command *cli_command_get(cli_command_id id)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c->id == id) return c;
    return NULL;
}

const cli_option *cli_option_find(const char *name, size_t n_chars)
{
    for (const cli_option *o = cli_options; o->name; o++)
        if (strlen(o->name) == n_chars && !memcmp(o->name, name, n_chars)) return o;
    return NULL;
}

const cli_option *cli_option_find_letter(char letter)
{
    for (const cli_option *o = cli_options; o->name; o++)
        if (o->letter && o->letter == letter) return o;
    return NULL;
}
