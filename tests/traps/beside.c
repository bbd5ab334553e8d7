/* What HDF5 writes by itself beside what waits, or goes to the file meanwhile. */
#include "../cases/cases.h"

enum { EACH = 100 };

static hid_t filled_with(int fill)
{
    hid_t dcpl = in_chunks(0);
    OK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    return dcpl;
}

/* A dataset that never gets a name loses its storage when it is closed, and another one gets it. */
CASE(dataset_without_a_name)
{
    hsize_t all = (hsize_t)(EACH * nranks);
    hid_t   file = make_file("f.h5"), space = H5Screate_simple(1, &all, NULL);
    hid_t   d = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH, -5000, collective());
    OK(H5Dclose(d));
    OK(H5Dclose(make_ints(file, "next", all, filled_with(3))));
    OK(H5Fclose(file));
    H5Sclose(space);
    expect_filled("f.h5", "next", all, 3);
}

/* So does one in a group that never gets a name. */
CASE(group_without_a_name)
{
    hsize_t all  = (hsize_t)(EACH * nranks);
    hid_t   file = make_file("f.h5"), group = ID(H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT));
    hid_t   d    = make_ints(group, "d", all, H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, -5000, collective());
    OK(H5Dclose(d));
    OK(H5Gclose(group));
    OK(H5Dclose(make_ints(file, "next", all, filled_with(3))));
    OK(H5Fclose(file));
    expect_filled("f.h5", "next", all, 3);
}

/* One that gets its name late keeps what was written before and after. */
CASE(dataset_named_late)
{
    hsize_t all = (hsize_t)(EACH * nranks);
    hid_t   file = make_file("f.h5"), space = H5Screate_simple(1, &all, NULL);
    hid_t   d = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Olink(d, file, "d", H5P_DEFAULT, H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Sclose(space);
    expect_in_file("f.h5", "d", 0, EACH / 2, 2);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 1);
}

/* A dataset loses its name and gets another; one rank has looked at it in between. */
CASE(dataset_named_again)
{
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Ldelete(file, "d", H5P_DEFAULT));
    if (rank == 0)
        expect_ints(d, 0, EACH, 1, independent(), "without a name");
    barrier();
    OK(H5Olink(d, file, "e", H5P_DEFAULT, H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 2, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "e", 0, (hsize_t)(EACH * nranks), 2);
}

/* Where metadata are read collectively, a link goes while only some ranks have a dataset open. */
CASE(link_removed_while_some_have_a_dataset)
{
    hid_t fapl = on_all();
    OK(H5Pset_all_coll_metadata_ops(fapl, true));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    OK(H5Dclose(make_ints(file, "x", EACH, H5P_DEFAULT)));
    if (rank)
        OK(H5Dclose(d));
    OK(H5Ldelete(file, "x", H5P_DEFAULT));
    hid_t again = open_ints(file, "d");
    write_ints(again, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Dclose(again));
    if (!rank)
        OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 1);
}

/* Where metadata are read collectively, one rank uses a dataset that was made without a name. */
CASE(one_rank_with_a_dataset_named_late)
{
    hsize_t all = (hsize_t)(EACH * nranks);
    hid_t   fapl = on_all(), space = H5Screate_simple(1, &all, NULL);
    OK(H5Pset_all_coll_metadata_ops(fapl, true));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    hid_t d    = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    OK(H5Olink(d, file, "d", H5P_DEFAULT, H5P_DEFAULT));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    if (rank == nranks - 1) {
        write_ints(d, 0, EACH, 2, independent());
        expect_ints(d, 0, EACH, 2, independent(), "its own");
    }
    barrier();
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Sclose(space);
    H5Pclose(fapl);
    expect_in_file("f.h5", "d", 0, EACH, 2);
    expect_in_file("f.h5", "d", EACH, all - EACH, 1);
}

