/* Shell completion for bash, zsh and fish. */
#include <string.h>

#include "gen.h"

#include "table.h"

static const char *const origin =
    "# Written by docs/gen/gendocs.c (ninja docs); changes here are lost.\n";

static void command_names(FILE *out)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c->id != CMD_FILTER) fprintf(out, "%s ", c->name);
}

static void filter_names(FILE *out)
{
    const gf_filter_info *f;
    for (size_t i = 0; (f = gf_filter_get(i)); i++) fprintf(out, "%s%s", i ? " " : "", f->name);
}

static int takes(const cli_option *o, cli_command_id command) { return o->commands >> command & 1; }

/* Is a choice list, not the name of a value? */
static int is_choice(const cli_option *o)
{
    return o->argument && strchr(o->argument, '|') && o->id != OPT_SIZE;
}

static void words_of_choice(const char *choices, FILE *out)
{
    for (; *choices; choices++) fputc(*choices == '|' ? ' ' : *choices, out);
}

static void words_of_param(const gf_param_info *p, FILE *out)
{
    for (int i = 0; p->choices[i]; i++) fprintf(out, "%s%s", i ? " " : "", p->choices[i]);
}

/* ---- bash --------------------------------------------------------------------------------- */

static void bash_choices(FILE *out)
{
    const gf_filter_info *f;
    const gf_param_info *p;
    for (const cli_option *o = cli_options; o->name; o++) {
        if (!is_choice(o)) continue;
        fprintf(out, "        *:--%s) words=\"", o->name);
        words_of_choice(o->argument, out);
        fprintf(out, "\" ;;\n");
    }
    for (size_t i = 0; (f = gf_filter_get(i)); i++)
        for (size_t k = 0; (p = gf_filter_param(f, k)); k++) {
            if (p->type != GF_PARAM_ENUM) continue;
            fprintf(out, "        %s:--%s) words=\"", f->name, p->name);
            words_of_param(p, out);
            fprintf(out, "\" ;;\n");
        }
}

/* Options whose value is neither a file nor one of a few words: nothing is offered. */
static void bash_plain_values(FILE *out)
{
    const gf_filter_info *f;
    const gf_param_info *p;
    int n = 0;
    fputs("        ", out);
    for (const cli_option *o = cli_options; o->name; o++)
        if (o->argument && !is_choice(o) && o->id != OPT_OUTPUT && o->id != OPT_VERIFY &&
            o->id != OPT_DIFF)
            fprintf(out, "%s*:--%s", n++ ? "|" : "", o->name);
    for (size_t i = 0; (f = gf_filter_get(i)); i++)
        for (size_t k = 0; (p = gf_filter_param(f, k)); k++)
            if (p->type != GF_PARAM_ENUM) fprintf(out, "|%s:--%s", f->name, p->name);
    fputs(") return ;;\n", out);
}

static void bash_options(FILE *out)
{
    const gf_filter_info *f;
    const gf_param_info *p;
    for (const cli_command *c = cli_commands; c->name; c++) {
        if (c->id == CMD_FILTER) continue;
        fprintf(out, "        %s) words=\"", c->name);
        for (const cli_option *o = cli_options; o->name; o++)
            if (takes(o, c->id)) fprintf(out, "--%s ", o->name);
        fprintf(out, "\" ;;\n");
    }
    for (size_t i = 0; (f = gf_filter_get(i)); i++) {
        fprintf(out, "        %s) words=\"$common", f->name);
        for (size_t k = 0; (p = gf_filter_param(f, k)); k++) fprintf(out, " --%s", p->name);
        fprintf(out, "\" ;;\n");
    }
}

void gen_bash(FILE *out)
{
    fprintf(out, "%s\n_gpufilter()\n{\n    local cur=$2 prev=$3 command= words= common= i\n",
            origin);
    fputs("    local names=\"", out);
    command_names(out);
    filter_names(out);
    fputs("\"\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case \" $names \" in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break "
          ";; esac\n"
          "    done\n    COMPREPLY=()\n"
          "    if [ -z \"$command\" ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n        return\n    fi\n"
          "    case \"$command:$prev\" in\n",
          out);
    bash_choices(out);
    bash_plain_values(out);
    fputs(
        "        help:*) words=$names ;;\n    esac\n"
        "    if [ -n \"$words\" ]; then\n        COMPREPLY=($(compgen -W \"$words\" -- "
        "\"$cur\"))\n        return\n    fi\n"
        "    [ \"${cur#-}\" = \"$cur\" ] && return # a file: bash's own completion\n    common=\"",
        out);
    for (const cli_option *o = cli_options; o->name; o++)
        if (takes(o, CMD_FILTER)) fprintf(out, "--%s ", o->name);
    fputs("\"\n    case \"$command\" in\n", out);
    bash_options(out);
    fputs("        '') words=\"--version --verbose --help --json\" ;;\n    esac\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
          "complete -o bashdefault -o default -F _gpufilter gpufilter\n",
          out);
}

/* ---- zsh ---------------------------------------------------------------------------------- */

/* Text inside '…' and inside [ ] or before : of a specification. */
static void zsh_text(const char *s, FILE *out)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", out);
        else {
            if (strchr("[]:\\", *s)) fputc('\\', out);
            fputc(*s, out);
        }
    }
}

