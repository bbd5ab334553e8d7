/* A user block: the program's own bytes in front of the file, which every address is relative to. */
#include "conform.h"

static void stamp(const char *name)
{
    if (solo_begin()) {
        FILE *raw = fopen(name, "r+b");
        for (int i = 0; i < 1024; i++)
            fputc('a' + i % 26, raw);
        fclose(raw);
    }
    solo_end();
}

static void basic(void)
{
    hsize_t size = 0;
    hid_t   fcpl = plist(H5P_FILE_CREATE);
    RC(H5Pset_userblock(fcpl, 1024));
    hid_t   file = ID(H5Fcreate("u.h5", H5F_ACC_TRUNC, fcpl, fapl()));
    hid_t   d    = make_ints(file, "d", 50, 3), c = ID(H5Dcreate2(file, "c", H5T_NATIVE_INT, space1(30), H5P_DEFAULT, chunked1(7), H5P_DEFAULT));
    int     values[30];
    NUM(H5Dget_offset(d));
    for (int i = 0; i < 30; i++)
        values[i] = i;
    RC(H5Dwrite(c, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dclose(d));
    RC(H5Dclose(c));
    RC(H5Fclose(file));
    stamp("u.h5");
    RC(H5Fis_accessible("u.h5", fapl()));
    file        = open_file("u.h5", H5F_ACC_RDWR);
    hid_t list  = ID(H5Fget_create_plist(file));
    RC(H5Pget_userblock(list, &size));
    note("user block of %llu", (unsigned long long)size);
    RC(H5Pclose(list));
    d = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    NUM(H5Dget_offset(d));
    read_ints(d, "d");
    RC(H5Dclose(d));
    c = ID(H5Dopen2(file, "c", H5P_DEFAULT));
    read_ints(c, "c");
    hsize_t  where[1];
    unsigned mask;
    haddr_t  at;
    RC(H5Dget_chunk_info(c, H5S_ALL, 0, where, &mask, &at, &size));
    note("first chunk at %llu", (unsigned long long)at);
    RC(H5Dclose(c));
    hsize_t bytes = 0;
    RC(H5Fget_filesize(file, &bytes));
    note("%llu bytes", (unsigned long long)bytes);
    RC(H5Fclose(file));
}

static void unallocated(void)
{
    hid_t fcpl = plist(H5P_FILE_CREATE), dcpl = plist(H5P_DATASET_CREATE);
    RC(H5Pset_userblock(fcpl, 512));
    RC(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_LATE));
    hid_t              file = ID(H5Fcreate("n.h5", H5F_ACC_TRUNC, fcpl, fapl()));
    hid_t              d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(5), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    H5D_space_status_t status;
    NUM(H5Dget_offset(d));
    RC(H5Dget_space_status(d, &status));
    note("status %d", status);
    read_ints(d, "unwritten");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    RC(H5Pset_userblock(fcpl, 1000));
}

CASES(userblock, {"basic", basic, EVERYWHERE}, {"unallocated", unallocated, EVERYWHERE})
