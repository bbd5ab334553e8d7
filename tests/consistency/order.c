/* One rank clears a dataset, then all write their parts, without a flush between: the later call counts, whatever ranks do
 * before the flush. */
#include "../cases/cases.h"

enum { TIMES = 6 };

static const hsize_t sizes[] = {300, 150000};

static void clear_and_write(hid_t d, hsize_t each, int time, hid_t dxpl)
{
    write_ints(d, 0, rank == 0 ? each * (hsize_t)nranks : 0, -1000000, collective());
    write_ints(d, each * (hsize_t)rank, each, time, dxpl);
}

CASE(parts_count_after_a_clear)
{
    hid_t file = make_file("f.h5");
    for (int s = 0; s < 2; s++) {
        hsize_t each = sizes[s];
        hid_t   d = make_ints(file, s ? "large" : "small", each * (hsize_t)nranks, H5P_DEFAULT);
        for (int time = 0; time < TIMES; time++) {
            clear_and_write(d, each, time, collective());
            /* Some ranks look at what they wrote before the others are there. */
            if (rank % 2 == 1)
                expect_ints(d, each * (hsize_t)rank, each, time, independent(), "read at once");
            OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
            barrier();
            expect_ints(d, 0, each * (hsize_t)nranks, time, independent(), "read after the flush");
            barrier();
        }
        OK(H5Dclose(d));
    }
    OK(H5Fclose(file));
    expect_in_file("f.h5", "small", 0, sizes[0] * (hsize_t)nranks, TIMES - 1);
    expect_in_file("f.h5", "large", 0, sizes[1] * (hsize_t)nranks, TIMES - 1);
}

/* The same where only HDF5 can do the part of some ranks: their transfer lists transform the data. */
CASE(parts_of_some_ranks_by_hdf5)
{
    hid_t file = make_file("f.h5"), transforming = ID(H5Pcopy(collective()));
    OK(H5Pset_data_transform(transforming, "x+0"));
    for (int s = 0; s < 2; s++) {
        hsize_t each = sizes[s];
        hid_t   d = make_ints(file, s ? "large" : "small", each * (hsize_t)nranks, H5P_DEFAULT);
        for (int time = 0; time < TIMES; time++) {
            clear_and_write(d, each, time, rank % 2 == 1 ? transforming : collective());
            if (rank % 2 == 1 && time % 2)
                expect_ints(d, each * (hsize_t)rank, each, time, independent(), "read at once");
            OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
            barrier();
            expect_ints(d, 0, each * (hsize_t)nranks, time, independent(), "read after the flush");
            barrier();
        }
        OK(H5Dclose(d));
    }
    OK(H5Pclose(transforming));
    OK(H5Fclose(file));
}
