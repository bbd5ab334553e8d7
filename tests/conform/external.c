/* External storage: raw data in plain files beside the HDF5 file. */
#include "conform.h"

#include <sys/stat.h>

static void two_files(void)
{
    int   values[20];
    char  name[64] = "";
    off_t offset   = -1;
    hsize_t size   = 0;
    hid_t dcpl = plist(H5P_DATASET_CREATE), file = make_file("e.h5");
    RC(H5Pset_external(dcpl, "one.raw", 16, 10 * sizeof(int)));
    RC(H5Pset_external(dcpl, "two.raw", 0, H5F_UNLIMITED));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(20), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < 20; i++)
        values[i] = 1000 + i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    read_ints(d, "values");
    hid_t stored = ID(H5Dget_create_plist(d));
    RC(H5Pget_external_count(stored));
    RC(H5Pget_external(stored, 0, sizeof name, name, &offset, &size));
    note("%s at %lld, %llu bytes", name, (long long)offset, (unsigned long long)size);
    RC(H5Pget_external(stored, 5, sizeof name, name, &offset, &size));
    RC(H5Pclose(stored));
    NUM(H5Dget_storage_size(d));
    note("offset known %d", H5Dget_offset(d) != HADDR_UNDEF);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void prefix_and_missing(void)
{
    int   values[4] = {4, 3, 2, 1};
    char  back[64]  = "";
    hid_t dcpl = plist(H5P_DATASET_CREATE), dapl = plist(H5P_DATASET_ACCESS), file = make_file("p.h5");
    mkdir("below", 0777);
    RC(H5Pset_external(dcpl, "raw", 0, sizeof values));
    RC(H5Pset_efile_prefix(dapl, "below"));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(4), H5P_DEFAULT, dcpl, dapl));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    hid_t stored = ID(H5Dget_access_plist(d));
    NUM(H5Pget_efile_prefix(stored, back, sizeof back));
    show_text("prefix", back);
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
    d = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dclose(d));
    d = ID(H5Dopen2(file, "d", dapl));
    read_ints(d, "with prefix");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* The files together are too small; chunks cannot be external. */
static void refused(void)
{
    hid_t small = plist(H5P_DATASET_CREATE), chunks = chunked1(4), file = make_file("r.h5");
    RC(H5Pset_external(small, "s.raw", 0, 8));
    ID(H5Dcreate2(file, "small", H5T_NATIVE_INT, space1(20), H5P_DEFAULT, small, H5P_DEFAULT));
    RC(H5Pset_external(chunks, "c.raw", 0, 80));
    ID(H5Dcreate2(file, "chunks", H5T_NATIVE_INT, space1(20), H5P_DEFAULT, chunks, H5P_DEFAULT));
    RC(H5Fclose(file));
}

CASES(external, {"two_files", two_files, BOTH_SERIAL}, {"prefix_and_missing", prefix_and_missing, BOTH_SERIAL},
      {"refused", refused, EVERYWHERE})
