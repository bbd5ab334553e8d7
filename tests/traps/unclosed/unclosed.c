/*
 * unclosed FILE: writes and calls MPI_Finalize without closing anything. HDF5 closes the file then.
 * unclosed FILE --check: one process; whether all is there.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { EACH = 1000 };

static int check(const char *name)
{
    hid_t   file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT), d = H5Dopen2(file, "d", H5P_DEFAULT), space = H5Dget_space(d);
    hsize_t count = 0;
    static int values[EACH * 64];
    H5Sget_simple_extent_dims(space, &count, NULL);
    if (file < 0 || d < 0 || count > EACH * 64 || H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return 1;
    for (hsize_t i = 0; i < count; i++)
        if (values[i] != (int)i + 1) {
            printf("element %llu is %d\n", (unsigned long long)i, values[i]);
            return 1;
        }
    H5Sclose(space);
    H5Dclose(d);
    H5Fclose(file);
    printf("all %llu are there\n", (unsigned long long)count);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, nranks, values[EACH];
    if (argc == 3 && strcmp(argv[2], "--check") == 0)
        return check(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);
    hid_t   file  = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hsize_t all = (hsize_t)(EACH * nranks), start = (hsize_t)(EACH * rank), count = EACH;
    hid_t   space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &count, NULL);
    hid_t   d     = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    for (int i = 0; i < EACH; i++)
        values[i] = EACH * rank + i + 1;
    int failed = H5Dwrite(d, H5T_NATIVE_INT, memory, space, dxpl, values) < 0;
    MPI_Finalize();
    return failed;
}
