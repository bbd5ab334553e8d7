/* What one file shows, or gives up, can wait in another: mounted, linked, opened twice, or copied from. */
#include "../cases/cases.h"
#include <signal.h>
#include <sys/resource.h>

enum { EACH = 100, MANY = 120000, FEWER = 24000, ROUNDS = 8 };

static hid_t own_file(const char *prefix)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d.h5", prefix, rank);
    hid_t fapl = on(MPI_COMM_SELF), file = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    H5Pclose(fapl);
    return file;
}

static void make_group(hid_t file, const char *name) { OK(H5Gclose(ID(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)))); }

/* Each rank mounts a file of its own in one of all, and removes a dataset of it by way of that; another one gets its space. */
CASE(deleted_in_a_mounted_file_of_one_rank)
{
    enum { COUNT = 20000 };
    hid_t all = make_file("all.h5"), mine = own_file("mine");
    make_group(all, "m");
    hid_t d = make_ints(mine, "d", COUNT, H5P_DEFAULT);
    OK(H5Fmount(all, "m", mine, H5P_DEFAULT));
    write_ints(d, 0, COUNT, 7000, independent());
    OK(H5Dclose(d));
    OK(H5Ldelete(all, "m/d", H5P_DEFAULT));
    int   fill = 42;
    hid_t dcpl = ID(H5Pcreate(H5P_DATASET_CREATE));
    OK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    OK(H5Dclose(make_ints(all, "m/r", COUNT, dcpl)));
    H5Pclose(dcpl);
    OK(H5Funmount(all, "m"));
    OK(H5Fclose(all));
    OK(H5Fclose(mine));
    for (int i = 0; i < nranks; i++) {
        char name[32];
        snprintf(name, sizeof name, "mine%d.h5", i);
        barrier();
        expect_filled(name, "r", COUNT, fill);
    }
}

/* A flush of the file of all includes those that ranks have mounted in it. */
CASE(flush_of_a_parent_of_other_ranks)
{
    hid_t all = make_file("all.h5"), mine = own_file("mine");
    make_group(all, "m");
    hid_t d = make_ints(mine, "d", EACH, H5P_DEFAULT);
    OK(H5Fmount(all, "m", mine, H5P_DEFAULT));
    write_ints(d, 0, EACH, 2000, independent());
    OK(H5Fflush(all, H5F_SCOPE_GLOBAL));
    barrier();
    hid_t fapl = natively();
    OK(H5Pset_file_locking(fapl, false, true));
    char name[32];
    snprintf(name, sizeof name, "mine%d.h5", rank);
    hid_t again = ID(H5Fopen(name, H5F_ACC_RDONLY, fapl)), e = open_ints(again, "d");
    expect_ints(e, 0, EACH, 2000, H5P_DEFAULT, "after a flush of the parent");
    OK(H5Dclose(e));
    OK(H5Fclose(again));
    H5Pclose(fapl);
    OK(H5Dclose(d));
    OK(H5Funmount(all, "m"));
    OK(H5Fclose(all));
    OK(H5Fclose(mine));
    barrier();
}

/* All clear all, each writes its part, and looks at it: while others look at theirs. */
static hid_t cleared_and_written(hid_t file, int first)
{
    hid_t   d    = make_ints(file, "d", MANY, H5P_DEFAULT);
    hsize_t each = MANY / (hsize_t)nranks;
    write_ints(d, 0, MANY, -1000000, collective());
    write_ints(d, each * (hsize_t)rank, each, first, collective());
    return d;
}

CASE(copies_into_files_of_one_rank)
{
    hsize_t each = MANY / (hsize_t)nranks;
    for (int round = 0; round < ROUNDS; round++) {
        hid_t file = make_file("f.h5"), d = cleared_and_written(file, 5000 + round), mine = own_file("mine");
        for (int k = 0; k < 4; k++) {
            char to[16];
            snprintf(to, sizeof to, "d%d", k);
            OK(H5Ocopy(file, "d", mine, to, H5P_DEFAULT, H5P_DEFAULT));
            hid_t copy = open_ints(mine, to);
            expect_ints(copy, each * (hsize_t)rank, each, 5000 + round, independent(), "the rank's part in its copy");
            OK(H5Dclose(copy));
        }
        OK(H5Fclose(mine));
        OK(H5Dclose(d));
        OK(H5Fclose(file));
        expect_in_file("f.h5", "d", 0, each * (hsize_t)nranks, 5000 + round);
    }
}

