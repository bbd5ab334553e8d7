/*
 * faults BAD_FILE LATER_FILE collective|independent [VARIABLE]
 *
 * Writes more to BAD_FILE than its storage takes, or than a fault lets through, and tells on every rank what each call
 * said; then whether what was there before is intact, and whether a later file works (without the environment
 * variable that caused the fault).
 */
#include "tell.h"

enum { KEPT = 500, EACH = 1 << 20 };

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
    start(&argc, &argv, 60);
    hid_t dxpl = transfer(strcmp(argv[3], "collective") == 0 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
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
    return end();
}
