/* Virtual datasets: sources in the same and in other files, missing ones, growing ones, views. */
#include "conform.h"

#include <sys/stat.h>

static void make_source(const char *name, int first)
{
    hid_t file = make_file(name);
    RC(H5Dclose(make_ints(file, "d", 10, first)));
    RC(H5Fclose(file));
}

/* A 3 x 10 dataset whose rows are the sources. */
static hid_t rows_of(const char *const *files, int count)
{
    int   fill = -9;
    hid_t dcpl = plist(H5P_DATASET_CREATE);
    RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    for (int i = 0; i < count; i++) {
        hsize_t start[] = {(hsize_t)i, 0}, size[] = {1, 10};
        hid_t   row = space2((hsize_t)count, 10);
        RC(H5Sselect_hyperslab(row, H5S_SELECT_SET, start, NULL, size, NULL));
        RC(H5Pset_virtual(dcpl, row, files[i], "d", space1(10)));
    }
    return dcpl;
}

static void show_mappings(hid_t d)
{
    size_t count = 0;
    hid_t  stored = ID(H5Dget_create_plist(d));
    NUM(H5Pget_layout(stored));
    RC(H5Pget_virtual_count(stored, &count));
    for (size_t i = 0; i < count; i++) {
        char file[64] = "", dataset[64] = "";
        NUM(H5Pget_virtual_filename(stored, i, file, sizeof file));
        NUM(H5Pget_virtual_dsetname(stored, i, dataset, sizeof dataset));
        note("source %s : %s", file, dataset);
        hid_t there = ID(H5Pget_virtual_srcspace(stored, i)), here = ID(H5Pget_virtual_vspace(stored, i));
        show_space("there", there);
        show_space("here", here);
        RC(H5Sclose(there));
        RC(H5Sclose(here));
    }
    RC(H5Pclose(stored));
}

static void other_files(void)
{
    const char *files[] = {"a.h5", "b.h5", "missing.h5"};
    H5D_space_status_t status;
    make_source("a.h5", 100);
    make_source("b.h5", 200);
    hid_t file = make_file("v.h5");
    hid_t d    = ID(H5Dcreate2(file, "v", H5T_NATIVE_INT, space2(3, 10), H5P_DEFAULT, rows_of(files, 3), H5P_DEFAULT));
    read_ints(d, "rows");
    RC(H5Dget_space_status(d, &status));
    NUM(H5Dget_storage_size(d));
    int row[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, all[30] = {0};
    hid_t first = space2(3, 10);
    hsize_t start[] = {0, 0}, size[] = {1, 10};
    RC(H5Sselect_hyperslab(first, H5S_SELECT_SET, start, NULL, size, NULL));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(10), first, H5P_DEFAULT, row));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("v.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "v", H5P_DEFAULT));
    show_mappings(d);
    read_ints(d, "rows");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    make_source("missing.h5", 300);
    file = open_file("v.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "v", H5P_DEFAULT));
    read_ints(d, "all rows");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void same_file(void)
{
    const char *files[] = {".", "."};
    hid_t       file = make_file("s.h5"), source = make_ints(file, "d", 10, 7);
    hid_t       d = ID(H5Dcreate2(file, "v", H5T_STD_I64BE, space2(2, 10), H5P_DEFAULT, rows_of(files, 2), H5P_DEFAULT));
    read_ints(d, "rows");
    RC(H5Dclose(source));
    RC(H5Dflush(d));
    RC(H5Drefresh(d));
    read_ints(d, "rows");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void prefix(void)
{
    const char *files[]  = {"a.h5"};
    char        back[64] = "";
    hid_t       dapl = plist(H5P_DATASET_ACCESS);
    if (solo_begin())
        mkdir("below", 0777);
    solo_end();
    make_source("below/a.h5", 70);
    hid_t file = make_file("p.h5");
    hid_t d    = ID(H5Dcreate2(file, "v", H5T_NATIVE_INT, space2(1, 10), H5P_DEFAULT, rows_of(files, 1), H5P_DEFAULT));
    read_ints(d, "without prefix");
    RC(H5Dclose(d));
    RC(H5Pset_virtual_prefix(dapl, "below"));
    d = ID(H5Dopen2(file, "v", dapl));
    hid_t stored = ID(H5Dget_access_plist(d));
    NUM(H5Pget_virtual_prefix(stored, back, sizeof back));
    show_text("prefix", back);
    RC(H5Pclose(stored));
    read_ints(d, "with prefix");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* An unlimited mapping: the virtual extent follows the sources, as the view on the access list says. */
static void unlimited(void)
{
    hsize_t   dims[] = {4}, inf[] = {H5S_UNLIMITED}, zero[] = {0}, one[] = {1}, eight[] = {8};
    int       values[] = {1, 2, 3, 4};
    hid_t     source = keep(H5Screate_simple(1, dims, inf)), whole = keep(H5Screate_simple(1, dims, inf));
    hid_t     dcpl = plist(H5P_DATASET_CREATE), dapl = plist(H5P_DATASET_ACCESS);
    hid_t     a = make_file("a.h5"), file = make_file("u.h5");
    H5D_vds_view_t view = H5D_VDS_ERROR;
    hsize_t   gap = 9;
    hid_t     s = ID(H5Dcreate2(a, "d", H5T_NATIVE_INT, source, H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    RC(H5Dwrite(s, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Sselect_hyperslab(source, H5S_SELECT_SET, zero, one, inf, one));
    RC(H5Sselect_hyperslab(whole, H5S_SELECT_SET, zero, one, inf, one));
    RC(H5Pset_virtual(dcpl, whole, "a.h5", "d", source));
    RC(H5Pset_virtual_view(dapl, H5D_VDS_FIRST_MISSING));
    RC(H5Pset_virtual_printf_gap(dapl, 2));
    hid_t d = ID(H5Dcreate2(file, "v", H5T_NATIVE_INT, whole, H5P_DEFAULT, dcpl, dapl));
    hid_t stored = ID(H5Dget_access_plist(d));
    RC(H5Pget_virtual_view(stored, &view));
    RC(H5Pget_virtual_printf_gap(stored, &gap));
    note("view %d, gap %llu", view, (unsigned long long)gap);
    RC(H5Pclose(stored));
    show_space("extent", keep(H5Dget_space(d)));
    read_ints(d, "four");
    RC(H5Dset_extent(s, eight));
    RC(H5Dflush(s));
    RC(H5Drefresh(d));
    show_space("extent", keep(H5Dget_space(d)));
    read_ints(d, "eight");
    RC(H5Dclose(s));
    RC(H5Dclose(d));
    RC(H5Fclose(a));
    RC(H5Fclose(file));
}

CASES(virtual_, {"other_files", other_files, BOTH_SERIAL}, {"same_file", same_file, BOTH_SERIAL}, {"prefix", prefix, BOTH_SERIAL},
      {"unlimited", unlimited, SERIAL_NEW})
