/* What is one piece of the file only if the ranks put it together. */
#include "../cases/cases.h"

enum { ROWS = 160, WIDTH = 128, VARIABLES = 3, STEPS = 14 };

/* The columns of a rank in a dataset with so many rows, or none, all with one value. */
static void write_rows(hid_t d, hsize_t rows, int whose, int value, hid_t list)
{
    hsize_t dims[2] = {rows, (hsize_t)(WIDTH * nranks)}, extent[2] = {rows, WIDTH};
    hsize_t start[2] = {0, (hsize_t)(WIDTH * (whose < 0 ? 0 : whose))};
    hid_t   space = ID(H5Screate_simple(2, dims, NULL)), memory = ID(H5Screate_simple(2, extent, NULL));
    size_t  count = rows * WIDTH;
    int    *values = malloc(sizeof *values * count);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL));
    if (whose < 0) {
        OK(H5Sselect_none(space));
        OK(H5Sselect_none(memory));
    }
    OK(H5Dwrite(d, H5T_NATIVE_INT, memory, space, list, values));
    /* The memory is the program's again. */
    memset(values, 0x5a, sizeof *values * count);
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
}

static void write_columns(hid_t d, int whose, int value, hid_t list)
{
    write_rows(d, ROWS, whose, value, list);
}

static int value_of(int step, int variable, int r)
{
    return 1000 * step + 100 * variable + r + 1;
}

/* Step after step ranks write columns that lie between each other's, and are asked for after a flush: plainly; all of them twice; each
 * other's in the next call; with a part that only HDF5 can write; with one of a rank by itself after that of all; and with none of a
 * rank. Whoever lets such bytes go to the file before the flush must keep to the order of the calls, and lose none. */
CASE(columns_put_together)
{
    hid_t file = make_file("f.h5"), shifted = ID(H5Pcopy(collective())), filled = ID(H5Pcreate(H5P_DATASET_CREATE));
    int   nothing = -9;
    OK(H5Pset_fill_value(filled, H5T_NATIVE_INT, &nothing));
    OK(H5Pset_data_transform(shifted, "x + 7"));
    hsize_t dims[2] = {ROWS, (hsize_t)(WIDTH * nranks)};
    hid_t   space = ID(H5Screate_simple(2, dims, NULL));
    int    *in = malloc(sizeof *in * ROWS * WIDTH * (size_t)nranks), *wanted = malloc(sizeof *wanted * (size_t)nranks);
    for (int step = 0; step < STEPS; step++) {
        hid_t sets[VARIABLES];
        for (int v = 0; v < VARIABLES; v++) {
            char name[32];
            snprintf(name, sizeof name, "s%d_v%d", step, v);
            sets[v] = ID(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, filled, H5P_DEFAULT));
            int  what = step < 2 ? 0 : (step + v) % 6, next = (rank + 1) % nranks, last = nranks - 1;
            bool mine = what != 3 || rank != last;
            if (what == 1)
                write_columns(sets[v], rank, -1, collective());
            if (what == 2)
                write_columns(sets[v], next, -2, collective());
            if (gentle)
                barrier();
            write_columns(sets[v], what == 5 && rank == last ? -1 : rank, value_of(step, v, rank) - (mine ? 0 : 7),
                          mine ? collective() : shifted);
            if (gentle)
                barrier();
            if (what == 4 && rank == 0)
                write_columns(sets[v], rank, -4, independent());
        }
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        barrier();
        for (int v = 0; v < VARIABLES; v++) {
            int what = step < 2 ? 0 : (step + v) % 6;
            for (int r = 0; r < nranks; r++)
                wanted[r] = what == 5 && r == nranks - 1 ? nothing : what == 4 && r == 0 ? -4 : value_of(step, v, r);
            OK(H5Dread(sets[v], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), in));
            long wrong = 0;
            for (int i = 0; i < ROWS * WIDTH * nranks; i++)
                wrong += in[i] != wanted[i / WIDTH % nranks];
            EXPECT(wrong == 0, "step %d, variable %d, of kind %d: %ld elements are wrong", step, v, what, wrong);
            OK(H5Dclose(sets[v]));
        }
        barrier();
    }
    free(in);
    free(wanted);
    H5Sclose(space);
    H5Pclose(shifted);
    H5Pclose(filled);
    OK(H5Fclose(file));
}

/* Long and short calls in turn, so that whoever writes every so many-th call by itself lags behind the others; then the same columns
 * twice, first in such a call. The second one counts. */
CASE(columns_twice_while_some_lag)
{
    enum { LONG_ROWS = 768, TURNS = 2 };
    hid_t   file = make_file("f.h5");
    hsize_t dims[2] = {ROWS, (hsize_t)(WIDTH * nranks)}, long_dims[2] = {LONG_ROWS, (hsize_t)(WIDTH * nranks)};
    hid_t   space = ID(H5Screate_simple(2, dims, NULL)), long_space = ID(H5Screate_simple(2, long_dims, NULL));
    int    *in = malloc(sizeof *in * ROWS * WIDTH * (size_t)nranks);
    hid_t   large = ID(H5Dcreate2(file, "long", H5T_NATIVE_INT, long_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t   small = ID(H5Dcreate2(file, "short", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t   twice = ID(H5Dcreate2(file, "twice", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int step = 0; step < 4; step++) {
        for (int turn = 0; step > 1 && turn < TURNS; turn++) {
            write_rows(large, LONG_ROWS, rank, turn, collective());
            for (int i = 1; i < nranks; i++)
                write_columns(small, rank, turn, collective());
        }
        if (step > 1) {
            write_columns(twice, rank, -step, collective());
            write_columns(small, rank, -1, collective());
        }
        if (gentle)
            barrier();
        write_columns(twice, rank, step + 1, collective());
        OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        barrier();
        OK(H5Dread(twice, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), in));
        long wrong = 0;
        for (int i = 0; i < ROWS * WIDTH * nranks; i++)
            wrong += in[i] != step + 1;
        EXPECT(wrong == 0, "step %d: %ld elements are wrong", step, wrong);
        barrier();
    }
    free(in);
    H5Sclose(space);
    H5Sclose(long_space);
    OK(H5Dclose(large));
    OK(H5Dclose(small));
    OK(H5Dclose(twice));
    OK(H5Fclose(file));
}
