/* One rank clears a dataset, then all write their parts, without a flush between: the later call counts, whatever ranks do
 * before the flush. */
#include "../cases/cases.h"

enum { TIMES = 6 };

static const hsize_t sizes[] = {300, 150000};

/* The parts of odd ranks by this list; some of them look at what they wrote before the others are there. */
static void clear_and_write(hid_t odd)
{
    hid_t file = make_file("f.h5");
    for (int s = 0; s < 2; s++) {
        hsize_t each = sizes[s], all = each * (hsize_t)nranks, mine = each * (hsize_t)rank;
        hid_t   d    = make_ints(file, s ? "large" : "small", all, H5P_DEFAULT);
        for (int time = 0; time < TIMES; time++) {
            write_ints(d, 0, rank == 0 ? all : 0, -1000000, collective());
            write_ints(d, mine, each, time, rank % 2 == 1 ? odd : collective());
            if (rank % 2 == 1 && (time % 2 || odd == collective()))
                expect_ints(d, mine, each, time, independent(), "read at once");
            OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
            barrier();
            expect_ints(d, 0, all, time, independent(), "read after the flush");
            barrier();
        }
        OK(H5Dclose(d));
    }
    OK(H5Fclose(file));
    expect_in_file("f.h5", "small", 0, sizes[0] * (hsize_t)nranks, TIMES - 1);
    expect_in_file("f.h5", "large", 0, sizes[1] * (hsize_t)nranks, TIMES - 1);
}

CASE(parts_count_after_a_clear) { clear_and_write(collective()); }

/* The same where only HDF5 can do the part of some ranks: their transfer lists transform the data. */
CASE(parts_of_some_ranks_by_hdf5)
{
    hid_t transforming = ID(H5Pcopy(collective()));
    OK(H5Pset_data_transform(transforming, "x+0"));
    clear_and_write(transforming);
    OK(H5Pclose(transforming));
}
