/* Selections that lead astray. */
#include "../cases/cases.h"

/* The union of a block and a series that contains it. HDF5 (1.14.5, 2.2.0) counts all elements of the series and then visits
 * its last block beyond the end of the dataset: what is there must be nobody's. A connector has to leave this to HDF5. */
CASE(selection_at_odds)
{
    enum { ALL = 163, SELECTED = 81 };
    hid_t file = make_file("f.h5"), mine = H5I_INVALID_HID;
    hid_t sets[64];
    for (int r = 0; r < nranks; r++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", r);
        sets[r] = make_ints(file, name, ALL, H5P_DEFAULT);
        snprintf(name, sizeof name, "nobodys%d", r);
        OK(H5Dclose(make_ints(file, name, ALL, H5P_DEFAULT)));
    }
    mine = sets[rank];
    hsize_t all = ALL, selected = SELECTED;
    hsize_t start = 150, stride = 6, one = 1, block = 3, zero = 0, count = 27;
    hid_t   odd = ID(H5Screate_simple(1, &all, NULL)), memory = ID(H5Screate_simple(1, &selected, NULL));
    OK(H5Sselect_hyperslab(odd, H5S_SELECT_SET, &start, &stride, &one, &block));
    OK(H5Sselect_hyperslab(odd, H5S_SELECT_OR, &zero, &stride, &count, &block));
    hid_t none = ID(H5Scopy(odd)), none_in_memory = ID(H5Scopy(memory));
    OK(H5Sselect_none(none));
    OK(H5Sselect_none(none_in_memory));
    int out[SELECTED], in[SELECTED] = {0};
    for (int i = 0; i < SELECTED; i++)
        out[i] = 1000 * rank + i;
    for (int r = 0; r < nranks; r++) {
        bool me = r == rank;
        OK(H5Dwrite(sets[r], H5T_NATIVE_INT, me ? memory : none_in_memory, me ? odd : none, collective(), out));
    }
    for (int r = 0; r < nranks; r++) {
        bool me = r == rank;
        OK(H5Dread(sets[r], H5T_NATIVE_INT, me ? memory : none_in_memory, me ? odd : none, collective(), in));
    }
    EXPECT(memcmp(in, out, sizeof in) == 0, "what was written is not what is read");
    OK(H5Dwrite(mine, H5T_NATIVE_INT, memory, odd, independent(), out));
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    write_ints(mine, 0, ALL, 7, independent());
    for (int r = 0; r < nranks; r++)
        OK(H5Dclose(sets[r]));
    OK(H5Fclose(file));
    H5Sclose(odd);
    H5Sclose(memory);
    H5Sclose(none);
    H5Sclose(none_in_memory);
    for (int r = 0; r < nranks; r++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", r);
        expect_in_file("f.h5", name, 0, ALL, 7);
    }
}

/* A rank writes some of its elements twice; what is left of the first write ends where the second one begins, in the file as
 * in the order of the program. */
CASE(own_elements_twice)
{
    enum { EACH = 20 };
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    hsize_t base = (hsize_t)(EACH * rank), all = (hsize_t)(EACH * nranks), three = 3;
    hsize_t points[3] = {base, base + 8, base + 3};
    hid_t   space = ID(H5Screate_simple(1, &all, NULL)), memory = ID(H5Screate_simple(1, &three, NULL));
    OK(H5Sselect_elements(space, H5S_SELECT_SET, 3, points));
    int old[3] = {(int)base + 1, -1, (int)base + 4};
    write_ints(d, base, EACH, 0, collective());
    OK(H5Dwrite(d, H5T_NATIVE_INT, memory, space, collective(), old));
    write_ints(d, base + 4, 5, 1, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Sclose(space);
    H5Sclose(memory);
    for (int r = 0; r < nranks; r++) {
        hsize_t at = (hsize_t)(EACH * r);
        expect_in_file("f.h5", "d", at, 1, 1);
        expect_in_file("f.h5", "d", at + 1, 2, 0);
        expect_in_file("f.h5", "d", at + 3, 6, 1);
        expect_in_file("f.h5", "d", at + 9, EACH - 9, 0);
    }
}

/* Ranks write in turn to places of their own, and after a flush in turn to one and the same place: on each rank it looks like
 * the step before, further on in the file. The last call counts. */
CASE(ranks_move_to_one_place)
{
    enum { EACH = 3000, TIMES = 20 };
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    for (int time = 0; time < TIMES; time++) {
        for (int r = 0; r < nranks; r++)
            write_ints(d, (hsize_t)(EACH * r), r == rank ? EACH : 0, -time, collective());
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        for (int r = 0; r < nranks; r++)
            write_ints(d, 0, r == rank ? EACH : 0, 1000 * r + time, collective());
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        barrier();
        expect_ints(d, 0, EACH, 1000 * (nranks - 1) + time, independent(), "what the last rank wrote");
        barrier();
    }
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}

/* In call after call the first rank writes two of every three elements, and the last one has written the third by itself just
 * before. Whoever writes what lies between elements back with them must not begin before all have come. */
CASE(holes_filled_before_the_call)
{
    enum { RECORDS = 10000, CALLS = 8 };
    hsize_t all = (hsize_t)CALLS * 3 * RECORDS, records = RECORDS, pairs = 2 * RECORDS, three = 3, two = 2;
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", all, H5P_DEFAULT);
    hid_t   space = ID(H5Screate_simple(1, &all, NULL)), memory = ID(H5Screate_simple(1, &pairs, NULL));
    hid_t   thirds = ID(H5Screate_simple(1, &records, NULL)), none = ID(H5Scopy(memory));
    int    *values = calloc(2 * RECORDS, sizeof *values);
    OK(H5Sselect_none(none));
    for (int call = 0; call < CALLS; call++) {
        hsize_t start = (hsize_t)call * 3 * RECORDS, third = start + 2;
        if (rank == nranks - 1) {
            for (int i = 0; i < RECORDS; i++)
                values[i] = (int)third + 3 * i;
            OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &third, &three, &records, NULL));
            OK(H5Dwrite(d, H5T_NATIVE_INT, thirds, space, independent(), values));
        }
        for (int i = 0; i < 2 * RECORDS; i++)
            values[i] = (int)start + i / 2 * 3 + i % 2;
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &three, &records, &two));
        if (rank != 0)
            OK(H5Sselect_none(space));
        OK(H5Dwrite(d, H5T_NATIVE_INT, rank ? none : memory, space, collective(), values));
    }
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
    H5Sclose(thirds);
    H5Sclose(none);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, all, 0);
}

