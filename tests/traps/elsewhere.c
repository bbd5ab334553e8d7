/* What one file shows, or gives up, can wait in another: mounted, linked, opened twice, or copied from. */
#include "../cases/cases.h"

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
