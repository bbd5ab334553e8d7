/* An ordinary parallel HDF5 program, as particle codes write them: each rank holds its share of the particles, and all
 * ranks write every variable of every time step together. It knows nothing of Sago.
 *
 *     mpicc demo.c -lhdf5 -lm -o demo
 *     mpiexec -n 4 ./demo particles.h5 100000
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 3, VARIABLES = 6 };
static const char *const names[VARIABLES] = {"x", "y", "z", "px", "py", "pz"};

static void must(long long result, const char *what)
{
    if (result >= 0) return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_attribute(hid_t object, const char *name, double value)
{
    hid_t space     = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), "H5Awrite");
    must(H5Aclose(attribute), "H5Aclose");
    must(H5Sclose(space), "H5Sclose");
}

/* One variable: every rank writes its own stretch of the dataset, in one collective call. */
static void write_variable(hid_t step, const char *name, const float *mine, hsize_t count, int rank, int ranks)
{
    hsize_t total = count * ranks, start = count * rank;
    hid_t   memory = H5Screate_simple(1, &count, NULL), space = H5Screate_simple(1, &total, NULL);
    hid_t   transfer = H5Pcreate(H5P_DATASET_XFER);
    must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL), "H5Sselect_hyperslab");
    hid_t dataset = H5Dcreate2(step, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(dataset, "H5Dcreate2");
    must(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, transfer, mine), "H5Dwrite");
    must(H5Dclose(dataset), "H5Dclose");
    must(H5Pclose(transfer), "H5Pclose");
    must(H5Sclose(space), "H5Sclose");
    must(H5Sclose(memory), "H5Sclose");
}

/* Something that depends on everything, so that a byte in the wrong place shows. */
static void move(float *mine, hsize_t count, int rank, int step, int variable)
{
    for (hsize_t i = 0; i < count; i++)
        mine[i] = (float)(sin(0.001 * (double)i + rank) + 10 * variable + 100 * step);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) {
        if (rank == 0) fprintf(stderr, "usage: demo FILE PARTICLES_PER_RANK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    hsize_t count  = strtoull(argv[2], NULL, 10);
    float  *mine   = malloc(count * sizeof *mine);
    hid_t   access = H5Pcreate(H5P_FILE_ACCESS);
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    double start = MPI_Wtime();
    hid_t  file  = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    must(file, "H5Fcreate");
    for (int step = 0; step < STEPS; step++) {
        char name[32];
        snprintf(name, sizeof name, "Step#%d", step);
        hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        must(group, "H5Gcreate2");
        write_attribute(group, "time", 0.25 * step);
        for (int v = 0; v < VARIABLES; v++) {
            move(mine, count, rank, step, v);
            write_variable(group, names[v], mine, count, rank, ranks);
        }
        must(H5Gclose(group), "H5Gclose");
    }
    must(H5Fclose(file), "H5Fclose");
    must(H5Pclose(access), "H5Pclose");
    double seconds = MPI_Wtime() - start;
    double mb      = (double)(STEPS * VARIABLES * count * ranks * sizeof *mine) / 1e6;
    if (rank == 0)
        printf("%d ranks wrote %d steps of %d variables, %.1f MB, in %.2f s\n", ranks, STEPS, VARIABLES, mb, seconds);
    free(mine);
    must(H5close(), "H5close");
    MPI_Finalize();
    return 0;
}
