/* Clock, memory, the work between steps, and the one way to fail. */
#define _GNU_SOURCE
#include "kernel.h"
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static double over_ranks(const Run *r, double value, MPI_Op op)
{
    double result;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, r->comm);
    return result;
}

double max_over_ranks(const Run *r, double value)
{
    return over_ranks(r, value, MPI_MAX);
}
double sum_over_ranks(const Run *r, double value)
{
    return over_ranks(r, value, MPI_SUM);
}

/* With more ranks than cores, a rank that leaves a barrier may find that others have its core, to fill their
 * buffers: so what counts is when the last one came. */
double meet(const Run *r)
{
    double last = max_over_ranks(r, now());
    return r->one_clock ? last : now();
}

int have_one_clock(MPI_Comm comm)
{
    MPI_Comm node;
    int ranks, here;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, comm);
    return here == ranks;
}

double status_kib(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;
    size_t length = strlen(key);
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, length) && line[length] == ':') kib = strtod(line + length + 1, NULL);
    if (f) fclose(f);
    return kib;
}

static double work(long long rounds)
{
    volatile double x = 1;
    for (long long i = 0; i < rounds; i++) x = x * 0.999999 + 1e-6;
    return x;
}

/* The work is measured once, with all ranks at it, and is then the same for every step and variant: what a
 * background thread takes from it can be seen in the result. */
void compute(const Run *r)
{
    static long long rounds;
    if (r->opt.compute_seconds <= 0) return;
    if (!rounds) {
        const long long sample = 20 * 1000 * 1000;
        MPI_Barrier(r->comm);
        double begun = now();
        work(sample);
        double seconds = max_over_ranks(r, now() - begun);
        rounds = (long long) ((double) sample * r->opt.compute_seconds / seconds);
    }
    work(rounds);
}

_Noreturn void fail(const char *what, const char *file, int line)
{
    int rank = 0, initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: failed at %s:%d: %s\n", rank, file, line, what);
    H5Eprint2(H5E_DEFAULT, stderr);
    if (initialised) MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
