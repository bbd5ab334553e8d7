/* The limit that the kernels are measured against: each rank pwrites its contiguous share of one file, and
 * they wait for each other after each step. No HDF5, no MPI-IO. With --per-process each rank has a file of
 * its own.
 *
 * MPI libraries wait by polling, which takes the core that a slower rank may need. With --wait futex the
 * ranks wait in the kernel instead, and use no MPI call while the clock runs. */
#define _GNU_SOURCE
#include "kernel.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In memory that all ranks share. */
typedef struct {
    _Atomic uint32_t arrived, generation;
    _Atomic uint64_t last_ns[2]; /* when the last rank came, of this passage and the one before */
} Gate;

static Gate *gate_make(const Run *r, MPI_Win *window)
{
    Gate *gate;
    MPI_Aint bytes = r->rank == 0 ? (MPI_Aint) sizeof *gate : 0;
    int unit;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, r->comm, &gate, window);
    MPI_Win_shared_query(*window, 0, &bytes, &unit, &gate);
    if (r->rank == 0) memset((void *) gate, 0, sizeof *gate);
    MPI_Barrier(r->comm);
    return gate;
}

static double gate_pass(Gate *gate, uint32_t ranks)
{
    enum { SPINS = 200 };
    uint32_t generation = atomic_load(&gate->generation);
    _Atomic uint64_t *last_ns = &gate->last_ns[generation & 1];
    uint64_t now_ns = (uint64_t) (1e9 * now()), seen = atomic_load(last_ns);
    while (seen < now_ns && !atomic_compare_exchange_weak(last_ns, &seen, now_ns)) continue;
    if (atomic_fetch_add(&gate->arrived, 1) + 1 == ranks) {
        atomic_store(&gate->arrived, 0);
        atomic_store(&gate->last_ns[(generation + 1) & 1], 0);
        atomic_fetch_add(&gate->generation, 1);
        syscall(SYS_futex, &gate->generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
    for (int spins = 0; atomic_load(&gate->generation) == generation; spins++)
        if (spins >= SPINS) syscall(SYS_futex, &gate->generation, FUTEX_WAIT, generation, NULL, NULL, 0);
    return 1e-9 * (double) atomic_load(last_ns);
}

typedef struct {
    Run *run;
    Gate *gate; /* null: wait by MPI */
    uint64_t *data;
    size_t bytes;
    double total, opening, closing, first; /* seconds of a pass, and of its first step without opening */
} Limit;

/* When the last rank came. */
static double wait_for_all(const Limit *l)
{
    return l->gate ? gate_pass(l->gate, (uint32_t) l->run->ranks) : meet(l->run);
}

static off_t offset_of(const Limit *l, int step, int rank)
{
    if (l->run->opt.per_process) return (off_t) l->bytes * step;
    return (off_t) l->bytes * ((off_t) step * l->run->ranks + rank);
}

static uint64_t word(off_t offset, size_t i)
{
    return (uint64_t) offset * 0x9e3779b97f4a7c15u + i;
}

static void transfer(const Limit *l, int fd, int writing, off_t offset)
{
    for (size_t done = 0; done < l->bytes;) {
        char *at = (char *) l->data + done;
        ssize_t n = writing ? pwrite(fd, at, l->bytes - done, offset + (off_t) done)
                            : pread(fd, at, l->bytes - done, offset + (off_t) done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(writing ? "pwrite" : "pread", __FILE__, __LINE__);
        done += (size_t) n;
    }
}

static void check(Limit *l, off_t offset)
{
    for (size_t i = 0; i < l->bytes / 8; i++) l->run->errors += l->data[i] != word(offset, i);
}

static void pass(Limit *l, int writing)
{
    Run *r = l->run;
    char name[4096];
    int fd = -1;
    file_name(r, name, sizeof name);
    l->total = 0;
    for (int step = 0; step < r->opt.steps; step++) {
        off_t offset = offset_of(l, step, r->rank);
        for (size_t i = 0; writing && i < l->bytes / 8; i++) l->data[i] = word(offset, i);
        double begun = wait_for_all(l);
        if (fd < 0) {
            fd = open(name, writing ? O_RDWR | O_CREAT : O_RDONLY, 0644);
            l->opening = wait_for_all(l) - begun;
        }
        if (fd < 0) fail(name, __FILE__, __LINE__);
        transfer(l, fd, writing, offset);
        double seconds = wait_for_all(l) - begun;
        l->total += seconds;
        if (!step) l->first = seconds - l->opening;
        if (!writing) check(l, offset);
    }
    double begun = wait_for_all(l);
    close(fd);
    l->closing = wait_for_all(l) - begun;
    l->total += l->closing;
}

static void passes(Limit *l, FILE *out, int writing)
{
    Run *r = l->run;
    fprintf(out, ",\"%s\":[", writing ? "writes" : "reads");
    for (int i = 0; i < r->opt.repeat; i++) {
        if (writing) remove_file(r);
        pass(l, writing);
        double total = max_over_ranks(r, l->total);
        double moving = max_over_ranks(r, l->total - l->closing - l->opening);
        fprintf(out, "%s{\"total\":%.9f,\"%s\":%.9f,\"phase\":%.9f,\"steps\":[%.9f]}", i ? "," : "", total,
                writing ? "write" : "read", moving, moving, max_over_ranks(r, l->first));
    }
    fprintf(out, "]");
}

static int run(Run *r)
{
    MPI_Win window = MPI_WIN_NULL;
    Limit l = {.run = r, .bytes = ((size_t) r->opt.size + 7) / 8 * 8};
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);
    if (!strcmp(r->opt.wait, "futex")) l.gate = gate_make(r, &window);
    l.data = buffer(r, 0, l.bytes);
    print_head(r, out);
    if (has_phase(r, "write")) passes(&l, out, 1);
    fprintf(out, ",\"data_bytes\":%.0f,\"peak_bytes\":%.0f,\"extra_bytes\":0", (double) l.bytes * r->ranks,
            1024 * sum_over_ranks(r, status_kib("VmHWM")));
    if (has_phase(r, "read") || has_phase(r, "verify")) passes(&l, out, 0);
    double errors = sum_over_ranks(r, (double) r->errors);
    fprintf(out, ",\"bytes\":%.0f,\"errors\":%.0f,\"verified\":%s}",
            (double) l.bytes * r->ranks * (double) r->opt.steps, errors,
            errors                                           ? "false"
            : has_phase(r, "read") || has_phase(r, "verify") ? "true"
                                                             : "null");
    fclose(out);
    if (r->rank == 0) printf("%s\n", line);
    free(line);
    if (window != MPI_WIN_NULL) MPI_Win_free(&window);
    return errors ? 1 : 0;
}

const Kernel posix = {.name = "posix", .help = "the limit: each rank pwrites its share; --wait", .main = run};
