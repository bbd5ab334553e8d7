/* Errors: transfers that cannot be done, and files that cannot be written. */
#include "conform.h"

static void types_and_sizes(void)
{
    int   buf[100] = {0};
    hid_t file = make_file("t.h5"), d = make_ints(file, "d", 10, 1), opaque = keep(H5Tcreate(H5T_OPAQUE, 8));
    RC(H5Dread(d, text_type(4), H5S_ALL, H5S_ALL, collective(), buf));
    RC(H5Dread(d, opaque, H5S_ALL, H5S_ALL, collective(), buf));
    RC(H5Dread(d, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, collective(), buf));
    RC(H5Dwrite(d, text_type(H5T_VARIABLE), H5S_ALL, H5S_ALL, independent(), buf));
    RC(H5Dread(d, H5I_INVALID_HID, H5S_ALL, H5S_ALL, collective(), buf));
    RC(H5Dread(d, space1(10), H5S_ALL, H5S_ALL, collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, H5T_NATIVE_INT, H5S_ALL, collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, H5I_INVALID_HID, H5S_ALL, collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(9), H5S_ALL, collective(), buf));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(11), H5S_ALL, collective(), buf));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, fapl(), buf));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5I_INVALID_HID, buf));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), NULL));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), NULL));
    read_ints(d, "untouched");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void creation(void)
{
    hsize_t big[]  = {1 << 20, 1 << 20}, zero = 0;
    hid_t   file = make_file("c.h5"), huge = plist(H5P_DATASET_CREATE), wide = chunked1(100), null = keep(H5Screate(H5S_NULL));
    ID(H5Dcreate2(file, NULL, H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5I_INVALID_HID, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", space1(2), space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(2), fapl(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, fapl(), H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, fapl()));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(4, 4), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, wide, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, chunked1(1), H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, null, H5P_DEFAULT, chunked1(1), H5P_DEFAULT));
    RC(H5Pset_chunk(huge, 2, big));
    RC(H5Pset_chunk(huge, 1, &zero));
    RC(H5Pset_chunk(huge, 0, NULL));
    ID(H5Dcreate_anon(file, H5T_NATIVE_INT, H5I_INVALID_HID, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lexists(file, "d", H5P_DEFAULT));
    hid_t left[2];
    NUM(H5Fget_obj_ids(file, H5F_OBJ_DATASET, 2, left));
    RC(H5Fclose(file));
}

static void read_only(void)
{
    int     value[4] = {0};
    hsize_t eight = 8;
    hid_t   file = make_file("r.h5"), g = make_group(file, "g");
    hid_t   d = ID(H5Dcreate2(g, "d", H5T_NATIVE_INT, space1_up_to(4, H5S_UNLIMITED), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    make_attr(d, "a", 1);
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    file    = open_file("r.h5", H5F_ACC_RDONLY);
    g       = ID(H5Gopen2(file, "g", H5P_DEFAULT));
    d       = ID(H5Dopen2(g, "d", H5P_DEFAULT));
    hid_t a = ID(H5Aopen(d, "a", H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), value));
    RC(H5Dset_extent(d, &eight));
    RC(H5Awrite(a, H5T_NATIVE_INT, value));
    RC(H5Adelete(d, "a"));
    RC(H5Arename(d, "a", "b"));
    ID(H5Acreate2(d, "new", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "new", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "new", H5T_NATIVE_INT, space1(3), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space1(3), H5P_DEFAULT, H5P_DEFAULT));
    make_type(file, "new", H5T_NATIVE_INT);
    RC(H5Ldelete(g, "d", H5P_DEFAULT));
    RC(H5Lmove(g, "d", file, "e", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(g, "d", file, "e", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("x", file, "e", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("x", "y", file, "e", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Oset_comment(g, "words"));
    RC(H5Oincr_refcount(d));
    RC(H5Olink(d, file, "e", H5P_DEFAULT, H5P_DEFAULT));
    hsize_t where = 0;
    if (!parallel())
        RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &where, sizeof value, value));
    RC(H5Aclose(a));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void attributes(void)
{
    int   value = 0;
    hid_t file = make_file("a.h5"), a;
    make_attr(file, "a", 1);
    ID(H5Acreate2(file, "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(file, NULL, H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(file, "", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(file, "b", H5I_INVALID_HID, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(file, "b", H5T_NATIVE_INT, H5I_INVALID_HID, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate_by_name(file, "none", "b", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(file, "b", H5T_NATIVE_INT, scalar(), fapl(), H5P_DEFAULT));
    a = ID(H5Aopen(file, "a", H5P_DEFAULT));
    RC(H5Aread(a, text_type(3), &value));
    RC(H5Awrite(a, H5I_INVALID_HID, &value));
    RC(H5Aread(a, H5T_NATIVE_INT, NULL));
    RC(H5Awrite(a, H5T_NATIVE_INT, NULL));
    RC(H5Aclose(a));
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    RC(H5Aclose(a));
    RC(H5Adelete(file, "none"));
    RC(H5Adelete(file, NULL));
    RC(H5Arename(file, "none", "b"));
    RC(H5Arename(file, "a", NULL));
    RC(H5Aexists(file, NULL));
    RC(H5Fclose(file));
}

/* The checksum of a chunk does not fit its bytes. */
static void damaged_chunk(void)
{
    int      values[10];
    hsize_t  where = 0, size = 0;
    unsigned mask;
    haddr_t  at = 0;
    hid_t    file = make_file("d.h5"), dcpl = chunked1(10);
    RC(H5Pset_fletcher32(dcpl));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(10), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < 10; i++)
        values[i] = i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dget_chunk_info(d, H5S_ALL, 0, &where, &mask, &at, &size));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    FILE *raw = fopen("d.h5", "r+b");
    fseek(raw, (long)at + 5, SEEK_SET);
    fputc(0x7f, raw);
    fclose(raw);
    file = open_file("d.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(errors_data, {"types_and_sizes", types_and_sizes, EVERYWHERE}, {"creation", creation, EVERYWHERE}, {"read_only", read_only, EVERYWHERE},
      {"attributes", attributes, EVERYWHERE}, {"damaged_chunk", damaged_chunk, BOTH_SERIAL})
