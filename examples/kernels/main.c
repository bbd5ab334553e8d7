/* I/O kernels of parallel codes, as one program: kernels NAME --file PATH [options] [--then NAME ...]. */
#include "kernel.h"

static const Kernel *const all[] = {&vpic, &hacc, &flash, &vorpal,  &gcrm, &tile,
                                    &btio, &ior,  &s3d,   &latency, &posix};
enum { KERNELS = sizeof all / sizeof *all };

static int list(int rank)
{
    if (rank == 0) {
        printf("usage: kernels NAME --file PATH [options] [--then NAME ...]; NAME --help lists the options\n");
        for (int i = 0; i < KERNELS; i++) printf("  %-8s %s\n", all[i]->name, all[i]->help);
    }
    return 2;
}

/* One kernel, with a line of its own; its exit status. */
static int run_one(int argc, char **argv)
{
    Run r = {.comm = MPI_COMM_WORLD};
    MPI_Comm_rank(r.comm, &r.rank);
    MPI_Comm_size(r.comm, &r.ranks);
    r.one_clock = have_one_clock(r.comm);
    for (int i = 0; i < KERNELS && argc > 0; i++)
        if (!strcmp(argv[0], all[i]->name)) r.kernel = all[i];
    if (!r.kernel) return list(r.rank);
    parse_options(&r, argc - 1, argv + 1);
    int status = r.kernel->main ? r.kernel->main(&r) : drive(&r);
    for (int i = 0; i < BUFFERS_MAX; i++) free(r.buffers[i].memory);
    if (r.opt.hints != MPI_INFO_NULL) MPI_Info_free(&r.opt.hints);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0, first = 1;
    MPI_Init(&argc, &argv);
    for (int i = 1; i <= argc && !status; i++)
        if (i == argc || !strcmp(argv[i], "--then")) {
            status = run_one(i - first, argv + first);
            first = i + 1;
        }
    H5close();
    MPI_Finalize();
    return status;
}
