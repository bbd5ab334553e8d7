/* After H5Fflush or H5Fclose the bytes are in the file, for every process. */
#include "../cases/cases.h"

enum { EACH = 150 };

static hid_t two_datasets(const char *name, hid_t *d, hid_t *c)
{
    hid_t file = make_file(name);
    *d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    *c = make_ints(file, "c", (hsize_t)(EACH * nranks), in_chunks(40));
    return file;
}

CASE(a_flush_puts_all_bytes_into_the_file)
{
    hid_t d, c, file = two_datasets("f.h5", &d, &c);
    for (int i = 0; i < 3; i++) {
        write_ints(d, (hsize_t)(EACH * rank), EACH, i, collective());
        write_ints(c, (hsize_t)(EACH * rank), EACH, i + 10, independent());
        OK(H5Fflush(file, i % 2 ? H5F_SCOPE_LOCAL : H5F_SCOPE_GLOBAL));
        expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), i); /* another reader, the file still open */
        expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), i + 10);
        expect_ints(d, 0, (hsize_t)(EACH * nranks), i, independent(), "what other ranks wrote");
        expect_ints(c, 0, (hsize_t)(EACH * nranks), i + 10, collective(), "what other ranks wrote");
        barrier();
    }
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
}

CASE(a_flush_by_a_dataset_flushes_its_file)
{
    hid_t d, c, file = two_datasets("f.h5", &d, &c);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    OK(H5Fflush(c, H5F_SCOPE_LOCAL));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 1);
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
}

CASE(a_close_puts_all_bytes_into_the_file)
{
    hid_t d, c, file = two_datasets("f.h5", &d, &c);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    write_ints(c, (hsize_t)(EACH * rank), EACH, 2, independent());
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 1);
    expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), 2);
}

/* Many variables, each created, written and closed, as H5Part and FLASH do. */
CASE(closing_a_dataset_loses_nothing)
{
    enum { VARIABLES = 20 };
    char  name[16];
    hid_t file = make_file("f.h5");
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        hid_t d = make_ints(file, name, (hsize_t)(EACH * nranks), i % 3 ? H5P_DEFAULT : in_chunks(64));
        write_ints(d, (hsize_t)(EACH * rank), EACH, i, i % 4 ? collective() : independent());
        OK(H5Dclose(d));
    }
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        expect_in_file("f.h5", name, 0, (hsize_t)(EACH * nranks), i);
    }
    OK(H5Fclose(file));
}

/* Before a flush another process may see the old value or the new one, and nothing else. */
CASE(unflushed_bytes_are_old_or_new)
{
    hid_t   d, c, file = two_datasets("f.h5", &d, &c);
    hsize_t all = (hsize_t)(EACH * nranks);
    int    *seen = malloc(all * sizeof *seen);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1000, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    write_ints(d, (hsize_t)(EACH * rank), EACH, 5000, collective());
    OK(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), seen));
    for (hsize_t i = 0; i < all; i++) {
        bool mine = i / EACH == (hsize_t)rank, new = seen[i] == 5000 + (int)i, old = seen[i] == 1000 + (int)i;
        if (!(new || (old && !mine))) {
            EXPECT(false, "element %llu is %d", (unsigned long long)i, seen[i]);
            break;
        }
    }
    free(seen);
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, all, 5000);
}

/* Ranks may write to the same place one after the other, with a flush and a barrier between. */
CASE(after_a_flush_the_next_writer_wins)
{
    hid_t   d, c, file = two_datasets("f.h5", &d, &c);
    hsize_t all = (hsize_t)(EACH * nranks);
    for (int who = 0; who < nranks; who++) {
        if (rank == who)
            write_ints(d, 0, all, 100 * who, independent());
        write_ints(c, 0, rank == who ? all : 0, 100 * who + 1, collective());
        OK(H5Fflush(file, H5F_SCOPE_LOCAL));
        barrier();
        expect_ints(d, 0, all, 100 * who, independent(), "the latest writer");
        expect_ints(c, 0, all, 100 * who + 1, independent(), "the latest writer");
        barrier();
    }
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, all, 100 * (nranks - 1));
}

/* What all ranks write alike, as codes do with their scalars, is simply that. */
CASE(all_ranks_may_write_the_same)
{
    hid_t d, c, file = two_datasets("f.h5", &d, &c);
    write_ints(d, 0, (hsize_t)(EACH * nranks), 3, collective());
    write_ints(c, 0, (hsize_t)(EACH * nranks), 4, independent());
    expect_ints(d, 0, (hsize_t)(EACH * nranks), 3, independent(), "everybody's own write");
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 3);
    expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), 4);
}
