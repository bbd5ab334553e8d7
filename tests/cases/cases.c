#include "cases.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CASES_MAX = 64, SECONDS_PER_CASE = 60, WHY_MAX = 3000 };

int  rank, nranks;
bool gentle;

static struct {
    const char *name;
    void (*run)(void);
} cases[CASES_MAX];
static int         case_count;
static const char *current = "nothing";
static int         failures;
static char        why[WHY_MAX];

void add_case(const char *name, void (*run)(void))
{
    if (case_count < CASES_MAX) {
        cases[case_count].name  = name;
        cases[case_count++].run = run;
    }
}

void fails(const char *file, int line, const char *format, ...)
{
    const char *base = strrchr(file, '/');
    size_t      at   = strlen(why);
    failures++;
    at += (size_t)snprintf(why + at, sizeof why - at, "%s:%d: rank %d: ", base ? base + 1 : file, line, rank);
    if (at >= sizeof why)
        return;
    va_list args;
    va_start(args, format);
    at += (size_t)vsnprintf(why + at, sizeof why - at, format, args);
    va_end(args);
    if (at + 1 < sizeof why)
        strcat(why, "\n");
}

static herr_t frame(unsigned n, const H5E_error2_t *error, void *to)
{
    char  *stack = to;
    size_t at    = strlen(stack);
    snprintf(stack + at, 2000 - at, "\n    #%u %s: %s", n, error->func_name, error->desc ? error->desc : "");
    return 0;
}

int64_t must(const char *file, int line, const char *call, int64_t result)
{
    if (result < 0) {
        char stack[2000] = "";
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, frame, stack);
        fails(file, line, "%s failed%s", call, stack);
    }
    return result;
}

static void blame(int signal)
{
    char line[256];
    int  n = snprintf(line, sizeof line, "case %s, rank %d: %s\n", current, rank, signal == SIGALRM ? "hangs" : "crashed");
    if (write(2, line, (size_t)n) < 0)
        _exit(125);
    _exit(124);
}

/* Rank 0 tells for all; the first rank that has something to say is heard. */
static int verdict(void)
{
    int total = 0, mine = failures ? rank : nranks, first = 0;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (total)
        MPI_Bcast(why, sizeof why, MPI_CHAR, first, MPI_COMM_WORLD);
    if (rank == 0) {
        printf(total ? "wrong %s: %s\n" : "ok %s\n", current, why);
        fflush(stdout);
    }
    return total ? 1 : 0;
}

static int run_case(int i)
{
    char back[4096];
    current  = cases[i].name;
    failures = 0;
    why[0]   = 0;
    if (rank == 0 && mkdir(current, 0777) != 0 && errno != EEXIST)
        fails(__FILE__, __LINE__, "%s: %s", current, strerror(errno));
    barrier();
    if (!getcwd(back, sizeof back) || chdir(current) != 0)
        fails(__FILE__, __LINE__, "%s: %s", current, strerror(errno));
    alarm(SECONDS_PER_CASE);
    cases[i].run();
    barrier();
    alarm(0);
    if (chdir(back) != 0)
        fails(__FILE__, __LINE__, "%s: %s", back, strerror(errno));
    return verdict();
}

int main(int argc, char **argv)
{
    int wrong = 0, named = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc < 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: %s DIR [--gentle] [CASE...]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    signal(SIGALRM, blame);
    signal(SIGSEGV, blame);
    signal(SIGBUS, blame);
    signal(SIGABRT, blame);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    for (int a = 2; a < argc; a++) {
        if (strcmp(argv[a], "--gentle") == 0) {
            gentle = true;
            continue;
        }
        int i = 0;
        while (i < case_count && strcmp(cases[i].name, argv[a]) != 0)
            i++;
        named++;
        wrong += i < case_count ? run_case(i) : 1;
    }
    for (int i = 0; named == 0 && i < case_count; i++)
        wrong += run_case(i);
    H5close();
    MPI_Finalize();
    return wrong ? 1 : 0;
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

hid_t on(MPI_Comm comm)
{
    hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS));
    OK(H5Pset_fapl_mpio(fapl, comm, MPI_INFO_NULL));
    return fapl;
}

hid_t on_all(void) { return on(MPI_COMM_WORLD); }

static hid_t transfer(H5FD_mpio_xfer_t mode)
{
    hid_t dxpl = ID(H5Pcreate(H5P_DATASET_XFER));
    OK(H5Pset_dxpl_mpio(dxpl, mode));
    return dxpl;
}

hid_t collective(void)
{
    static hid_t list;
    return list ? list : (list = transfer(H5FD_MPIO_COLLECTIVE));
}

