/*
 * remains FILE VARIABLE FAULT
 *
 * A collective write of all, converted on the way, fails in the middle, since the environment variable is set to the fault. What the
 * first rank then writes by itself into the last one's part must be there in the end: nothing of the write that failed comes later.
 */
#include "tell.h"

enum { EACH = 1 << 17, FEW = 1024 };

/* Writes COUNT doubles from START on, all of one value. */
static void fill(const char *call, hid_t d, hsize_t start, hsize_t count, double value, hid_t dxpl)
{
    hid_t   space = H5Dget_space(d), memory = H5Screate_simple(1, &count, NULL);
    double *values = malloc(count * sizeof *values);
    for (hsize_t i = 0; i < count; i++)
        values[i] = value;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    tell(call, H5Dwrite(d, H5T_NATIVE_DOUBLE, memory, space, dxpl, values));
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
}

/* Whether so many values from START on are this one. */
static int are(const char *name, hsize_t start, float value)
{
    hsize_t count = FEW;
    hid_t   file = H5Fopen(name, H5F_ACC_RDONLY, native_list()), d = H5Dopen2(file, "d", H5P_DEFAULT), space = H5Dget_space(d);
    hid_t   memory = H5Screate_simple(1, &count, NULL);
    float   values[FEW];
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    int code = H5Dread(d, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values);
    for (int i = 0; i < FEW; i++)
        if (values[i] != value)
            code = -1;
    H5Sclose(space);
    H5Sclose(memory);
    H5Dclose(d);
    H5Fclose(file);
    return code;
}

int main(int argc, char **argv)
{
    start(&argc, &argv, 50);
    setenv(argv[2], argv[3], 1);
    hsize_t all = (hsize_t)EACH * (hsize_t)nranks, last = all - EACH;
    hid_t   file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, on_all()), space = H5Screate_simple(1, &all, NULL);
    hid_t   d = H5Dcreate2(file, "d", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    fill("write", d, (hsize_t)EACH * (hsize_t)rank, EACH, -1, transfer(H5FD_MPIO_COLLECTIVE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        fill("second", d, last, FEW, 7, transfer(H5FD_MPIO_INDEPENDENT));
    MPI_Barrier(MPI_COMM_WORLD);
    tell("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
    H5Dclose(d);
    tell("close", H5Fclose(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        tell("kept", 0);
        tell("later", are(argv[1], last, 7));
    }
    return end();
}
