/* Extendible datasets: grow, shrink, grow again; what was cut off reads as the fill value. */
#include "conform.h"

static void resize(hid_t d, hsize_t length)
{
    note("length %llu", (unsigned long long)length);
    RC(H5Dset_extent(d, &length));
}

static void grow_and_shrink(void)
{
    int   values[40], fill = -1;
    hid_t file = make_file("g.h5"), dcpl = chunked1(8);
    for (int i = 0; i < 40; i++)
        values[i] = i + 1;
    RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1_up_to(10, H5S_UNLIMITED), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    resize(d, 40);
    read_ints(d, "grown");
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    resize(d, 13);
    read_ints(d, "shrunk");
    NUM(H5Dget_storage_size(d));
    resize(d, 30);
    read_ints(d, "grown again");
    resize(d, 0);
    read_ints(d, "empty");
    resize(d, 5);
    read_ints(d, "five");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("g.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    show_space("space", keep(H5Dget_space(d)));
    read_ints(d, "later");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Each step appends a row per rank, as a simulation does. */
static void append_rows(void)
{
    enum { STEPS = 6, COLS = 9 };
    hsize_t dims[] = {0, COLS}, max[] = {H5S_UNLIMITED, COLS};
    int     row[COLS], back[COLS];
    hid_t   file = make_file("a.h5"), space = keep(H5Screate_simple(2, dims, max));
    hid_t   d    = ID(H5Dcreate2(file, "steps", H5T_NATIVE_INT, space, H5P_DEFAULT, chunked2(2, 4), H5P_DEFAULT));
    for (int step = 0; step < STEPS; step++) {
        hsize_t start[] = {(hsize_t)(step * nranks + rank), 0}, count[] = {1, COLS};
        dims[0]         = (hsize_t)((step + 1) * nranks);
        RC(H5Dset_extent(d, dims));
        hid_t rows = keep(H5Dget_space(d));
        for (int i = 0; i < COLS; i++)
            row[i] = step * 1000 + rank * 100 + i;
        RC(H5Sselect_hyperslab(rows, H5S_SELECT_SET, start, NULL, count, NULL));
        RC(H5Dwrite(d, H5T_NATIVE_INT, space1(COLS), rows, collective(), row));
        RC(H5Dread(d, H5T_NATIVE_INT, space1(COLS), rows, collective(), back));
        show_ints("row", back, COLS);
    }
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
    read_ints(d, "all");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void two_dimensions(void)
{
    hsize_t dims[] = {4, 4}, max[] = {H5S_UNLIMITED, H5S_UNLIMITED}, wide[] = {5, 9}, thin[] = {9, 2};
    int     values[16];
    hid_t   file = make_file("2.h5"), space = keep(H5Screate_simple(2, dims, max));
    hid_t   d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, chunked2(3, 3), H5P_DEFAULT));
    for (int i = 0; i < 16; i++)
        values[i] = i + 1;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dset_extent(d, wide));
    read_ints(d, "wide");
    RC(H5Dset_extent(d, thin));
    read_ints(d, "thin");
    RC(H5Dset_extent(d, dims));
    /* HDF5 2.2.0 itself still has chunks in memory that it has cleared in the file. */
    RC(H5Dclose(d));
    d = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    read_ints(d, "as before");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void filtered(void)
{
    int   values[30];
    hid_t file = make_file("f.h5"), dcpl = chunked1(7);
    for (int i = 0; i < 30; i++)
        values[i] = i % 4;
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pset_fletcher32(dcpl));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1_up_to(30, H5S_UNLIMITED), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    resize(d, 11);
    read_ints(d, "shrunk");
    resize(d, 25);
    read_ints(d, "grown");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void refused(void)
{
    hsize_t ten = 10, hundred = 100;
    hid_t   file = make_file("r.h5");
    hid_t   c = ID(H5Dcreate2(file, "contiguous", H5T_NATIVE_INT, space1(10), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t   b = ID(H5Dcreate2(file, "bounded", H5T_NATIVE_INT, space1_up_to(5, 20), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    hid_t   s = ID(H5Dcreate2(file, "scalar", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "no_chunks", H5T_NATIVE_INT, space1_up_to(5, 20), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dset_extent(c, &hundred));
    RC(H5Dset_extent(c, &ten));
    RC(H5Dset_extent(b, &hundred));
    RC(H5Dset_extent(b, &ten));
    RC(H5Dset_extent(b, NULL));
    RC(H5Dset_extent(s, &ten));
    RC(H5Dset_extent(file, &ten));
    read_ints(b, "ten");
    RC(H5Dclose(c));
    RC(H5Dclose(b));
    RC(H5Dclose(s));
    RC(H5Fclose(file));
    file = open_file("r.h5", H5F_ACC_RDONLY);
    b    = ID(H5Dopen2(file, "bounded", H5P_DEFAULT));
    RC(H5Dset_extent(b, &ten));
    RC(H5Dclose(b));
    RC(H5Fclose(file));
}

CASES(extend, {"grow_and_shrink", grow_and_shrink, EVERYWHERE}, {"append_rows", append_rows, EVERYWHERE},
      {"two_dimensions", two_dimensions, EVERYWHERE}, {"filtered", filtered, EVERYWHERE}, {"refused", refused, EVERYWHERE})
