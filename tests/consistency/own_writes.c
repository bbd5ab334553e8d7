/* A rank reads its own writes, at once and in order, whatever other ranks do. */
#include "../cases/cases.h"

enum { EACH = 200 };

CASE(a_rank_reads_its_own_writes)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), c = make_ints(file, "c", (hsize_t)(EACH * nranks), in_chunks(33));
    hsize_t mine = (hsize_t)(EACH * rank);
    for (int i = 0; i < 4; i++) {
        write_ints(d, mine, EACH, 10 * i, i % 2 ? independent() : collective());
        expect_ints(d, mine, EACH, 10 * i, independent(), "read independently");
        write_ints(c, mine, EACH, 10 * i + 1, i % 2 ? collective() : independent());
        expect_ints(c, mine, EACH, 10 * i + 1, collective(), "read collectively");
    }
    /* One rank alone, while the others are elsewhere. */
    if (rank == nranks - 1) {
        write_ints(d, mine, EACH / 2, 500, independent());
        expect_ints(d, mine, EACH / 2, 500, independent(), "by one rank alone");
        expect_ints(d, mine + EACH / 2, EACH / 2, 30, independent(), "and the rest");
    }
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
}

CASE(through_any_handle)
{
    hid_t   file = make_file("f.h5"), again = ID(H5Freopen(file)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    hid_t   e = open_ints(again, "d");
    hsize_t mine = (hsize_t)(EACH * rank);
    write_ints(d, mine, EACH, 1, collective());
    expect_ints(e, mine, EACH, 1, independent(), "through another handle");
    write_ints(e, mine, EACH, 2, independent());
    OK(H5Dclose(d));
    d = open_ints(file, "d");
    expect_ints(d, mine, EACH, 2, independent(), "after the dataset was closed and opened");
    OK(H5Dclose(e));
    OK(H5Dclose(d));
    OK(H5Fclose(again));
    OK(H5Fclose(file));
}

CASE(the_later_write_of_a_rank_wins)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    hsize_t mine = (hsize_t)(EACH * rank);
    for (int i = 0; i < 20; i++)
        write_ints(d, mine + (hsize_t)(7 * i % 50), EACH / 2, i, i % 3 ? independent() : collective());
    write_ints(d, mine, EACH, 100, collective());
    write_ints(d, mine + 10, EACH - 20, 200, independent());
    write_ints(d, mine + 20, EACH - 40, 300, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    for (int q = 0; q < nranks; q++) {
        expect_in_file("f.h5", "d", (hsize_t)(EACH * q), 10, 100);
        expect_in_file("f.h5", "d", (hsize_t)(EACH * q + 10), 10, 200);
        expect_in_file("f.h5", "d", (hsize_t)(EACH * q + 20), EACH - 40, 300);
    }
}

/* The frame's write_ints overwrites its buffer as soon as the call has returned; here it is large, and never copied back. */
CASE(buffers_are_the_programs_again)
{
    enum { MANY = 300000 };
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)MANY * (hsize_t)nranks, H5P_DEFAULT);
    write_ints(d, (hsize_t)MANY * (hsize_t)rank, MANY, 1, collective());
    write_ints(d, (hsize_t)MANY * (hsize_t)rank, MANY / 2, 2, independent());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, MANY / 2, 2);
    expect_in_file("f.h5", "d", MANY / 2, MANY / 2, 1);
}
