/* The options, the same for every kernel: one table, which is also the help text. */
#include "kernel.h"
#include <stddef.h>

typedef enum { TEXT, NUMBER, SECONDS, SWITCH, HINT } Kind;

static const struct {
    const char *name;
    Kind kind;
    size_t at;
    const char *help;
} table[] = {
    {"file", TEXT, offsetof(Options, file), "the file to write (required)"},
    {"size", NUMBER, offsetof(Options, size), "bytes of a variable on a rank in a step, about (1M)"},
    {"steps", NUMBER, offsetof(Options, steps), "time steps in the file (1)"},
    {"repeat", NUMBER, offsetof(Options, repeat), "write the file this many times, each time anew (1)"},
    {"phases", TEXT, offsetof(Options, phases), "of write, read and verify, with commas (write,verify)"},
    {"form", TEXT, offsetof(Options, form), "the kernel's variant, see the list of kernels"},
    {"memory", TEXT, offsetof(Options, memory),
     "flash: the variable is slowest or fastest in memory (slowest)"},
    {"vars", NUMBER, offsetof(Options, vars), "number of variables (the kernel's own)"},
    {"run", NUMBER, offsetof(Options, run),
     "bytes of a rank that are contiguous in the file: tile, vorpal, s3d"},
    {"transfer", NUMBER, offsetof(Options, transfer), "ior: bytes of one call (256K)"},
    {"cells", NUMBER, offsetof(Options, cells), "flash: edge of a block (8)"},
    {"guard", NUMBER, offsetof(Options, guard),
     "flash, btio, s3d: guard cells around a block in memory (4, 2, 0)"},
    {"overlap", NUMBER, offsetof(Options, overlap), "tile: ghost elements that neighbours write too (0)"},
    {"calls", NUMBER, offsetof(Options, calls), "latency: calls of each kind (200)"},
    {"chunk", NUMBER, offsetof(Options, chunk),
     "chunked datasets, with chunks of at most so many bytes (contiguous)"},
    {"align", NUMBER, offsetof(Options, align), "align objects of at least 64 KiB in the file to this (no)"},
    {"compute", SECONDS, offsetof(Options, compute_seconds), "work between steps (0)"},
    {"wait", TEXT, offsetof(Options, wait), "posix: ranks wait by mpi or futex (mpi)"},
    {"hint", HINT, 0, "KEY=VALUE for MPI-IO, may be repeated"},
    {"independent", SWITCH, offsetof(Options, independent), "independent instead of collective transfers"},
    {"per-process", SWITCH, offsetof(Options, per_process), "a file for each rank, without MPI-IO"},
    {"no-data", SWITCH, offsetof(Options, no_data), "everything but H5Dwrite and H5Dread: what the rest costs"},
    {"flush", SWITCH, offsetof(Options, flush), "H5Fflush after every step"},
    {"collective-metadata", SWITCH, offsetof(Options, collective_metadata),
     "metadata reads and writes collectively"},
};
enum { OPTIONS = sizeof table / sizeof *table };

static _Noreturn void usage(const Run *r, const char *problem)
{
    if (r->rank == 0) {
        FILE *out = problem ? stderr : stdout;
        if (problem) fprintf(out, "%s\n", problem);
        fprintf(out, "%s: %s\noptions:\n", r->kernel->name, r->kernel->help);
        for (int i = 0; i < OPTIONS; i++) fprintf(out, "  --%-20s %s\n", table[i].name, table[i].help);
    }
    MPI_Finalize();
    exit(problem ? 2 : 0);
}

/* 300, 64K, 8M, 2G */
static long long number(const Run *r, const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    if (unit) n <<= 10 * (unit - units + 1), end++;
    if (end == text || *end || n < 0) usage(r, "not a number of bytes or things");
    return n;
}

static void set(Run *r, int option, const char *text)
{
    void *at = (char *) &r->opt + table[option].at;
    switch (table[option].kind) {
    case TEXT: *(const char **) at = text; break;
    case NUMBER: *(long long *) at = number(r, text); break;
    case SECONDS: *(double *) at = strtod(text, NULL); break;
    case SWITCH: *(long long *) at = 1; break;
    case HINT: {
        char key[128] = "";
        const char *equals = strchr(text, '=');
        if (!equals || (size_t) (equals - text) >= sizeof key) usage(r, "a hint is KEY=VALUE");
        memcpy(key, text, (size_t) (equals - text));
        if (r->opt.hints == MPI_INFO_NULL) MPI_Info_create(&r->opt.hints);
        MPI_Info_set(r->opt.hints, key, equals + 1);
    }
    }
}

void parse_options(Run *r, int argc, char **argv)
{
    r->opt = (Options){.size = 1 << 20,
                       .steps = 1,
                       .repeat = 1,
                       .phases = "write,verify",
                       .form = "",
                       .memory = "slowest",
                       .wait = "mpi",
                       .transfer = 256 << 10,
                       .cells = 8,
                       .guard = -1,
                       .calls = 200,
                       .hints = MPI_INFO_NULL};
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        int option = 0;
        if (!strcmp(arg, "--help")) usage(r, NULL);
        while (option < OPTIONS && (strncmp(arg, "--", 2) || strcmp(arg + 2, table[option].name))) option++;
        if (option == OPTIONS) usage(r, arg);
        int takes_value = table[option].kind != SWITCH;
        if (takes_value && i + 1 == argc) usage(r, "an option without its value");
        set(r, option, takes_value ? argv[++i] : NULL);
    }
    if (!r->opt.file) usage(r, "--file is missing");
    if (r->opt.steps < 1 || r->opt.repeat < 1) usage(r, "at least one step and one repeat");
}

int has_phase(const Run *r, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = r->opt.phases; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length])) return 1;
    return 0;
}
