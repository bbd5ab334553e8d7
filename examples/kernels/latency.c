/* What one call costs when there is next to nothing to move: the median of many calls of each kind, on the
 * slowest rank. All that was written is read back and checked. */
#define _GNU_SOURCE
#include "kernel.h"

enum { WORDS = 8 }; /* 64 bytes of each rank in a write */

typedef struct {
    Run *run;
    FILE *out;
    double *samples;
    int printed;
} Bench;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Microseconds: the median and the 90th percentile of the slowest rank. */
static void report(Bench *b, const char *name, long long count)
{
    qsort(b->samples, (size_t) count, sizeof *b->samples, by_size);
    double median = max_over_ranks(b->run, 1e6 * b->samples[count / 2]);
    double tail = max_over_ranks(b->run, 1e6 * b->samples[count * 9 / 10]);
    fprintf(b->out, "%s\"%s\":{\"median_us\":%.2f,\"p90_us\":%.2f,\"calls\":%lld}", b->printed++ ? "," : "",
            name, median, tail, count);
}

/* Samples one call `count` times; `index` counts within the statement. */
#define SAMPLE(bench, name, count, before, call, after) \
    do { \
        MPI_Barrier((bench)->run->comm); \
        for (long long index = 0; index < (count); index++) { \
            before; \
            double begun_ = now(); \
            call; \
            (bench)->samples[index] = now() - begun_; \
            after; \
        } \
        report(bench, name, count); \
    } while (0)

static void files(Bench *b, hid_t fapl)
{
    const char *path = b->run->opt.file;
    long long count = b->run->opt.calls / 10 > 3 ? b->run->opt.calls / 10 : 3;
    hid_t file;
    SAMPLE(b, "file create", count, , file = (hid_t) OK(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl)),
           OK(H5Fclose(file)));
    SAMPLE(b, "file open", count, , file = (hid_t) OK(H5Fopen(path, H5F_ACC_RDWR, fapl)), OK(H5Fclose(file)));
    SAMPLE(b, "file close", count, file = (hid_t) OK(H5Fopen(path, H5F_ACC_RDWR, fapl)),
           OK(H5Fclose(file)), );
}

static char *numbered(char *name, long long index)
{
    sprintf(name, "small%lld", index);
    return name;
}

static void datasets(Bench *b, hid_t file, hid_t space)
{
    char name[32];
    hid_t id;
    SAMPLE(b, "dataset create", b->run->opt.calls, numbered(name, index),
           id = (hid_t) OK(
               H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
           OK(H5Dclose(id)));
    SAMPLE(b, "dataset open", b->run->opt.calls, numbered(name, index),
           id = (hid_t) OK(H5Dopen2(file, name, H5P_DEFAULT)), OK(H5Dclose(id)));
    SAMPLE(b, "dataset close", b->run->opt.calls,
           id = (hid_t) OK(H5Dopen2(file, numbered(name, index), H5P_DEFAULT)), OK(H5Dclose(id)), );
}

typedef struct {
    hid_t id, memory, file, mode;
} Small;

static double number(int rank, long long index, int word, int kind)
{
    return (double) (((index * 64 + rank) * WORDS + word) * 4 + kind);
}

static void select_row(const Run *r, const Small *s, long long index)
{
    hsize_t start[] = {(hsize_t) index, (hsize_t) r->rank * WORDS}, count[] = {1, WORDS};
    OK(H5Sselect_hyperslab(s->file, H5S_SELECT_SET, start, NULL, count, NULL));
}

static void fill_row(const Run *r, const Small *s, long long index, double *data, int kind)
{
    for (int i = 0; i < WORDS; i++) data[i] = number(r->rank, index, i, kind);
    select_row(r, s, index);
}

/* Every rank reads the rows of its neighbour. */
static void check_rows(Run *r, const Small *s, int kind)
{
    Run neighbour = *r;
    double data[WORDS];
    neighbour.rank = (r->rank + 1) % r->ranks;
    for (long long index = 0; index < r->opt.calls; index++) {
        select_row(&neighbour, s, index);
        OK(H5Dread(s->id, H5T_NATIVE_DOUBLE, s->memory, s->file, H5P_DEFAULT, data));
        for (int i = 0; i < WORDS; i++) r->errors += data[i] != number(neighbour.rank, index, i, kind);
    }
}

/* Between writing and another rank's reading: what MPI-IO asks for. */
static void settle(const Run *r, hid_t file)
{
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(r->comm);
}

static void writes(Bench *b, hid_t file, Small *s)
{
    Run *r = b->run;
    double data[WORDS];
    static const char *const names[] = {"write 64 B collective", "write 64 B independent"};
    for (int kind = 0; kind < 2; kind++) {
        OK(H5Pset_dxpl_mpio(s->mode, kind ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE));
        SAMPLE(b, names[kind], r->opt.calls, fill_row(r, s, index, data, kind),
               OK(H5Dwrite(s->id, H5T_NATIVE_DOUBLE, s->memory, s->file, s->mode, data)), );
        settle(r, file);
        check_rows(r, s, kind);
        MPI_Barrier(r->comm);
    }
    SAMPLE(b, "flush after a write", r->opt.calls / 4 + 1, fill_row(r, s, 0, data, 1);
           OK(H5Dwrite(s->id, H5T_NATIVE_DOUBLE, s->memory, s->file, s->mode, data)),
           OK(H5Fflush(file, H5F_SCOPE_GLOBAL)), );
}

static int run(Run *r)
{
    Bench b = {.run = r, .samples = calloc((size_t) r->opt.calls + 4, sizeof(double))};
    char *line = NULL;
    size_t length;
    b.out = open_memstream(&line, &length);
    hid_t fapl = (hid_t) OK(H5Pcreate(H5P_FILE_ACCESS));
    OK(H5Pset_fapl_mpio(fapl, r->comm, r->opt.hints));
    print_head(r, b.out);
    fprintf(b.out, ",\"calls\":{");
    files(&b, fapl);
    hsize_t dims[] = {(hsize_t) r->opt.calls, (hsize_t) r->ranks * WORDS}, row[] = {1, WORDS}, small = WORDS;
    hid_t file = (hid_t) OK(H5Fcreate(r->opt.file, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    Small s = {.memory = (hid_t) OK(H5Screate_simple(2, row, NULL)),
               .file = (hid_t) OK(H5Screate_simple(2, dims, NULL)),
               .mode = (hid_t) OK(H5Pcreate(H5P_DATASET_XFER))};
    hid_t few = (hid_t) OK(H5Screate_simple(1, &small, NULL));
    datasets(&b, file, few);
    s.id = (hid_t) OK(
        H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, s.file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    writes(&b, file, &s);
    OK(H5Dclose(s.id)), H5Sclose(s.memory), H5Sclose(s.file), H5Sclose(few), H5Pclose(s.mode), H5Pclose(fapl);
    OK(H5Fclose(file));
    double errors = sum_over_ranks(r, (double) r->errors);
    fprintf(b.out, "},\"errors\":%.0f,\"verified\":%s}", errors, errors ? "false" : "true");
    fclose(b.out);
    if (r->rank == 0) printf("%s\n", line);
    free(line);
    free(b.samples);
    return errors ? 1 : 0;
}

const Kernel latency = {.name = "latency",
                        .help = "microseconds per call: create, open, write 64 B, flush, close; --calls",
                        .main = run};