/* HDF5 itself must do a rank's part of a write to a dataset that loses its space at once, and another dataset gets it. */
CASE(part_by_hdf5_of_a_dataset_that_goes)
{
    enum { LONG = 256 << 10 };
    hsize_t all = (hsize_t)LONG * (hsize_t)nranks;
    hid_t   fapl = on_all(), space = H5Screate_simple(1, &all, NULL), dxpl = ID(H5Pcopy(collective()));
    OK(H5Pset_all_coll_metadata_ops(fapl, true));
    if (rank == nranks - 1)
        OK(H5Pset_data_transform(dxpl, "x-5000"));
    for (int round = 0; round < 3; round++) {
        hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
        hid_t d    = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
        write_ints(d, (hsize_t)LONG * (hsize_t)rank, LONG, -5000, dxpl);
        if (gentle)
            barrier();
        OK(H5Dclose(d));
        OK(H5Dclose(make_ints(file, "next", all, filled_with(3))));
        OK(H5Fclose(file));
        expect_filled("f.h5", "next", all, 3);
    }
    H5Pclose(dxpl);
    H5Sclose(space);
    H5Pclose(fapl);
}

/* All ranks write and read chunks as they are, together. */
CASE(chunks_directly_and_together)
{
    hsize_t  all = (hsize_t)(EACH * nranks), mine = (hsize_t)(EACH * rank);
    hid_t    file = make_file("f.h5"), d = make_ints(file, "d", all, in_chunks(EACH));
    int      bytes[EACH], found[EACH];
    uint32_t filters = 0;
    for (int i = 0; i < EACH; i++)
        bytes[i] = 5 + EACH * rank + i;
    write_ints(d, mine, EACH, 1, collective());
    OK(H5Dwrite_chunk(d, collective(), 0, &mine, sizeof bytes, bytes));
    write_ints(d, mine, EACH / 2, 3, collective());
#if H5_VERSION_GE(2, 0, 0)
    size_t room = sizeof found;
    OK(H5Dread_chunk2(d, collective(), &mine, &filters, found, &room));
#else
    OK(H5Dread_chunk(d, collective(), &mine, &filters, found));
#endif
    EXPECT(found[0] == 3 + EACH * rank && found[EACH - 1] == 5 + EACH * rank + EACH - 1, "a chunk has %d and %d", found[0], found[EACH - 1]);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, EACH / 2, 3);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 5);
}

/* One rank clears two datasets, and all write their parts of the second. */
static void clear_and_write_parts(hid_t d, hid_t other, int *mine)
{
    hsize_t all = (hsize_t)(EACH * nranks);
    for (int i = 0; i < EACH; i++)
        mine[i] = 5 + EACH * rank + i;
    write_ints(d, 0, rank == 0 ? all : 0, -1000, collective());
    write_ints(other, 0, rank == 0 ? all : 0, -1000, collective());
    write_ints(other, (hsize_t)(EACH * rank), EACH, 7, collective());
    barrier();
}

/* All but the first rank have written their parts of the first one by themselves. */
static void expect_parts(void)
{
    hsize_t all = (hsize_t)(EACH * nranks);
    expect_in_file("f.h5", "d", 0, EACH, -1000);
    expect_in_file("f.h5", "d", EACH, all - EACH, 5);
    expect_in_file("f.h5", "other", 0, all, 7);
}

/* One rank clears, and the others write chunks of their own past HDF5's selections. */
CASE(chunks_written_directly_after_a_clear)
{
    hsize_t all = (hsize_t)(EACH * nranks), mine = (hsize_t)(EACH * rank);
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", all, in_chunks(EACH)), other = make_ints(file, "other", all, H5P_DEFAULT);
    int     bytes[EACH];
    clear_and_write_parts(d, other, bytes);
    if (rank) {
        OK(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &mine, sizeof bytes, bytes));
        expect_ints(d, mine, EACH, 5, independent(), "its own chunk");
    }
    OK(H5Dclose(other));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_parts();
}