static void zsh_option(const cli_option *o, FILE *out)
{
    if (o->letter)
        fprintf(out, "        '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                o->argument ? "+" : "", o->name, o->argument ? "=" : "");
    else
        fprintf(out, "        '--%s%s[", o->name, o->argument ? "=" : "");
    zsh_text(o->summary, out);
    fputc(']', out);
    if (is_choice(o)) {
        fprintf(out, ":%s:(", o->name);
        words_of_choice(o->argument, out);
        fputc(')', out);
    } else if (o->id == OPT_OUTPUT)
        fputs(":folder:_files -/", out);
    else if (o->id == OPT_VERIFY || o->id == OPT_DIFF)
        fputs(":file:_files", out);
    else if (o->argument)
        fprintf(out, ":%s: ", o->name);
    fputs("'\n", out);
}

static void zsh_options(cli_command_id command, FILE *out)
{
    for (const cli_option *o = cli_options; o->name; o++)
        if (takes(o, command)) zsh_option(o, out);
}

static void zsh_filter(const gf_filter_info *f, FILE *out)
{
    const gf_param_info *p;
    fprintf(out, "    %s) options=($common\n", f->name);
    for (size_t k = 0; (p = gf_filter_param(f, k)); k++) {
        fprintf(out, "        '--%s=[", p->name);
        zsh_text(p->summary, out);
        fprintf(out, "]:%s:", p->name);
        if (p->type == GF_PARAM_ENUM) {
            fputc('(', out);
            words_of_param(p, out);
            fputc(')', out);
        } else
            fputc(' ', out);
        fputs("'\n", out);
    }
    fputs("        ) ;;\n", out);
}

static void zsh_names(FILE *out)
{
    const gf_filter_info *f;
    for (const cli_command *c = cli_commands; c->name; c++) {
        if (c->id == CMD_FILTER) continue;
        fprintf(out, "        '%s:", c->name);
        zsh_text(c->summary, out);
        fputs("'\n", out);
    }
    for (size_t i = 0; (f = gf_filter_get(i)); i++) {
        fprintf(out, "        '%s:", f->name);
        zsh_text(f->summary, out);
        fputs("'\n", out);
    }
}

void gen_zsh(FILE *out)
{
    const gf_filter_info *f;
    fprintf(
        out,
        "#compdef gpufilter\n%s\n_gpufilter() {\n    local -a names common options\n    names=(\n",
        origin);
    zsh_names(out);
    fputs("    )\n    common=(\n", out);
    zsh_options(CMD_FILTER, out);
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe 'filter or command' names\n   "
          "     return\n    fi\n"
          "    case $words[2] in\n",
          out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        if (c->id == CMD_FILTER) continue;
        fprintf(out, "    %s) options=(\n", c->name);
        zsh_options(c->id, out);
        fputs("        ) ;;\n", out);
    }
    for (size_t i = 0; (f = gf_filter_get(i)); i++) zsh_filter(f, out);
    fputs("    *) options=($common) ;;\n    esac\n    shift words\n    (( CURRENT-- ))\n"
          "    _arguments -s $options '*:file:_files'\n}\n\n_gpufilter \"$@\"\n",
          out);
}

/* ---- fish --------------------------------------------------------------------------------- */

/* Text inside '…'. */
static void fish_text(const char *s, FILE *out)
{
    for (; *s; s++) {
        if (strchr("'\\", *s)) fputc('\\', out);
        fputc(*s, out);
    }
}

static void fish_name(const char *name, const char *summary, FILE *out)
{
    fprintf(out, "complete -c gpufilter -n __fish_use_subcommand -f -a %s -d '", name);
    fish_text(summary, out);
    fputs("'\n", out);
}

/* The names of all commands that take an option. */
static void fish_condition(const cli_option *o, FILE *out)
{
    fputs("-n '__fish_seen_subcommand_from", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        if (!takes(o, c->id)) continue;
        if (c->id == CMD_FILTER)
            fputs(" $__gpufilter_filters", out);
        else
            fprintf(out, " %s", c->name);
    }
    fputs("' ", out);
}

static void fish_option(const cli_option *o, FILE *out)
{
    fputs("complete -c gpufilter ", out);
    if (o->id != OPT_VERSION) fish_condition(o, out);
    if (o->letter) fprintf(out, "-s %c ", o->letter);
    fprintf(out, "-l %s ", o->name);
    if (is_choice(o)) {
        fputs("-x -a '", out);
        words_of_choice(o->argument, out);
        fputs("' ", out);
    } else if (o->id == OPT_OUTPUT || o->id == OPT_VERIFY || o->id == OPT_DIFF)
        fputs("-r ", out);
    else if (o->argument)
        fputs("-x ", out);
    fputs("-d '", out);
    fish_text(o->summary, out);
    fputs("'\n", out);
}

static void fish_filter(const gf_filter_info *f, FILE *out)
{
    const gf_param_info *p;
    for (size_t k = 0; (p = gf_filter_param(f, k)); k++) {
        fprintf(out, "complete -c gpufilter -n '__fish_seen_subcommand_from %s' -l %s -x ", f->name,
                p->name);
        if (p->type == GF_PARAM_ENUM) {
            fputs("-a '", out);
            words_of_param(p, out);
            fputs("' ", out);
        }
        fputs("-d '", out);
        fish_text(p->summary, out);
        fputs("'\n", out);
    }
}

void gen_fish(FILE *out)
{
    const gf_filter_info *f;
    fprintf(out, "%sset -g __gpufilter_filters ", origin);
    filter_names(out);
    fputc('\n', out);
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c->id != CMD_FILTER) fish_name(c->name, c->summary, out);
    for (size_t i = 0; (f = gf_filter_get(i)); i++) fish_name(f->name, f->summary, out);
    for (const cli_option *o = cli_options; o->name; o++) fish_option(o, out);
    for (size_t i = 0; (f = gf_filter_get(i)); i++) fish_filter(f, out);
}