hid_t independent(void)
{
    static hid_t list;
    return list ? list : (list = transfer(H5FD_MPIO_INDEPENDENT));
}

hid_t in_chunks(hsize_t chunk)
{
    hid_t dcpl = ID(H5Pcreate(H5P_DATASET_CREATE));
    if (chunk)
        OK(H5Pset_chunk(dcpl, 1, &chunk));
    return dcpl;
}

hid_t natively(void)
{
    hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS)), native = ID(H5VLregister_connector_by_name("native", H5P_DEFAULT));
    OK(H5Pset_vol(fapl, native, NULL));
    OK(H5VLclose(native));
    return fapl;
}

/* --- files and datasets ------------------------------------------------------------------------------------------- */

hid_t make_file(const char *name)
{
    hid_t fapl = on_all(), file = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    H5Pclose(fapl);
    return file;
}

hid_t open_file(const char *name)
{
    hid_t fapl = on_all(), file = ID(H5Fopen(name, H5F_ACC_RDWR, fapl));
    H5Pclose(fapl);
    return file;
}

hid_t make_ints(hid_t where, const char *name, hsize_t count, hid_t dcpl)
{
    hsize_t max   = dcpl != H5P_DEFAULT && H5Pget_layout(dcpl) == H5D_CHUNKED ? H5S_UNLIMITED : count;
    hid_t   space = ID(H5Screate_simple(1, &count, &max));
    hid_t   made  = ID(H5Dcreate2(where, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    H5Sclose(space);
    return made;
}

hid_t open_ints(hid_t where, const char *name) { return ID(H5Dopen2(where, name, H5P_DEFAULT)); }

/* The dataset's space with a range selected, and memory for it. */
static hid_t range_of(hid_t dataset, hsize_t start, hsize_t count, hid_t *memory)
{
    hid_t space = ID(H5Dget_space(dataset));
    *memory     = H5Screate_simple(1, &count, NULL);
    if (count)
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    else {
        OK(H5Sselect_none(space));
        OK(H5Sselect_none(*memory));
    }
    return space;
}

void write_ints(hid_t dataset, hsize_t start, hsize_t count, int first, hid_t dxpl)
{
    hid_t memory, space = range_of(dataset, start, count, &memory);
    int  *values = malloc((count + 1) * sizeof *values);
    for (hsize_t i = 0; i < count; i++)
        values[i] = first + (int)(start + i);
    OK(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, dxpl, values));
    memset(values, 0x5a, count * sizeof *values); /* the program may use its buffer again at once */
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
}

void expect_ints(hid_t dataset, hsize_t start, hsize_t count, int first, hid_t dxpl, const char *what)
{
    hid_t memory, space = range_of(dataset, start, count, &memory);
    int  *values = malloc((count + 1) * sizeof *values);
    memset(values, 0xa5, (count + 1) * sizeof *values);
    OK(H5Dread(dataset, H5T_NATIVE_INT, memory, space, dxpl, values));
    for (hsize_t i = 0; i < count; i++)
        if (values[i] != first + (int)(start + i)) {
            EXPECT(false, "%s: element %llu is %d, not %d", what, (unsigned long long)(start + i), values[i], first + (int)(start + i));
            break;
        }
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
}

void expect_in_file(const char *name, const char *dataset, hsize_t start, hsize_t count, int first)
{
    barrier();
    if (rank == 0) {
        hid_t fapl = natively(), file = ID(H5Fopen(name, H5F_ACC_RDONLY, fapl)), d = ID(H5Dopen2(file, dataset, H5P_DEFAULT));
        expect_ints(d, start, count, first, H5P_DEFAULT, "in the file");
        OK(H5Dclose(d));
        OK(H5Fclose(file));
        H5Pclose(fapl);
    }
    barrier();
}

void expect_filled(const char *file, const char *dataset, hsize_t count, int fill)
{
    hid_t fapl = natively();
    if (rank == 0) {
        int  *found = malloc(count * sizeof *found);
        hid_t f = ID(H5Fopen(file, H5F_ACC_RDONLY, fapl)), d = ID(H5Dopen2(f, dataset, H5P_DEFAULT));
        OK(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found));
        hsize_t i = 0;
        while (i < count && found[i] == fill)
            i++;
        EXPECT(i == count, "element %d of %s, which nobody wrote, is %d", (int)i, dataset, found[i]);
        OK(H5Dclose(d));
        OK(H5Fclose(f));
        free(found);
    }
    H5Pclose(fapl);
    barrier();
}