#if H5_VERSION_GE(1, 14, 0)
/* One dataset twice in one call: HDF5 must read it. */
CASE(read_twice_in_one_call)
{
    hsize_t each = MANY / (hsize_t)nranks / 2 * 2, half = each / 2;
    int    *parts[2] = {malloc(half * sizeof(int)), malloc(half * sizeof(int))};
    for (int round = 0; round < ROUNDS; round++) {
        hid_t file = make_file("f.h5"), d = cleared_and_written(file, 5000 + round), memory = ID(H5Screate_simple(1, &half, NULL)), spaces[2];
        hsize_t starts[2];
        for (int i = 0; i < 2; i++) {
            starts[i] = MANY / (hsize_t)nranks * (hsize_t)rank + half * (hsize_t)i;
            spaces[i] = ID(H5Dget_space(d));
            OK(H5Sselect_hyperslab(spaces[i], H5S_SELECT_SET, &starts[i], NULL, &half, NULL));
        }
        hid_t datasets[2] = {d, d}, types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, memories[2] = {memory, memory};
        for (int k = 0; k < 4; k++) {
            void *buffers[2] = {parts[0], parts[1]};
            OK(H5Dread_multi(2, datasets, types, memories, spaces, independent(), buffers));
            for (int i = 0; i < 2; i++) {
                int last = 5000 + round + (int)(starts[i] + half - 1);
                EXPECT(parts[i][half - 1] == last, "part %d ends with %d, not %d", i, parts[i][half - 1], last);
            }
        }
        H5Sclose(spaces[0]);
        H5Sclose(spaces[1]);
        H5Sclose(memory);
        OK(H5Dclose(d));
        OK(H5Fclose(file));
    }
    free(parts[0]);
    free(parts[1]);
}
#endif

/* The source lies in a mounted file; the copy goes to a file of one rank, with MPI and without. */
CASE(copies_of_what_is_mounted)
{
    hid_t child = make_file("child.h5"), d = make_ints(child, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), parent = make_file("parent.h5");
    make_group(parent, "m");
    OK(H5Fmount(parent, "m", child, H5P_DEFAULT));
    char name[32];
    snprintf(name, sizeof name, "serial%d.h5", rank);
    hid_t targets[2] = {own_file("mine"), ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))};
    for (int i = 0; i < 2; i++) {
        write_ints(d, (hsize_t)(EACH * rank), EACH, 2000 + i, independent());
        OK(H5Ocopy(parent, "m/d", targets[i], "d", H5P_DEFAULT, H5P_DEFAULT));
        hid_t copy = open_ints(targets[i], "d");
        expect_ints(copy, (hsize_t)(EACH * rank), EACH, 2000 + i, H5P_DEFAULT, "the rank's part in its copy");
        OK(H5Dclose(copy));
        OK(H5Fclose(targets[i]));
    }
    OK(H5Funmount(parent, "m"));
    OK(H5Dclose(d));
    OK(H5Fclose(child));
    OK(H5Fclose(parent));
    barrier();
}

/* Writes to a dataset by two ways, in turn: each sees what came by the other, and the later one counts. */
static void in_turn(hid_t one, hid_t other)
{
    hsize_t start = (hsize_t)(EACH * rank);
    for (int i = 0; i < 6; i++) {
        hid_t dxpl = i % 3 == 2 ? independent() : collective();
        write_ints(i % 2 ? one : other, start, EACH, 1000 * i, dxpl);
        expect_ints(i % 2 ? other : one, start, EACH, 1000 * i, independent(), "by the other way");
    }
}