/* One rank clears, and the others write their parts together with a dataset that is left to HDF5. */
CASE(parts_with_a_dataset_of_hdf5_after_a_clear)
{
    hsize_t all = (hsize_t)(EACH * nranks), mine = (hsize_t)(EACH * rank), count = EACH;
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", all, H5P_DEFAULT), other = make_ints(file, "other", all, H5P_DEFAULT);
    hid_t   dcpl = in_chunks(0);
    OK(H5Pset_external(dcpl, "outside", 0, all * sizeof(int)));
    hid_t outside = make_ints(file, "outside", all, dcpl), to = ID(H5Dget_space(d)), from = H5Screate_simple(1, &count, NULL);
    int   ints[EACH];
    OK(H5Sselect_hyperslab(to, H5S_SELECT_SET, &mine, NULL, &count, NULL));
    clear_and_write_parts(d, other, ints);
    hid_t       datasets[] = {d, outside}, kinds[] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, memories[] = {from, from}, files[] = {to, to};
    const void *buffers[]  = {ints, ints};
    if (rank) {
        OK(H5Dwrite_multi(2, datasets, kinds, memories, files, independent(), buffers));
        expect_ints(d, mine, EACH, 5, independent(), "its own part");
    }
    H5Sclose(from);
    H5Sclose(to);
    H5Pclose(dcpl);
    OK(H5Dclose(outside));
    OK(H5Dclose(other));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_parts();
}

/* HDF5 fills the chunks of a new dataset, some of which lie before what was just written and some behind it: it reads what is in
 * between, and writes it back. */
CASE(chunks_filled_around_what_was_written)
{
    enum { CHUNK = 16 << 10, LONG = 270 << 10 }; /* ints */
    for (int round = 0; round < 4; round++) {
        hid_t file = make_file("f.h5");
        OK(H5Dclose(make_ints(file, "old", 3 * CHUNK, H5P_DEFAULT)));
        OK(H5Dclose(make_ints(file, "wall", EACH, H5P_DEFAULT)));
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        OK(H5Ldelete(file, "old", H5P_DEFAULT));
        hid_t d = make_ints(file, "d", (hsize_t)LONG * (hsize_t)nranks, H5P_DEFAULT);
        write_ints(d, (hsize_t)LONG * (hsize_t)rank, LONG, round, collective());
        hid_t dcpl = in_chunks(CHUNK);
        OK(H5Dclose(make_ints(file, "c", (hsize_t)CHUNK * (hsize_t)(3 * nranks + 1), dcpl)));
        H5Pclose(dcpl);
        OK(H5Dclose(d));
        OK(H5Fclose(file));
        expect_in_file("f.h5", "d", 0, (hsize_t)LONG * (hsize_t)nranks, round);
    }
}

/* The same where all ranks write metadata together, among small datasets. */
CASE(metadata_written_around_what_was_written)
{
    enum { SMALL = 16 << 10, MANY = 20, NOTES = 12 }; /* ints, datasets, attributes of each */
    hid_t fapl = on_all(), note = H5Screate_simple(1, &(hsize_t){1000}, NULL);
    int   text[1000] = {0};
    OK(H5Pset_coll_metadata_write(fapl, true));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    char  name[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "d%d", i);
        hid_t d = make_ints(file, name, (hsize_t)SMALL * (hsize_t)nranks, H5P_DEFAULT);
        write_ints(d, (hsize_t)SMALL * (hsize_t)rank, SMALL, i, collective());
        for (int a = 0; a < NOTES; a++) {
            snprintf(name, sizeof name, "note %d", a);
            hid_t attribute = ID(H5Acreate2(d, name, H5T_NATIVE_INT, note, H5P_DEFAULT, H5P_DEFAULT));
            OK(H5Awrite(attribute, H5T_NATIVE_INT, text));
            OK(H5Aclose(attribute));
        }
        OK(H5Dclose(d));
    }
    OK(H5Fclose(file));
    H5Sclose(note);
    H5Pclose(fapl);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "d%d", i);
        expect_in_file("f.h5", name, 0, (hsize_t)SMALL * (hsize_t)nranks, i);
    }
}
