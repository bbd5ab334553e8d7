/* I/O kernels of parallel codes, as one program: kernels NAME --file PATH [options]. */
#include "kernel.h"

static const Kernel *const all[] = {&vpic, &hacc, &flash, &vorpal,  &gcrm, &tile,
                                    &btio, &ior,  &s3d,   &latency, &posix};
enum { KERNELS = sizeof all / sizeof *all };

static int list(int rank)
{
    if (rank == 0) {
        printf("usage: kernels NAME --file PATH [options]; kernels NAME --help lists the options\n");
        for (int i = 0; i < KERNELS; i++) printf("  %-8s %s\n", all[i]->name, all[i]->help);
    }
    MPI_Finalize();
    return 2;
}

int main(int argc, char **argv)
{
    static Run r;
    MPI_Init(&argc, &argv);
    r.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(r.comm, &r.rank);
    MPI_Comm_size(r.comm, &r.ranks);
    for (int i = 0; i < KERNELS && argc > 1; i++)
        if (!strcmp(argv[1], all[i]->name)) r.kernel = all[i];
    if (!r.kernel) return list(r.rank);
    parse_options(&r, argc - 2, argv + 2);
    int status = r.kernel->main ? r.kernel->main(&r) : drive(&r);
    for (int i = 0; i < BUFFERS_MAX; i++) free(r.buffers[i].memory);
    H5close();
    MPI_Finalize();
    return status;
}
