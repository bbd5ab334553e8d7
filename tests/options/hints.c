/*
 * hints FILE [KEY=VALUE]...
 *
 * Writes interleaved columns together to a file that is opened with these hints in its MPI_Info (one that starts with
 * "rank" only on rank 0), flushes, and reads them back. The first rank prints how many system calls wrote during the flush
 * on all ranks, then "done".
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 65536, WIDTH = 16 };

static long written(void) {
    char  line[100];
    long  calls = -1;
    FILE *io    = fopen("/proc/self/io", "r");
    while (io && fgets(line, sizeof line, io))
        sscanf(line, "syscw: %ld", &calls);
    if (io)
        fclose(io);
    return calls;
}

static void check(long long result, const char *step) {
    if (result < 0) {
        printf("failed: %s\n", step);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 2; i < argc; i++) {
        int   alone = strncmp(argv[i], "rank ", 5) == 0;
        char *key = argv[i] + (alone ? 5 : 0), *value = strchr(key, '=');
        *value++ = 0;
        if (!alone || rank == 0)
            MPI_Info_set(info, key, value);
    }
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, info);
    H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);
    hsize_t size[2] = {ROWS, (hsize_t)ranks * WIDTH}, start[2] = {0, (hsize_t)rank * WIDTH}, count[2] = {ROWS, WIDTH};
    hid_t   file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    check(file, "create");
    hid_t space = H5Screate_simple(2, size, NULL), part = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    hid_t set = H5Dcreate2(file, "columns", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(set, "dataset");
    unsigned char *mine = malloc(ROWS * WIDTH), *back = calloc(ROWS, WIDTH);
    for (int i = 0; i < ROWS * WIDTH; i++)
        mine[i] = (unsigned char)(i * 7 + rank + 1);
    check(H5Dwrite(set, H5T_NATIVE_UCHAR, part, space, dxpl, mine), "write");
    long before = written();
    check(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    long calls = written() - before, all = 0;
    MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    check(H5Dread(set, H5T_NATIVE_UCHAR, part, space, dxpl, back), "read");
    check(memcmp(mine, back, ROWS * WIDTH) ? -1 : 0, "compare");
    H5Dclose(set);
    H5Sclose(part);
    H5Sclose(space);
    check(H5Fclose(file), "close");
    H5Pclose(dxpl);
    H5Pclose(fapl);
    MPI_Info_free(&info);
    free(mine);
    free(back);
    if (rank == 0)
        printf("writes %ld\ndone\n", all);
    MPI_Finalize();
    return 0;
}
