/*
 * faults BAD_FILE LATER_FILE collective|independent [VARIABLE]
 *
 * Writes more to BAD_FILE than its storage takes, or than a fault lets through, and tells on every rank what each call
 * said; then whether what was there before is intact, and whether a later file works (without the environment
 * variable that caused the fault). Lines: "RANK CALL ok" or "RANK CALL failed: error stack", at last "RANK end".
 */
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 500, EACH = 1 << 20 };

static int rank, nranks;

static herr_t frame(unsigned n, const H5E_error2_t *error, void *to)
{
    char  *stack = to;
    size_t at    = strlen(stack);
    (void)n;
    snprintf(stack + at, 4000 - at, " | %s: %s", error->func_name, error->desc ? error->desc : "");
    return 0;
}

static long long tell(const char *call, long long result)
{
    char stack[4000] = "";
    if (result < 0)
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, frame, stack);
    for (char *c = stack; *c; c++)
        if (*c == '\n')
            *c = ' ';
    printf(result < 0 ? "%d %s failed:%s\n" : "%d %s ok%s\n", rank, call, stack);
    fflush(stdout);
    return result;
}

static hid_t native_list(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), native = H5VLregister_connector_by_name("native", H5P_DEFAULT);
    H5Pset_vol(fapl, native, NULL);
    H5VLclose(native);
    return fapl;
}

static hid_t ints(hid_t file, const char *name, hsize_t count)
{
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t d     = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return d;
}

/* What is there before: written by one process and HDF5's own connector. */
static void prepare(const char *name)
{
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, native_list()), kept = ints(file, "kept", KEPT);
    int   values[KEPT];
    for (int i = 0; i < KEPT; i++)
        values[i] = 3 * i;
    H5Dwrite(kept, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(kept);
    tell("prepare", H5Fclose(file));
}

static int intact(const char *name)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, native_list()), kept = H5Dopen2(file, "kept", H5P_DEFAULT);
    int   values[KEPT] = {0};
    if (H5Dread(kept, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return -1;
    for (int i = 0; i < KEPT; i++)
        if (values[i] != 3 * i)
            return -1;
    H5Dclose(kept);
    return H5Fclose(file);
}

static long long write_share(hid_t d, hsize_t each, hid_t dxpl)
{
    hsize_t start = each * (hsize_t)rank;
    hid_t   space = H5Dget_space(d), memory = H5Screate_simple(1, &each, NULL);
    int    *values = malloc(each * sizeof *values);
    for (hsize_t i = 0; i < each; i++)
        values[i] = (int)(start + i);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &each, NULL);
    long long code = tell("write", H5Dwrite(d, H5T_NATIVE_INT, memory, space, dxpl, values));
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
    return code;
}

static hid_t on_all(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    return fapl;
}

static int all_there(const char *name, hsize_t count)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, native_list()), d = H5Dopen2(file, "d", H5P_DEFAULT);
    int  *values = calloc(count, sizeof *values), code = H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    for (hsize_t i = 0; i < count; i++)
        if (values[i] != (int)i)
            code = -1;
    free(values);
    H5Dclose(d);
    H5Fclose(file);
    return code;
}

static void later(const char *name, hid_t dxpl)
{
    enum { FEW = 1000 };
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, on_all()), d = ints(file, "d", (hsize_t)(FEW * nranks));
    write_share(d, FEW, dxpl);
    H5Dclose(d);
    H5Fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        tell("later", all_there(name, (hsize_t)(FEW * nranks)));
}

static void hangs(int signal)
{
    (void)signal;
    if (write(1, "hangs\n", 6) < 0)
        _exit(125);
    _exit(124);
}

/* A file beside this one that takes place on its disk, for a while. */
static void ballast(const char *beside, int there)
{
    char        name[4096];
    static char bytes[512 << 10];
    snprintf(name, sizeof name, "%s.ballast", beside);
    FILE *file = there ? fopen(name, "w") : NULL;
    if (file) {
        fwrite(bytes, 1, sizeof bytes, file);
        fclose(file);
    } else
        unlink(name);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    signal(SIGALRM, hangs);
    alarm(60);
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(dxpl, strcmp(argv[3], "collective") == 0 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    if (rank == 0) {
        ballast(argv[1], 1);
        prepare(argv[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDWR, on_all()), d = ints(file, "d", (hsize_t)EACH * (hsize_t)nranks);
    tell("create", d);
    write_share(d, EACH, dxpl);
    tell("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
    tell("close_dataset", H5Dclose(d));
    tell("close", H5Fclose(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        tell("whole", all_there(argv[1], (hsize_t)EACH * (hsize_t)nranks));
    if (rank == 0)
        tell("kept", intact(argv[1]));
    if (argc > 4)
        unsetenv(argv[4]);
    later(argv[2], dxpl);
    /* HDF5 closes the file once more at the end, and waits for ever if it cannot write. */
    if (rank == 0)
        ballast(argv[1], 0);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    printf("%d end\n", rank);
    MPI_Finalize();
    return 0;
}
