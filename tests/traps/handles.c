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

/* Handles of one dataset differ in how its metadata are read, and ranks have different ones open already. */
CASE(opened_in_different_ways)
{
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), in_chunks(30)), dapl = H5Pcreate(H5P_DATASET_ACCESS);
    OK(H5Pset_all_coll_metadata_ops(dapl, true));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Dclose(d));
    hid_t early = rank == 0 ? open_ints(file, "d") : H5I_INVALID_HID;
    d           = ID(H5Dopen2(file, "d", dapl));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 2, collective());
    hsize_t larger = (hsize_t)(2 * EACH * nranks);
    OK(H5Dset_extent(d, &larger));
    if (early >= 0)
        write_ints(early, larger / 2, EACH, 4, independent());
    barrier();
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    OK(H5Dclose(d));
    d = open_ints(file, "d");
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 3, collective());
    OK(H5Dclose(d));
    if (early >= 0)
        OK(H5Dclose(early));
    OK(H5Fclose(file));
    H5Pclose(dapl);
    expect_in_file("f.h5", "d", 0, EACH / 2, 3);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 2);
    expect_in_file("f.h5", "d", larger / 2, EACH, 4);
}

/* A group that is removed while it is open goes when it is closed, and its dataset with it: what was written there must not come
 * after what lies in its place by then. */
CASE(dataset_of_a_removed_group)
{
    hsize_t all  = (hsize_t)(EACH * nranks);
    hid_t   file = make_file("f.h5"), group = ID(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t   d = make_ints(group, "d", all, H5P_DEFAULT);
    OK(H5Ldelete(file, "g", H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH, -5000, collective());
    OK(H5Gclose(group));
    OK(H5Dclose(d));
    hid_t dcpl = in_chunks(all);
    OK(H5Pset_shuffle(dcpl));
    hid_t filled = in_chunks(0);
    int   fill = 3;
    OK(H5Pset_fill_value(filled, H5T_NATIVE_INT, &fill));
    hid_t e = make_ints(file, "e", all, dcpl), plain = make_ints(file, "plain", all, filled);
    write_ints(e, (hsize_t)(EACH * rank), EACH, 7, collective());
    OK(H5Dclose(e));
    OK(H5Dclose(plain));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "e", 0, all, 7);
    expect_filled("f.h5", "plain", all, fill);
}

/* One rank clears, all write their parts, and some write by themselves to a dataset that is left to HDF5. */
CASE(parts_beside_a_dataset_of_hdf5)
{
    hid_t fapl = on_all();
    OK(H5Pset_all_coll_metadata_ops(fapl, true));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl)), all = (hid_t)(EACH * nranks);
    hid_t d = make_ints(file, "d", (hsize_t)all, H5P_DEFAULT), other = make_ints(file, "other", (hsize_t)all, in_chunks(EACH));
    write_ints(d, 0, rank == 0 ? (hsize_t)all : 0, -1000, collective());
    write_ints(d, (hsize_t)(EACH * rank), EACH, 5, collective());
    if (rank % 2)
        write_ints(other, (hsize_t)(EACH * rank), EACH, 6, independent());
    OK(H5Dclose(other));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, (hsize_t)all, 5);
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
