/* One dataset, several ways to hold it. */
#include "../cases/cases.h"
#include <unistd.h>

enum { EACH = 100 };

CASE(refresh)
{
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), in_chunks(40));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    for (int i = 2; i < 5; i++) {
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        barrier();
        OK(H5Drefresh(d));
        expect_ints(d, 0, (hsize_t)(EACH * nranks), i - 1, independent(), "after a refresh");
        barrier();
        write_ints(d, (hsize_t)(EACH * rank), EACH, i, i % 2 ? collective() : independent());
    }
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 4);
}

CASE(second_handle_after_extent)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), in_chunks(25));
    hid_t   again = ID(H5Freopen(file)), e = open_ints(again, "d"), f = open_ints(file, "d");
    hsize_t larger = (hsize_t)(2 * EACH * nranks), smaller = (hsize_t)(EACH * nranks);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    write_ints(e, (hsize_t)(EACH * rank), EACH / 2, 2, independent());
    expect_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, independent(), "through the first handle");
    OK(H5Dset_extent(d, &larger));
    barrier();
    write_ints(e, (hsize_t)(EACH * (nranks + rank)), EACH, 3, collective());
    expect_ints(f, (hsize_t)(EACH * (nranks + rank)), EACH, 3, collective(), "in the new part through the third handle");
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    barrier();
    OK(H5Dset_extent(f, &smaller));
    barrier();
    OK(H5Dset_extent(e, &larger));
    barrier();
    write_ints(d, (hsize_t)(EACH * (nranks + rank)), EACH, 4, collective());
    OK(H5Dclose(d));
    OK(H5Dclose(f));
    expect_ints(e, (hsize_t)(EACH * (nranks + rank)), EACH, 4, independent(), "after it shrank and grew");
    OK(H5Dclose(e));
    OK(H5Fclose(again));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, EACH / 2, 2);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 1);
    expect_in_file("f.h5", "d", (hsize_t)(EACH * nranks), (hsize_t)(EACH * nranks), 4);
}

/* The file's identifier goes first; the file lives on with its dataset. */
CASE(dataset_outlives_file)
{
    hid_t fapl = on_all();
    OK(H5Pset_fclose_degree(fapl, H5F_CLOSE_WEAK));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Fclose(file));
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, collective());
    expect_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, independent(), "after the file's identifier was closed");
    write_ints(d, (hsize_t)(EACH * rank), EACH / 4, 3, collective());
    OK(H5Dclose(d));
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, EACH / 4, 3);
    expect_in_file("f.h5", "d", EACH / 4, EACH / 2 - EACH / 4, 2);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 1);
}

/* Where metadata is read collectively, a rank that writes alone may ask nothing about the dataset. */
CASE(one_rank_writes_with_collective_metadata)
{
    hid_t fapl = on_all();
    OK(H5Pset_all_coll_metadata_ops(fapl, true));
    OK(H5Pset_coll_metadata_write(fapl, true));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    for (int who = 0; who < nranks; who++)
        if (rank == who) {
            write_ints(d, (hsize_t)(EACH * rank), EACH, 1, independent());
            expect_ints(d, (hsize_t)(EACH * rank), EACH, 1, independent(), "its own write");
        }
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    barrier();
    file = ID(H5Fopen("f.h5", H5F_ACC_RDWR, fapl));
    d    = open_ints(file, "d");
    if (rank == nranks - 1)
        write_ints(d, 0, EACH, 2, independent());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, EACH, 2);
    expect_in_file("f.h5", "d", EACH, (hsize_t)(EACH * (nranks - 1)), 1);
}

/* Ranks write together with different types in memory. */
CASE(memory_types_differ)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), space = ID(H5Dget_space(d));
    hsize_t start = (hsize_t)(EACH * rank), count = EACH;
    hid_t   memory = H5Screate_simple(1, &count, NULL);
    int     ints[EACH];
    double  doubles[EACH];
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    for (int i = 0; i < EACH; i++) {
        ints[i]    = EACH * rank + i;
        doubles[i] = EACH * rank + i;
    }
    OK(H5Dwrite(d, rank % 2 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, memory, space, collective(), rank % 2 ? (void *)doubles : (void *)ints));
    expect_ints(d, start, count, 0, independent(), "its own");
    H5Sclose(memory);
    H5Sclose(space);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 0);
}

/* A file that is closed is held by nobody: its space is free when it is deleted. */
CASE(closed_files_are_let_go)
{
    hid_t file = make_file("gone.h5"), d = make_ints(file, "d", (hsize_t)(64 * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(64 * rank), 64, 5, collective());
    write_ints(d, (hsize_t)(64 * rank), 1, 6, independent());
    expect_ints(d, (hsize_t)(64 * rank), 1, 6, independent(), "own");
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    for (int fd = 0; fd < 1024; fd++) {
        char    link[64], path[4096];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length < 0 ? 0 : length] = 0;
        EXPECT(!strstr(path, "gone.h5"), "descriptor %d still leads to %s", fd, path);
    }
    barrier();
}
