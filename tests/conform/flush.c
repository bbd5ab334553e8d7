/* Flush: files by any object in them, and single objects; what was flushed is in the file for others to read. */
#include "conform.h"

static void every_way(void)
{
    int   value = 5;
    hid_t file = make_file("f.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 10, 1), t = H5Tcopy(H5T_NATIVE_INT);
    RC(H5Tcommit2(g, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t a = ID(H5Acreate2(d, "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, H5T_NATIVE_INT, &value));
    hid_t any[] = {file, g, d, t, a};
    for (size_t i = 0; i < COUNT(any); i++) {
        RC(H5Fflush(any[i], H5F_SCOPE_LOCAL));
        RC(H5Fflush(any[i], H5F_SCOPE_GLOBAL));
        if (any[i] != a)
            RC(H5Oflush(any[i]));
    }
    RC(H5Dflush(d));
    RC(H5Gflush(g));
    RC(H5Tflush(t));
    RC(H5Dflush(g));
    RC(H5Gflush(d));
    RC(H5Tflush(H5T_NATIVE_INT));
    RC(H5Oflush(space1(1)));
    RC(H5Fflush(space1(1), H5F_SCOPE_LOCAL));
    RC(H5Fflush(H5I_INVALID_HID, H5F_SCOPE_LOCAL));
    RC(H5Aclose(a));
    RC(H5Tclose(t));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
}

/* After a flush the bytes are there for anybody who reads the file without the library. */
static void visible_in_bytes(void)
{
    int     values[64], back[64] = {0};
    hid_t   file = make_file("v.h5"), all = part1(64 * (hsize_t)nranks, 64 * (hsize_t)rank, 64);
    hid_t   d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < 64; i++)
        values[i] = rank * 1000 + i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(64), all, collective(), values));
    haddr_t at = H5Dget_offset(d);
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *raw = fopen("v.h5", "rb");
    fseek(raw, (long)at + (long)sizeof back * ((rank + 1) % nranks), SEEK_SET);
    note("read %zu values", fread(back, sizeof back[0], 64, raw));
    fclose(raw);
    show_ints("the next rank's values", back, 64);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Metadata cache flushes can be held back per object. */
static void held_back(void)
{
    bool  held = false;
    hid_t file = make_file("h.h5"), d = make_ints(file, "d", 4, 0);
    RC(H5Oare_mdc_flushes_disabled(d, &held));
    note("held %d", held);
    RC(H5Odisable_mdc_flushes(d));
    RC(H5Oare_mdc_flushes_disabled(d, &held));
    note("held %d", held);
    make_attr(d, "a", 1);
    RC(H5Odisable_mdc_flushes(d));
    RC(H5Oenable_mdc_flushes(d));
    RC(H5Oenable_mdc_flushes(d));
    RC(H5Odisable_mdc_flushes(H5I_INVALID_HID));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void read_only(void)
{
    hid_t file = make_file("o.h5"), d = make_ints(file, "d", 4, 0);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("o.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    RC(H5Dflush(d));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(flush, {"every_way", every_way, EVERYWHERE}, {"visible_in_bytes", visible_in_bytes, EVERYWHERE},
      {"held_back", held_back, BOTH_SERIAL}, {"read_only", read_only, EVERYWHERE})