CASE(link_to_a_file_that_is_open)
{
    hid_t there = make_file("there.h5"), d = make_ints(there, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), here = make_file("here.h5");
    OK(H5Fflush(there, H5F_SCOPE_GLOBAL));
    barrier();
    OK(H5Lcreate_external("there.h5", "/d", here, "link", H5P_DEFAULT, H5P_DEFAULT));
    hid_t linked = open_ints(here, "link");
    in_turn(d, linked);
    OK(H5Dclose(linked));
    OK(H5Fclose(here));
    OK(H5Dclose(d));
    OK(H5Fclose(there));
    expect_in_file("there.h5", "d", 0, (hsize_t)(EACH * nranks), 5000);
}

CASE(closed_and_open_again)
{
    hid_t fapl = on_all();
    OK(H5Pset_fclose_degree(fapl, H5F_CLOSE_WEAK));
    hid_t before = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl)), old = make_ints(before, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    OK(H5Fflush(before, H5F_SCOPE_GLOBAL));
    OK(H5Fclose(before));
    barrier();
    hid_t file = ID(H5Fopen("f.h5", H5F_ACC_RDWR, fapl)), d = open_ints(file, "d");
    in_turn(d, old);
    OK(H5Dclose(d));
    OK(H5Dclose(old));
    OK(H5Fclose(file));
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 5000);
}

CASE(opened_by_two_calls)
{
    hid_t one = make_file("f.h5"), d = make_ints(one, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 70, collective());
    OK(H5Fflush(one, H5F_SCOPE_GLOBAL));
    barrier();
    hid_t two = open_file("f.h5"), e = open_ints(two, "d");
    expect_ints(e, (hsize_t)(EACH * rank), EACH, 70, independent(), "what was flushed");
    in_turn(d, e);
    OK(H5Dclose(e));
    OK(H5Fclose(two));
    OK(H5Dclose(d));
    OK(H5Fclose(one));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 5000);
}

/* Each rank opens the file of all by itself, too. */
CASE(opened_by_one_rank_beside_all)
{
    hid_t all = make_file("f.h5"), d = make_ints(all, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 70, collective());
    OK(H5Fflush(all, H5F_SCOPE_GLOBAL));
    barrier();
    hid_t fapl = on(MPI_COMM_SELF), mine = ID(H5Fopen("f.h5", H5F_ACC_RDWR, fapl)), e = open_ints(mine, "d");
    in_turn(d, e);
    OK(H5Dclose(e));
    OK(H5Fclose(mine));
    H5Pclose(fapl);
    barrier();
    OK(H5Dclose(d));
    OK(H5Fclose(all));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 5000);
}

/* Every rank opens the file for itself, and writes every so many elements: those between are of others. */
static void interleaved(hid_t dxpl)
{
    for (int round = 0; round < ROUNDS; round++) {
        hid_t file = make_file("f.h5"), d = make_ints(file, "d", FEWER, H5P_DEFAULT);
        write_ints(d, 0, rank ? 0 : FEWER, -1000000, collective());
        OK(H5Dclose(d));
        OK(H5Fclose(file));
        barrier();
        hid_t fapl = on(MPI_COMM_SELF), mine = ID(H5Fopen("f.h5", H5F_ACC_RDWR, fapl));
        d = open_ints(mine, "d");
        hsize_t start = (hsize_t)rank, stride = (hsize_t)nranks, count = FEWER / (hsize_t)nranks;
        hid_t   space = ID(H5Dget_space(d)), memory = ID(H5Screate_simple(1, &count, NULL));
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL));
        int *values = malloc(count * sizeof *values);
        for (hsize_t i = 0; i < count; i++)
            values[i] = 1000 * round + (int)(start + i * stride);
        barrier();
        OK(H5Dwrite(d, H5T_NATIVE_INT, memory, space, dxpl, values));
        free(values);
        H5Sclose(space);
        H5Sclose(memory);
        OK(H5Dclose(d));
        OK(H5Fclose(mine));
        H5Pclose(fapl);
        expect_in_file("f.h5", "d", 0, FEWER / (hsize_t)nranks * (hsize_t)nranks, 1000 * round);
    }
}

