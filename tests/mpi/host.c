/* host LIBRARY ABI [default|handle|large]: an ordinary MPI program that loads Sago's transport tests at run time and
 * hands in its communicator, as HDF5 does with a plugin. Linked with MPI like any program, so MPI's data symbols are
 * copied into it. MPI is at MPI_THREAD_SINGLE. Exit code 0 = every rank found all cases right. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A mistake on a communicator of Sago's: the error must come back to us. */
static int errors_return(intptr_t slot)
{
    MPI_Comm comm;
    char text[MPI_MAX_ERROR_STRING];
    int n, len = 0, byte = 0;
    memcpy(&comm, &slot, sizeof comm);
    MPI_Comm_size(comm, &n);
    int code = MPI_Send(&byte, 1, MPI_INT, n + 5, 0, comm);
    return code != MPI_SUCCESS && MPI_Error_string(code, text, &len) == MPI_SUCCESS && len > 0;
}

typedef int conformance_fn(intptr_t comm, const char *abi, void *handle, int (*errors_return)(intptr_t), int large);

int main(int argc, char **argv)
{
    int rank, failed = 0, level, mine;
    if (argc < 3) return 2;
    const char *how = argc > 3 ? argv[3] : "default";
    void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    conformance_fn *conformance = (conformance_fn *) dlsym(library, "sago_conformance");
    int (*not_active)(int) = (int (*)(int)) dlsym(library, "sago_not_active");
    if (!conformance || !not_active) return fprintf(stderr, "%s\n", dlerror()), 2;

    if (not_active(0)) failed += printf("FAIL before MPI_Init\n");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    /* A communicator of the program's own, in a slot of 8 bytes. */
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    intptr_t slot = 0;
    memcpy(&slot, &comm, sizeof comm);
    void *handle = strcmp(how, "handle") ? NULL : dlopen(NULL, RTLD_LAZY);
    mine = conformance(slot, argv[2], handle, errors_return, !strcmp(how, "large"));
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failed += mine;
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (not_active(1)) failed += printf("FAIL after MPI_Finalize\n");
    if (rank == 0) printf(failed ? "failed\n" : "all right\n");
    return failed ? 1 : 0;
}
