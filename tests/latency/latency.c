/* Times small HDF5 calls: prints, for each, the median over batches of the nanoseconds per call.
 * usage: latency serial|mpi FILE
 * With "mpi" the file is opened through the MPI driver, on whatever number of ranks this runs (one is meant). */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 41, CALLS = 200, VALUES = 8 };

struct target {
    hid_t  file, dataset, attribute;
    double values[VALUES];
};

static void must(long long result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static void write_dataset(struct target *t)
{
    must(H5Dwrite(t->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->values), "H5Dwrite");
}

static void read_dataset(struct target *t)
{
    must(H5Dread(t->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->values), "H5Dread");
}

static void read_attribute(struct target *t)
{
    must(H5Aread(t->attribute, H5T_NATIVE_DOUBLE, t->values), "H5Aread");
}

static void open_group(struct target *t)
{
    hid_t group = H5Gopen2(t->file, "group", H5P_DEFAULT);
    must(group, "H5Gopen2");
    must(H5Gclose(group), "H5Gclose");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void measure(const char *name, void (*call)(struct target *), struct target *t)
{
    double per_call[BATCHES];
    for (int warm = 0; warm < CALLS; warm++) call(t);
    for (int b = 0; b < BATCHES; b++) {
        double start = now_ns();
        for (int i = 0; i < CALLS; i++) call(t);
        per_call[b] = (now_ns() - start) / CALLS;
    }
    qsort(per_call, BATCHES, sizeof *per_call, ascending);
    printf("%s %.1f\n", name, per_call[BATCHES / 2]);
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    int   mpi  = strcmp(argv[1], "mpi") == 0;
    hid_t fapl = H5P_DEFAULT;
    if (mpi) {
        MPI_Init(&argc, &argv);
        fapl = H5Pcreate(H5P_FILE_ACCESS);
        must(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    }
    struct target t     = {.values = {1, 2, 3, 4, 5, 6, 7, 8}};
    hsize_t       count = VALUES;
    hid_t         space = H5Screate_simple(1, &count, NULL);
    must(t.file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, fapl), "H5Fcreate");
    must(t.dataset = H5Dcreate2(t.file, "dataset", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
         "H5Dcreate2");
    must(t.attribute = H5Acreate2(t.file, "attribute", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT), "H5Acreate2");
    must(H5Awrite(t.attribute, H5T_NATIVE_DOUBLE, t.values), "H5Awrite");
    must(H5Gclose(H5Gcreate2(t.file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)), "H5Gcreate2");

    measure("H5Dwrite", write_dataset, &t);
    measure("H5Dread", read_dataset, &t);
    measure("H5Aread", read_attribute, &t);
    measure("H5Gopen+close", open_group, &t);

    must(H5Aclose(t.attribute), "H5Aclose");
    must(H5Dclose(t.dataset), "H5Dclose");
    must(H5Sclose(space), "H5Sclose");
    if (fapl != H5P_DEFAULT) must(H5Pclose(fapl), "H5Pclose");
    must(H5Fclose(t.file), "H5Fclose");
    must(H5close(), "H5close");
    if (mpi) MPI_Finalize();
    return 0;
}