CASE(interleaved_by_ranks_alone) { interleaved(independent()); }
CASE(interleaved_by_ranks_alone_collectively) { interleaved(collective()); }

/* A file of all that rank 0 has opened by itself, too. */
static hid_t open_alone(const char *name)
{
    hid_t fapl = on(MPI_COMM_SELF), file = ID(H5Fopen(name, H5F_ACC_RDWR, fapl));
    H5Pclose(fapl);
    return file;
}

/* A rank reads what waits in two files, and another one the same in the other order. */
CASE(two_files_in_different_orders)
{
    hsize_t count = (hsize_t)(EACH * nranks), each = EACH, start = (hsize_t)(EACH * rank);
    hid_t   x = make_file("x.h5"), y = make_file("y.h5"), dx = make_ints(x, "d", count, H5P_DEFAULT), dy = make_ints(y, "d", count, H5P_DEFAULT);
    write_ints(dy, start, EACH, 0, collective());
    OK(H5Fflush(y, H5F_SCOPE_GLOBAL));
    barrier();
    hid_t alone = rank ? -1 : open_alone("y.h5"), d = rank ? dx : open_ints(alone, "d");
    hid_t memory = ID(H5Screate_simple(1, &each, NULL)), space = ID(H5Dget_space(dx));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &each, NULL));
    hid_t datasets[2] = {d, d}, types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, memories[2] = {memory, memory}, spaces[2] = {space, space};
    for (int i = 0; i < 1000; i++) {
        if (i % 50 == 0) {
            write_ints(dx, start, EACH, i, independent());
            write_ints(dy, start, EACH, i, independent());
        }
        int   parts[2][EACH];
        void *buffers[2] = {parts[0], parts[1]};
        OK(H5Dread_multi(2, datasets, types, memories, spaces, independent(), buffers));
        EXPECT(parts[1][0] == i / 50 * 50 + (int)start, "read %d in round %d", parts[1][0], i);
    }
    barrier();
    H5Sclose(memory);
    H5Sclose(space);
    if (rank == 0) {
        OK(H5Dclose(d));
        OK(H5Fclose(alone));
    }
    OK(H5Dclose(dx));
    OK(H5Dclose(dy));
    OK(H5Fclose(x));
    OK(H5Fclose(y));
}

/* Whole chunks by one way, elements by the other. */
CASE(chunks_directly_beside_another_way)
{
    hsize_t start = (hsize_t)(EACH * rank);
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), in_chunks(EACH));
    write_ints(d, start, EACH, 0, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    hid_t    alone = open_alone("f.h5"), e = open_ints(alone, "d");
    int      chunk[EACH];
    uint32_t filters = 0;
    size_t   bytes   = sizeof chunk;
    write_ints(d, start, EACH, 500, independent());
#if H5_VERSION_GE(2, 0, 0)
    OK(H5Dread_chunk2(e, H5P_DEFAULT, &start, &filters, chunk, &bytes));
#else
    OK(H5Dread_chunk(e, H5P_DEFAULT, &start, &filters, chunk));
#endif
    EXPECT(chunk[0] == 500 + (int)start, "the chunk begins with %d", chunk[0]);
    write_ints(d, start, EACH, 600, independent());
    for (int i = 0; i < EACH; i++)
        chunk[i] = 9000 + (int)start + i;
    OK(H5Dwrite_chunk(e, H5P_DEFAULT, 0, &start, bytes, chunk));
    barrier();
    OK(H5Dclose(e));
    OK(H5Fclose(alone));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 9000);
}

