/* Runs the phases of a kernel and prints one line of JSON with what was measured, on rank 0.
 *
 * Timed is what the program sees: from before H5Fcreate to after H5Fclose, without filling and comparing
 * buffers. */
#define _GNU_SOURCE
#include "kernel.h"
#include <unistd.h>

static const char *const timer_names[TIMERS] = {
    [FILE_CREATE] = "file_create", [FILE_OPEN] = "file_open", [DATA_CREATE] = "create",
    [DATA_OPEN] = "open",          [DATA_WRITE] = "write",    [DATA_READ] = "read",
    [DATA_CLOSE] = "close",        [METADATA] = "metadata",   [FLUSH] = "flush",
    [FILE_CLOSE] = "file_close",
};

/* The clock of one pass over the file; it stands still while buffers are filled or compared. It runs from when
 * the last rank comes to a meeting to when the last one comes to the next. */
typedef struct {
    double total, opening, compute, resumed;
} Stopwatch;

static void resume(const Run *r, Stopwatch *w)
{
    w->resumed = meet(r);
}

static void pause_watch(const Run *r, Stopwatch *w)
{
    w->total += meet(r) - w->resumed;
}

void file_name(const Run *r, char *name, size_t bytes)
{
    if (r->opt.per_process) snprintf(name, bytes, "%s.%d", r->opt.file, r->rank);
    else snprintf(name, bytes, "%s", r->opt.file);
}

void remove_file(const Run *r)
{
    char name[4096];
    file_name(r, name, sizeof name);
    if (r->opt.per_process || r->rank == 0) unlink(name);
    MPI_Barrier(r->comm);
}

static hid_t file_access(const Run *r)
{
    hid_t fapl = (hid_t) OK(H5Pcreate(H5P_FILE_ACCESS));
    if (!r->opt.per_process) OK(H5Pset_fapl_mpio(fapl, r->comm, r->opt.hints));
    if (r->opt.align) OK(H5Pset_alignment(fapl, 64 << 10, (hsize_t) r->opt.align));
    if (r->opt.collective_metadata && !r->opt.per_process) {
        OK(H5Pset_all_coll_metadata_ops(fapl, 1));
        OK(H5Pset_coll_metadata_write(fapl, 1));
    }
    return fapl;
}

static hid_t transfer_mode(const Run *r)
{
    hid_t mode = (hid_t) OK(H5Pcreate(H5P_DATASET_XFER));
    if (!r->opt.per_process)
        OK(H5Pset_dxpl_mpio(mode, r->opt.independent ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE));
    return mode;
}

static hid_t open_file(Run *r)
{
    char name[4096];
    hid_t file;
    file_name(r, name, sizeof name);
    if (r->phase == WRITE) TIMED(r, FILE_CREATE, file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, r->fapl));
    else TIMED(r, FILE_OPEN, file = H5Fopen(name, H5F_ACC_RDONLY, r->fapl));
    return (hid_t) OK(file);
}

/* A single step lies in the root of the file, as in a checkpoint; several have a group each. */
static void walk_step(Run *r, hid_t file, Phase phase)
{
    char name[32];
    r->phase = phase;
    snprintf(name, sizeof name, "Step#%d", r->step);
    int grouped = r->kernel->grouped || r->opt.steps > 1;
    hid_t group = grouped ? group_begin(r, file, name) : -1;
    r->kernel->step(r, grouped ? group : file);
    group_close(r, group);
}

static void poison(Run *r)
{
    for (int i = 0; i < BUFFERS_MAX; i++)
        if (r->buffers[i].memory) memset(r->buffers[i].memory, 0xa5, r->buffers[i].bytes);
}

/* Before a step: the buffers as the phase wants them. */
static void prepare(Run *r, Phase phase)
{
    if (phase == WRITE) walk_step(r, -1, FILL);
    if (phase == READ) poison(r);
    r->phase = phase;
}

static Stopwatch walk_file(Run *r, Phase phase, double *step_seconds)
{
    Stopwatch w = {0};
    Timer data = phase == WRITE ? DATA_WRITE : DATA_READ;
    r->step = 0;
    prepare(r, phase);
    resume(r, &w);
    hid_t file = open_file(r);
    w.opening = meet(r) - w.resumed;
    for (r->step = 0; r->step < r->opt.steps; r->step++) {
        double before = r->spent[data] + r->spent[FLUSH];
        if (r->step) {
            pause_watch(r, &w);
            prepare(r, phase);
            resume(r, &w);
        }
        walk_step(r, file, phase);
        if (r->opt.flush && phase == WRITE) TIMED(r, FLUSH, OK(H5Fflush(file, H5F_SCOPE_GLOBAL)));
        step_seconds[r->step] = r->spent[data] + r->spent[FLUSH] - before;
        if (phase == READ && !r->opt.no_data) {
            pause_watch(r, &w);
            walk_step(r, -1, COMPARE);
            resume(r, &w);
        }
        double begun = now();
        compute(r);
        w.compute += now() - begun;
    }
    TIMED(r, FILE_CLOSE, OK(H5Fclose(file)));
    pause_watch(r, &w);
    return w;
}

