/* What collective calls, the order of calls and MPI's atomic mode add to the promise. */
#include "../cases/cases.h"

enum { EACH = 150 };

/* A collective read sees what every rank wrote before it came to the read. */
CASE(a_collective_read_sees_all_earlier_writes)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), c = make_ints(file, "c", (hsize_t)(EACH * nranks), in_chunks(31));
    hsize_t all = (hsize_t)(EACH * nranks);
    for (int i = 0; i < 3; i++) {
        write_ints(d, (hsize_t)(EACH * rank), EACH, i, collective());
        write_ints(c, (hsize_t)(EACH * rank), EACH, i + 50, independent());
        barrier();
        expect_ints(d, 0, all, i, collective(), "written collectively");
        expect_ints(c, 0, all, i + 50, collective(), "written independently");
        barrier();
    }
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
}

/* In atomic mode a write is there for all ranks when the call has returned. */
CASE(atomic_writes_are_seen_at_once)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    hsize_t all = (hsize_t)(EACH * nranks);
    OK(H5Fset_mpi_atomicity(file, true));
    for (int i = 0; i < 4; i++) {
        write_ints(d, (hsize_t)(EACH * rank), EACH, i, i % 2 ? collective() : independent());
        barrier();
        expect_ints(d, 0, all, i, independent(), "without a flush");
        barrier();
    }
    /* And back: what was promised before holds again. */
    OK(H5Fset_mpi_atomicity(file, false));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 40, collective());
    expect_ints(d, (hsize_t)(EACH * rank), EACH, 40, independent(), "its own");
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, all, 40);
}

/* Atomic mode that comes after writes includes them. */
CASE(atomic_mode_includes_earlier_writes)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    OK(H5Fset_mpi_atomicity(file, true));
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, collective());
    barrier();
    expect_ints(d, (hsize_t)(EACH * ((rank + 1) % nranks)), EACH / 2, 2, independent(), "the neighbour's half");
    expect_ints(d, (hsize_t)(EACH * ((rank + 1) % nranks) + EACH / 2), EACH / 2, 1, independent(), "its other half");
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}

/* More than any window holds, by one rank alone: written directly, and nothing waits for anybody. */
CASE(independent_writes_beyond_the_budget)
{
    enum { MANY = 1 << 20 };
    hid_t file = make_file("f.h5"), d = make_ints(file, "d", MANY, H5P_DEFAULT);
    if (rank == nranks - 1)
        for (int i = 0; i < 8; i++)
            write_ints(d, (hsize_t)(i * (MANY / 8)), MANY / 8, 5, independent());
    if (rank == nranks - 1)
        expect_ints(d, 0, MANY, 5, independent(), "its own");
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, MANY, 5);
}

/* A change of extent, or of links, comes after the writes before it and before those after it. */
CASE(space_changes_are_in_order)
{
    hid_t   file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), in_chunks(EACH)), old;
    hsize_t larger = (hsize_t)(2 * EACH * nranks), smaller = (hsize_t)EACH;
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Dset_extent(d, &larger));
    barrier();
    write_ints(d, (hsize_t)(EACH * (nranks + rank)), EACH, 2, independent());
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    barrier();
    OK(H5Dset_extent(d, &smaller));
    barrier();
    OK(H5Lmove(file, "d", file, "moved", H5P_DEFAULT, H5P_DEFAULT));
    old = make_ints(file, "old", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(old, (hsize_t)(EACH * rank), EACH, 9, collective());
    OK(H5Dclose(old));
    barrier();
    OK(H5Ldelete(file, "old", H5P_DEFAULT));
    hid_t new = make_ints(file, "new", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(new, (hsize_t)(EACH * rank), EACH, 3, collective());
    OK(H5Dclose(new));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "moved", 0, EACH, 1);
    expect_in_file("f.h5", "new", 0, (hsize_t)(EACH * nranks), 3);
}

/* Members of records that nobody wrote keep their bytes, while other ranks write their neighbours. */
CASE(unwritten_members_keep_their_bytes)
{
    typedef struct { int a; double b; short c; } Record;
    hid_t   whole = ID(H5Tcreate(H5T_COMPOUND, sizeof(Record))), only = ID(H5Tcreate(H5T_COMPOUND, sizeof(double)));
    hsize_t all = (hsize_t)(EACH * nranks), start = (hsize_t)(EACH * rank), count = EACH;
    OK(H5Tinsert(whole, "a", HOFFSET(Record, a), H5T_NATIVE_INT));
    OK(H5Tinsert(whole, "b", HOFFSET(Record, b), H5T_NATIVE_DOUBLE));
    OK(H5Tinsert(whole, "c", HOFFSET(Record, c), H5T_NATIVE_SHORT));
    OK(H5Tinsert(only, "b", 0, H5T_NATIVE_DOUBLE));
    hid_t file = make_file("f.h5"), space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &count, NULL);
    hid_t d = ID(H5Dcreate2(file, "d", whole, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    Record records[EACH], *found = malloc(all * sizeof *found);
    double doubles[EACH];
    memset(records, 0, sizeof records);
    for (int i = 0; i < EACH; i++) {
        records[i] = (Record){.a = EACH * rank + i, .b = -1, .c = (short)i};
        doubles[i] = 0.5 * (EACH * rank + i);
    }
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    OK(H5Dwrite(d, whole, memory, space, collective(), records));
    OK(H5Dwrite(d, only, memory, space, collective(), doubles));
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    barrier();
    OK(H5Dread(d, whole, H5S_ALL, H5S_ALL, independent(), found));
    for (hsize_t i = 0; i < all; i++)
        if (found[i].a != (int)i || found[i].b != 0.5 * (double)i || found[i].c != (short)(i % EACH)) {
            EXPECT(false, "record %llu is {%d, %g, %d}", (unsigned long long)i, found[i].a, found[i].b, found[i].c);
            break;
        }
    free(found);
    H5Sclose(space);
    H5Sclose(memory);
    H5Tclose(whole);
    H5Tclose(only);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}
