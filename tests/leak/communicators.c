/* Opens and writes three files at a time on all ranks, again and again: whatever is duplicated of the communicator must be given back. MPICH
 * has 2048 of them.
 *
 *   communicators TIMES FOLDER */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILES = 3 };

/* All ranks the same. */
static herr_t write(hid_t file)
{
    hsize_t count   = 100;
    int     numbers[100] = {0};
    hid_t   space   = H5Screate_simple(1, &count, NULL);
    hid_t   dataset = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t  written = H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(dataset);
    H5Sclose(space);
    return written;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int times = argc > 2 ? atoi(argv[1]) : 0;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    for (int time = 0; time < times; time++) {
        hid_t files[FILES];
        for (int i = 0; i < FILES; i++) {
            char name[4096];
            snprintf(name, sizeof name, "%s/communicators%d.h5", argv[2], i);
            files[i] = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
            if (files[i] < 0 || write(files[i]) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
        }
        for (int i = 0; i < FILES; i++)
            if (H5Fclose(files[i]) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    H5Pclose(fapl);
    if (!rank) printf("done %d\n", times);
    MPI_Finalize();
    return 0;
}