/* One object of the list "writes" or "reads": seconds, the slowest rank. "opened" is the time from when all have opened the
 * file to when all have closed it; the phase is that without what creating datasets and metadata cost the rank that they
 * cost least: time in the calls alone would not count a rank that waits for its turn outside of them. */
static void print_pass(const Run *r, FILE *out, Stopwatch w, const double *step_seconds)
{
    double total = max_over_ranks(r, w.total - w.compute), other = 0;
    fprintf(out, "{\"total\":%.9f", total);
    fprintf(out, ",\"compute\":%.9f", max_over_ranks(r, w.compute));
    for (int i = 0; i < TIMERS; i++) {
        double seconds = max_over_ranks(r, r->spent[i]);
        if (seconds > 0) fprintf(out, ",\"%s\":%.9f", timer_names[i], seconds);
        if (i == DATA_CREATE || i == DATA_OPEN || i == DATA_CLOSE || i == METADATA) other += r->spent[i];
    }
    fprintf(out, ",\"opened\":%.9f,\"phase\":%.9f,\"steps\":[", total - w.opening,
            total - w.opening + max_over_ranks(r, -other));
    for (int i = 0; i < r->opt.steps; i++)
        fprintf(out, "%s%.9f", i ? "," : "", max_over_ranks(r, step_seconds[i]));
    fprintf(out, "]}");
}

static void timed_passes(Run *r, FILE *out, Phase phase)
{
    double *step_seconds = calloc((size_t) r->opt.steps, sizeof *step_seconds);
    fprintf(out, ",\"%s\":[", phase == WRITE ? "writes" : "reads");
    for (int i = 0; i < r->opt.repeat; i++) {
        if (phase == WRITE) remove_file(r);
        memset(r->spent, 0, sizeof r->spent);
        r->bytes_moved = 0;
        Stopwatch w = walk_file(r, phase, step_seconds);
        fprintf(out, "%s", i ? "," : "");
        print_pass(r, out, w, step_seconds);
    }
    fprintf(out, "]");
    free(step_seconds);
}

static void verify(Run *r)
{
    r->phase = VERIFY;
    hid_t file = open_file(r);
    for (r->step = 0; r->step < r->opt.steps; r->step++) walk_step(r, file, VERIFY);
    OK(H5Fclose(file));
}

void print_head(const Run *r, FILE *out)
{
    fprintf(out, "{\"kernel\":\"%s\",\"form\":\"%s\",\"ranks\":%d,\"steps\":%lld", r->kernel->name,
            r->opt.form, r->ranks, r->opt.steps);
}

static void print_memory(const Run *r, FILE *out, double before_kib)
{
    double data = 0;
    for (int i = 0; i < BUFFERS_MAX; i++) data += (double) r->buffers[i].bytes;
    fprintf(out, ",\"data_bytes\":%.0f", sum_over_ranks(r, data));
    fprintf(out, ",\"peak_bytes\":%.0f", 1024 * sum_over_ranks(r, status_kib("VmHWM")));
    fprintf(out, ",\"extra_bytes\":%.0f", 1024 * sum_over_ranks(r, status_kib("VmHWM") - before_kib));
}

int drive(Run *r)
{
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);
    r->fapl = file_access(r);
    r->transfer = transfer_mode(r);
    walk_step(r, -1, FILL);
    double before_kib = status_kib("VmRSS");
    print_head(r, out);
    if (has_phase(r, "write")) timed_passes(r, out, WRITE);
    if (has_phase(r, "read") || (has_phase(r, "verify") && r->opt.per_process)) timed_passes(r, out, READ);
    print_memory(r, out, before_kib);
    fprintf(out, ",\"bytes\":%.0f", sum_over_ranks(r, (double) r->bytes_moved));
    if (has_phase(r, "verify") && !r->opt.per_process) verify(r);
    double errors = sum_over_ranks(r, (double) r->errors);
    int checked = has_phase(r, "verify") || has_phase(r, "read");
    fprintf(out, ",\"verified\":%s,\"errors\":%.0f}", checked ? errors ? "false" : "true" : "null", errors);
    fclose(out);
    if (r->rank == 0) printf("%s\n", line);
    free(line);
    H5Pclose(r->fapl);
    H5Pclose(r->transfer);
    return errors ? 1 : 0;
}