/* Blocks of rows that lie across chunks, from memory with a margin or without, partly written twice; and elements in descending order.
 * Whoever puts the pieces of a call into the order of the file must take their bytes along. */
CASE(rows_across_chunks)
{
    enum { ROWS = 48, COLUMNS = 37, MARGIN = 3, POINTS = 30 };
    hsize_t dims[2] = {(hsize_t)(ROWS * nranks), COLUMNS}, chunk[2] = {20, 11}, extent[2] = {ROWS, COLUMNS + MARGIN};
    hid_t   file = make_file("f.h5"), list = ID(H5Pcreate(H5P_DATASET_CREATE));
    OK(H5Pset_chunk(list, 2, chunk));
    hid_t space = ID(H5Screate_simple(2, dims, NULL)), memory = ID(H5Screate_simple(2, extent, NULL));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT));
    int   out[ROWS * (COLUMNS + MARGIN)], in[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    for (int pass = 0; pass < 6; pass++) {
        /* All rows; then blocks inside, whose last column is that of a chunk or is not. */
        hsize_t first = pass % 3 ? 5 : 0, width = pass % 3 == 0 ? COLUMNS : pass % 3 == 1 ? 17 : 23, margin = pass % 2 * MARGIN;
        hsize_t start[2] = {(hsize_t)(ROWS * rank) + first, first}, count[2] = {ROWS - 2 * first, width};
        hsize_t in_memory[2] = {first, 0};
        extent[1] = width + margin;
        OK(H5Sset_extent_simple(memory, 2, extent, NULL));
        OK(H5Sselect_hyperslab(memory, H5S_SELECT_SET, in_memory, NULL, count, NULL));
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        for (hsize_t i = 0; i < count[0]; i++)
            for (hsize_t j = 0; j < width; j++) {
                int value = 1000000 * pass + (int)((start[0] + i) * COLUMNS + start[1] + j);
                out[(first + i) * (width + margin) + j] = wanted[(first + i) * COLUMNS + first + j] = value;
            }
        OK(H5Dwrite(d, H5T_NATIVE_INT, memory, space, pass == 4 ? independent() : collective(), out));
    }
    hsize_t points[POINTS][2], number = POINTS;
    hid_t   list_of_points = ID(H5Screate_simple(1, &number, NULL));
    for (int i = 0; i < POINTS; i++) {
        points[i][0] = (hsize_t)(ROWS * rank + 30 - i / 10), points[i][1] = (hsize_t)(9 - i % 10);
        out[i] = wanted[(30 - i / 10) * COLUMNS + 9 - i % 10] = -(1000 * rank + i);
    }
    OK(H5Sselect_elements(space, H5S_SELECT_SET, POINTS, points[0]));
    OK(H5Dwrite(d, H5T_NATIVE_INT, list_of_points, space, collective(), out));
    hsize_t start[2] = {(hsize_t)(ROWS * rank), 0}, count[2] = {ROWS, COLUMNS}, all = ROWS * COLUMNS;
    hid_t   whole = ID(H5Screate_simple(1, &all, NULL));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    for (int pass = 0; pass < 3; pass++) {
        memset(in, 0, sizeof in);
        OK(H5Dread(d, H5T_NATIVE_INT, whole, space, pass ? collective() : independent(), in));
        EXPECT(memcmp(in, wanted, sizeof in) == 0, "what was written is not what is read, pass %d", pass);
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    }
    H5Sclose(space);
    H5Sclose(memory);
    H5Sclose(whole);
    H5Sclose(list_of_points);
    H5Pclose(list);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}
