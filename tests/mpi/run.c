/* run LIBRARY ARGUMENT...: an ordinary MPI program that loads a library of Sago's at run time, as HDF5 does with a
 * plugin, and calls its sago_run with a communicator of the program's own. MPI is at MPI_THREAD_SINGLE.
 * Exit code 0 = sago_run returned 0 on every rank. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int level, failed;
    if (argc < 3) return fprintf(stderr, "run LIBRARY ARGUMENT...\n"), 2;
    void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    int (*run)(intptr_t, int, char **) = (int (*)(intptr_t, int, char **)) dlsym(library, "sago_run");
    if (!run) return fprintf(stderr, "%s\n", dlerror()), 2;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    intptr_t slot = 0;
    memcpy(&slot, &comm, sizeof comm);
    failed = run(slot, argc - 2, argv + 2);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failed ? 1 : 0;
}