/* A dataset that was opened without MPI before anything was captured. */
CASE(opened_before_anything_was_captured)
{
    hsize_t start = (hsize_t)(EACH * rank);
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, start, EACH, 0, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    barrier();
    hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS));
    OK(H5Pset_file_locking(fapl, false, true));
    hid_t serial = ID(H5Fopen("f.h5", H5F_ACC_RDONLY, fapl)), e = open_ints(serial, "d");
    barrier();
    file = open_file("f.h5");
    d    = open_ints(file, "d");
    write_ints(d, start, EACH, 500, independent());
    expect_ints(e, start, EACH, 500, H5P_DEFAULT, "without MPI");
    OK(H5Dclose(e));
    OK(H5Fclose(serial));
    H5Pclose(fapl);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}

/* Runs while rank 0 cannot write beyond so many bytes of any file. */
static herr_t run_limited(rlim_t bytes, herr_t (*call)(hid_t), hid_t with)
{
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit          = before;
    limit.rlim_cur = bytes;
    if (rank == 0)
        setrlimit(RLIMIT_FSIZE, &limit);
    herr_t code = call(with);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    return code;
}

static herr_t write_first(hid_t d)
{
    hsize_t start = (hsize_t)(10 * rank), count = 10;
    hid_t   space = ID(H5Dget_space(d)), memory = ID(H5Screate_simple(1, &count, NULL));
    int     values[10];
    for (int i = 0; i < 10; i++)
        values[i] = 10 * rank + i;
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    herr_t code;
    H5E_BEGIN_TRY { code = H5Dwrite(d, H5T_NATIVE_INT, memory, space, collective(), values); }
    H5E_END_TRY
    H5Sclose(space);
    H5Sclose(memory);
    return code;
}

/* What one rank has in a file of its own that is the file of all cannot be written when all write together: nobody waits for it. */
CASE(failure_beside_a_call_of_all)
{
    enum { COUNT = 4000 };
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(COUNT * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(COUNT * rank), COUNT, 0, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    barrier();
    hid_t alone = rank ? -1 : open_alone("f.h5"), e = rank ? -1 : open_ints(alone, "d");
    barrier();
    file = open_file("f.h5");
    d    = open_ints(file, "d");
    if (rank == 0)
        write_ints(e, (hsize_t)(COUNT * nranks - 100), 100, 0, independent());
    /* Rank 0 may hear that something of its own is not there, and all that it has no room for what they have in common. */
    run_limited(8000, write_first, d);
    barrier();
    if (rank == 0) {
        OK(H5Dclose(e));
        OK(H5Fclose(alone));
    }
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(COUNT * nranks), 0);
}

static herr_t flush_it(hid_t file) { return H5Fflush(file, H5F_SCOPE_GLOBAL); }
static herr_t remove_it(hid_t file) { return H5Ldelete(file, "gone", H5P_DEFAULT); }

/* The same where it is mounted, and all flush or remove something: all fail, or none. */
static void fail_mounted(herr_t (*call)(hid_t))
{
    hid_t all = make_file("all.h5"), mine = own_file("mine"), d = make_ints(mine, "d", 100000, H5P_DEFAULT);
    make_group(all, "m");
    make_group(all, "gone");
    OK(H5Fflush(all, H5F_SCOPE_GLOBAL));
    OK(H5Fflush(mine, H5F_SCOPE_GLOBAL));
    OK(H5Fmount(all, "m", mine, H5P_DEFAULT));
    barrier();
    if (rank == 0)
        write_ints(d, 90000, 100, 500, independent());
    herr_t code;
    H5E_BEGIN_TRY { code = run_limited(8000, call, all); }
    H5E_END_TRY
    int codes[2] = {code, -code};
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT(codes[0] == -codes[1], "a call said %d here, and %d to %d elsewhere", code, -codes[1], codes[0]);
    OK(H5Funmount(all, "m"));
    OK(H5Dclose(d));
    OK(H5Fclose(mine));
    OK(H5Fclose(all));
    char name[32];
    snprintf(name, sizeof name, "mine%d.h5", 0);
    expect_in_file(name, "d", 90000, 100, 500);
}

CASE(failure_in_a_mounted_file_and_a_flush) { fail_mounted(flush_it); }
CASE(failure_in_a_mounted_file_and_a_removal) { fail_mounted(remove_it); }
