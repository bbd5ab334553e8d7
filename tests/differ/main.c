/*
 * differ --dir DIR --seeds A..B [--gentle] [--seconds N]    programs A to B - 1, one after another
 * differ --dir DIR --seed N [--gentle] --show                one, its transcript to standard output, its files kept
 *
 * In DIR: results.RANK has a line "SEED HASH WRONGS" for each program, wrong.RANK the transcript of those that went
 * wrong, progress the seed that began last, coverage what the programs did (as rank 0 saw it).
 *
 * --gentle adds barriers where native HDF5 races with itself. It changes nothing that a program may see.
 */
#include "differ.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

int rank, nranks;

typedef struct {
    const char        *dir;
    unsigned long long from, to;
    unsigned           seconds;
    int                gentle, show;
} Options;

static unsigned long long current;

/* A hang or a crash is blamed on the seed and the operation. */
static void blame(int signal)
{
    char line[512];
    int  n = snprintf(line, sizeof line, "seed %llu, rank %d: %s while: %d %s\n", current, rank,
                      signal == SIGALRM ? "hangs" : "crashed", program.op, doing);
    if (write(2, line, (size_t)n) < 0)
        _exit(125);
    _exit(124);
}

static void usage(void)
{
    fprintf(stderr, "usage: differ --dir DIR (--seeds A..B | --seed N) [--gentle] [--seconds N] [--show]\n");
    exit(2);
}

static Options parse(int argc, char **argv)
{
    Options o = {.seconds = 60};
    const struct option known[] = {{"dir", 1, NULL, 'd'},       {"seeds", 1, NULL, 's'},      {"seed", 1, NULL, 'n'},
                                   {"gentle", 0, &o.gentle, 1}, {"seconds", 1, NULL, 't'}, {"show", 0, &o.show, 1}, {0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (c) {
            case 0: break;
            case 'd': o.dir = optarg; break;
            case 's':
                if (sscanf(optarg, "%llu..%llu", &o.from, &o.to) != 2)
                    usage();
                break;
            case 'n':
                o.from = strtoull(optarg, NULL, 10);
                o.to   = o.from + 1;
                break;
            case 't': o.seconds = (unsigned)atoi(optarg); break;
            default: usage();
        }
    if (!o.dir || o.to <= o.from)
        usage();
    return o;
}

static FILE *output(const char *name, int who)
{
    char path[64];
    snprintf(path, sizeof path, who < 0 ? "%s" : "%s.%d", name, who);
    FILE *file = fopen(path, "a");
    if (!file) {
        fprintf(stderr, "differ: %s: %s\n", path, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return file;
}

static void run_all(const Options *o)
{
    show          = o->show;
    FILE *results = output("results", rank), *bad = output("wrong", rank), *progress = rank == 0 ? output("progress", -1) : NULL;
    for (current = o->from; current < o->to; current++) {
        if (progress) {
            fprintf(progress, "%llu\n", current);
            fflush(progress);
        }
        alarm(o->seconds);
        transcript_begin(current);
        program_run(current, o->gentle, o->show);
        fprintf(results, "%llu %016llx %d\n", current, (unsigned long long)transcript_hash(), wrongs());
        fflush(results);
        if (wrongs()) {
            fputs(transcript_text(), bad);
            fflush(bad);
        }
    }
    alarm(0);
    if (progress) {
        FILE *coverage = output("coverage", -1);
        coverage_print(coverage);
        fclose(coverage);
        fclose(progress);
    }
    fclose(results);
    fclose(bad);
}

int main(int argc, char **argv)
{
    Options o = parse(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (nranks > RANKS_MAX || chdir(o.dir) != 0) {
        fprintf(stderr, "differ: %s\n", nranks > RANKS_MAX ? "too many ranks" : strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    signal(SIGALRM, blame);
    signal(SIGSEGV, blame);
    signal(SIGBUS, blame);
    signal(SIGFPE, blame);
    signal(SIGABRT, blame);
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    run_all(&o);
    H5close();
    MPI_Finalize();
    return 0;
}
