/*
 * conform list                 every case with the ranks it runs on
 * conform run DIR CASE...      the named cases, each in DIR/CASE/; progress goes to DIR/progress
 * conform run DIR @FILE        the same, names from a file
 *
 * Many cases share a launch, because launching costs more than most cases. The progress file says which one is running,
 * so that a crash or a hang can be blamed on its case.
 */
#include "frame.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>

#define EACH_TOPIC(X)                                                                                                \
    X(contiguous) X(chunked) X(filtered) X(compact) X(fill) X(extend) X(convert) X(compound) X(vlen) X(references)   \
    X(attributes) X(links) X(userlinks) X(external_links) X(mounts) X(iteration) X(copy) X(refresh) X(flush)         \
    X(async) X(multi) X(chunk_io) X(userblock) X(collective_metadata) X(committed) X(virtual_) X(external)           \
    X(objects) X(tokens) X(files) X(drivers) X(memory) X(dataset_info) X(selections) X(transfer) X(names) X(lists)   \
    X(old_api) X(swmr) X(reopen_library) X(callbacks) X(deep) X(errors_open) X(errors_data) X(errors_names)          \
    X(errors_file) X(errors_more)

#define DECLARE(topic) extern const Topic topic##_topic;
EACH_TOPIC(DECLARE)
#define LIST(topic) &topic##_topic,
static const Topic *const topics[] = {EACH_TOPIC(LIST) NULL};

static const struct {
    enum variant variant;
    const char  *name;
} variants[] = {{SERIAL, "serial"}, {SERIAL_NEW, "serial-new"}, {PARALLEL, "parallel"}, {PARALLEL_NEW, "parallel-new"}};

enum { SECONDS_PER_CASE = 120 };

int          rank, nranks;
enum variant variant;
static jmp_buf end_of_case;
static FILE   *progress;

static void run_named(const char *name, const char *root);
static int  list_cases(void);

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list_cases();
    if (argc < 4 || strcmp(argv[1], "run") != 0) {
        fprintf(stderr, "usage: conform list | conform run DIR CASE... | conform run DIR @FILE\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    watch_for_crashes();

    char root[4096], path[4200];
    if (!realpath(argv[2], root))
        fail("%s: %s", argv[2], strerror(errno));
    snprintf(path, sizeof path, "%s/progress", root);
    if (rank == 0 && !(progress = fopen(path, "a")))
        fail("%s: %s", path, strerror(errno));

    for (int i = 3; i < argc; i++) {
        if (argv[i][0] != '@') {
            run_named(argv[i], root);
            continue;
        }
        FILE *names = fopen(argv[i] + 1, "r");
        if (!names)
            fail("%s: %s", argv[i] + 1, strerror(errno));
        char line[256];
        while (fscanf(names, "%255s", line) == 1)
            run_named(line, root);
        fclose(names);
    }
    if (progress)
        fclose(progress);
    MPI_Finalize();
    return 0;
}

/* Serial cases on one rank, parallel ones as the case says; the newest format, where it adds little, on two and three. */
static void ranks_of(const Case *c, enum variant v, int *lo, int *hi)
{
    bool alone = v == SERIAL || v == SERIAL_NEW;
    *lo        = alone ? 1 : c->ranks_min ? c->ranks_min : v == PARALLEL_NEW ? 2 : 1;
    *hi        = alone ? 1 : c->ranks_max ? c->ranks_max : v == PARALLEL_NEW ? 3 : 4;
}

static int list_cases(void)
{
    for (const Topic *const *t = topics; *t; t++)
        for (const Case *c = (*t)->cases; c->name; c++)
            for (size_t v = 0; v < COUNT(variants); v++) {
                int lo, hi;
                ranks_of(c, variants[v].variant, &lo, &hi);
                if (c->variants & variants[v].variant)
                    printf("%s.%s.%s %d %d\n", (*t)->name, c->name, variants[v].name, lo, hi);
            }
    return 0;
}

/* The case whose full name this is: topic.case.variant. */
static const Case *find(const char *name, enum variant *which)
{
    char full[256];
    for (const Topic *const *t = topics; *t; t++)
        for (const Case *c = (*t)->cases; c->name; c++)
            for (size_t v = 0; v < COUNT(variants); v++) {
                snprintf(full, sizeof full, "%s.%s.%s", (*t)->name, c->name, variants[v].name);
                if ((c->variants & variants[v].variant) && strcmp(full, name) == 0) {
                    *which = variants[v].variant;
                    return c;
                }
            }
    return NULL;
}

static void mark(const char *what, const char *name, const char *reason)
{
    if (!progress)
        return;
    fprintf(progress, "%s %s%s%s\n", what, name, *reason ? " " : "", reason);
    fflush(progress);
}

static char skipped[256];

void skip(const char *reason)
{
    snprintf(skipped, sizeof skipped, "%s", reason);
    longjmp(end_of_case, 1);
}

static void run_until_skip(void (*run)(void))
{
    if (setjmp(end_of_case) == 0)
        run();
}

static void run_named(const char *name, const char *root)
{
    const Case *c = find(name, &variant);
    if (!c)
        fail("no case %s", name);
    int lo, hi;
    ranks_of(c, variant, &lo, &hi);
    if (nranks < lo || nranks > hi)
        fail("%s runs on %d to %d ranks, not %d", name, lo, hi, nranks);

    char dir[4400];
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    if (rank == 0 && mkdir(dir, 0777) != 0)
        fail("%s: %s", dir, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
    if (chdir(dir) != 0)
        fail("%s: %s", dir, strerror(errno));

    mark("begin", name, "");
    skipped[0] = 0;
    alarm(SECONDS_PER_CASE);
    transcript_begin(dir);
    run_until_skip(c->run);
    kit_end();
    transcript_end();
    alarm(0);
    MPI_Barrier(MPI_COMM_WORLD);
    mark(*skipped ? "skip" : "end", name, skipped);
    if (chdir(root) != 0)
        fail("%s: %s", root, strerror(errno));
}
