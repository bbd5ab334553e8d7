/* What the I/O kernels share: options, the phases of a run, timing, verification, and the result line.
 *
 * A kernel describes one time step once, as the HDF5 calls of the code that it stands for. The same
 * description is then walked in several phases: FILL puts known values into the buffers (not timed), WRITE
 * creates, writes and closes (timed), READ reads back with the same selections (timed), COMPARE checks what
 * READ brought, and VERIFY reads every dataset whole, in slabs that have nothing to do with the selections of
 * the writers, and checks every element. The value of an element follows from its name, step and global
 * index.
 *
 * The programs are plain HDF5: they compile against 1.14 and later, with any MPI. */
#ifndef KERNEL_H
#define KERNEL_H

#include <hdf5.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS_MAX = 5, BUFFERS_MAX = 64 };

typedef enum { FILL, WRITE, READ, COMPARE, VERIFY } Phase;

typedef enum {
    FILE_CREATE,
    FILE_OPEN,
    DATA_CREATE,
    DATA_OPEN,
    DATA_WRITE,
    DATA_READ,
    DATA_CLOSE,
    METADATA,
    FLUSH,
    FILE_CLOSE,
    TIMERS
} Timer;

typedef struct {
    const char *file, *form, *memory, *phases, *wait;
    long long size, steps, repeat, chunk, run, transfer, vars, cells, guard, overlap, align, calls;
    double compute_seconds;
    long long independent, per_process, flush, collective_metadata, no_data;
    MPI_Info hints;
} Options;

typedef struct Run Run;

typedef struct {
    const char *name, *help;
    void (*step)(Run *, hid_t location); /* a time step, for kernels that the driver runs */
    int grouped;                         /* a group for the step even if it is the only one */
    int (*main)(Run *);                  /* instead of a step, for programs that drive themselves */
} Kernel;

struct Run {
    const Kernel *kernel;
    Options opt;
    MPI_Comm comm;
    int rank, ranks, one_clock;
    Phase phase;
    int step;              /* the time step being walked */
    hid_t fapl, transfer;  /* file access, and the transfer mode of data */
    double spent[TIMERS];  /* seconds on this rank */
    long long bytes_moved; /* by this rank's write or read calls */
    long long errors;      /* wrong elements or metadata seen by this rank */
    struct {
        void *memory;
        size_t bytes;
    } buffers[BUFFERS_MAX];
};

/* A dataset on its way; `move` may be called several times for it. */
typedef struct {
    hid_t id, location, type;
    uint32_t tag; /* of its name: part of the value of every element */
    const char *name;
    int moves;
} Field;

/* The kernels, one file each. */
extern const Kernel vpic, hacc, flash, vorpal, gcrm, tile, btio, ior, s3d, latency, posix;

/* ---- describing a step ---- */

/* The memory of a variable: the same at every call with the same slot, grown as needed. */
void *buffer(Run *r, int slot, hsize_t bytes);

/* A data space of these dimensions with one block selected; nothing where a count is 0. */
hid_t block_space(int dims_count, const hsize_t *dims, const hsize_t *start, const hsize_t *count);

/* Creates (or opens, or only names) a dataset; `move` transfers a selection of it and closes both spaces;
 * `field_close` ends it. */
Field field_begin(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims);
void move(Run *r, Field *f, hid_t memory_type, hid_t memory, hid_t file, void *data);
void field_close(Run *r, Field *f);

/* The common case: a dataset written by one block from each rank. */
void field_block(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims,
                 const hsize_t *start, const hsize_t *count, void *data);

/* Metadata: an attribute, and a small dataset that rank 0 writes. `data` is equal on all ranks. */
void attribute(Run *r, hid_t location, const char *name, hid_t type, hsize_t count, const void *data);
void root_dataset(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims,
                  const void *data);

/* A group, created or opened; closed with `group_close`. */
hid_t group_begin(Run *r, hid_t location, const char *name);
void group_close(Run *r, hid_t group);

/* This rank's part of `total` things, split as evenly as can be. */
void share(const Run *r, hsize_t total, hsize_t *start, hsize_t *count);

/* ---- running ---- */

void parse_options(Run *r, int argc, char **argv);
int has_phase(const Run *r, const char *name);
int drive(Run *r); /* all phases of a kernel with a `step`; the exit status */

/* The file of this run: shared, or one for each rank; removed by rank 0, or by each. */
void file_name(const Run *r, char *name, size_t bytes);
void remove_file(const Run *r);

/* The start of the result line, up to and including the options that matter: {"kernel":...,"ranks":4 */
void print_head(const Run *r, FILE *out);

/* ---- values, see values.c ---- */

uint32_t tag_of(const char *name);
void fill_or_compare(Run *r, const Field *f, hid_t memory_type, hid_t memory, hid_t file, void *data);
void verify_dataset(Run *r, const Field *f, int dims_count, const hsize_t *dims);

/* ---- clock, memory, failure, see measure.c ---- */

double now(void);
double meet(const Run *r);         /* of all ranks; when the last came, or where clocks differ, when this goes on */
int have_one_clock(MPI_Comm comm); /* whether all ranks are on one machine */
double max_over_ranks(const Run *r, double value);
double sum_over_ranks(const Run *r, double value);
double status_kib(const char *key); /* a line of /proc/self/status, such as VmHWM */
void compute(const Run *r);         /* a fixed amount of work, about --compute seconds */
_Noreturn void fail(const char *what, const char *file, int line);

/* Stops the whole job, with HDF5's error stack, when a call fails. */
#define OK(call) ok((long long) (call), #call, __FILE__, __LINE__)
static inline long long ok(long long result, const char *what, const char *file, int line)
{
    if (result < 0) fail(what, file, line);
    return result;
}

/* Runs a statement and adds its time to a timer of the run. */
#define TIMED(run, timer, statement) \
    do { \
        double begun_ = now(); \
        statement; \
        (run)->spent[timer] += now() - begun_; \
    } while (0)

#endif
