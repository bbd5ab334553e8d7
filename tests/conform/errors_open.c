/* Errors: opening what is not there, or is something else. */
#include "conform.h"

static hid_t make_sample(void)
{
    hid_t file = make_file("e.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 4, 1);
    make_attr(d, "a", 1);
    make_type(file, "t", H5T_NATIVE_INT);
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    return file;
}

static void missing(void)
{
    hid_t file = make_sample(), d = ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
    ID(H5Dopen2(file, "none", H5P_DEFAULT));
    ID(H5Dopen2(file, "g/none", H5P_DEFAULT));
    ID(H5Dopen2(file, "none/none", H5P_DEFAULT));
    ID(H5Gopen2(file, "none", H5P_DEFAULT));
    ID(H5Topen2(file, "none", H5P_DEFAULT));
    ID(H5Oopen(file, "none", H5P_DEFAULT));
    ID(H5Aopen(d, "none", H5P_DEFAULT));
    ID(H5Aopen_by_name(file, "g/d", "none", H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Aopen_by_name(file, "none", "a", H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Aopen_by_idx(file, "g/d", H5_INDEX_NAME, H5_ITER_INC, 9, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Oopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 9, H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void wrong_kind(void)
{
    hid_t file = make_sample();
    ID(H5Dopen2(file, "g", H5P_DEFAULT));
    ID(H5Dopen2(file, "t", H5P_DEFAULT));
    ID(H5Gopen2(file, "g/d", H5P_DEFAULT));
    ID(H5Gopen2(file, "t", H5P_DEFAULT));
    ID(H5Topen2(file, "g", H5P_DEFAULT));
    ID(H5Dopen2(file, "g/d/below", H5P_DEFAULT));
    ID(H5Gcreate2(file, "g/d/below", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "t/below", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fclose(file));
}

/* Identifiers that are something else, nothing, or no longer valid. */
static void bad_identifiers(void)
{
    int   value = 0;
    hid_t file = make_sample(), d = ID(H5Dopen2(file, "g/d", H5P_DEFAULT)), bad[] = {H5I_INVALID_HID, 0, space1(2), fapl(), d + 1000, 12345};
    for (size_t i = 0; i < COUNT(bad); i++) {
        note("identifier %zu", i);
        ID(H5Dopen2(bad[i], "d", H5P_DEFAULT));
        ID(H5Dcreate2(bad[i], "d", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        ID(H5Gopen2(bad[i], "g", H5P_DEFAULT));
        ID(H5Gcreate2(bad[i], "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        ID(H5Acreate2(bad[i], "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
        ID(H5Oopen(bad[i], "o", H5P_DEFAULT));
        RC(H5Dread(bad[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
        RC(H5Awrite(bad[i], H5T_NATIVE_INT, &value));
        RC(H5Aread(bad[i], H5T_NATIVE_INT, &value));
        RC(H5Lexists(bad[i], "x", H5P_DEFAULT));
        RC(H5Ldelete(bad[i], "x", H5P_DEFAULT));
        ID(H5Dget_space(bad[i]));
        ID(H5Dget_type(bad[i]));
        ID(H5Fget_access_plist(bad[i]));
        RC(H5Fclose(bad[i]));
        RC(H5Gclose(bad[i]));
        RC(H5Aclose(bad[i]));
    }
    RC(H5Dclose(d));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    RC(H5Fclose(file));
    ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
}

static void close_if_open(hid_t object)
{
    if (object >= 0)
        RC(H5Oclose(object));
}

/* A dataset as location, a file where an attribute is meant, and so on. */
static void mixed_up(void)
{
    int   value = 0;
    hid_t file = make_sample(), g = ID(H5Gopen2(file, "g", H5P_DEFAULT)), d = ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
    hid_t a = ID(H5Aopen(d, "a", H5P_DEFAULT)), t = ID(H5Topen2(file, "t", H5P_DEFAULT));
    ID(H5Gcreate2(d, "in a dataset", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(a, "in an attribute", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(t, "in a type", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Acreate2(a, "of an attribute", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    close_if_open(ID(H5Dopen2(d, ".", H5P_DEFAULT)));
    close_if_open(ID(H5Gopen2(d, "/g", H5P_DEFAULT)));
    close_if_open(ID(H5Oopen(a, ".", H5P_DEFAULT)));
    close_if_open(ID(H5Oopen(t, "/g/d", H5P_DEFAULT)));
    RC(H5Dread(g, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
    RC(H5Dread(a, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
    RC(H5Aread(d, H5T_NATIVE_INT, &value));
    RC(H5Gclose(d));
    RC(H5Dclose(g));
    RC(H5Tclose(d));
    RC(H5Fclose(g));
    RC(H5Aclose(t));
    RC(H5Dget_offset(g) == HADDR_UNDEF);
    NUM(H5Dget_storage_size(g));
    ID(H5Gget_create_plist(d));
    ID(H5Dget_create_plist(g));
    ID(H5Fget_create_plist(d));
    RC(H5Aclose(a));
    RC(H5Tclose(t));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    NUM(H5Fget_obj_count(file, H5F_OBJ_ALL));
    NUM(H5Fget_obj_count(file, H5F_OBJ_DATASET));
    RC(H5Fclose(file));
}

CASES(errors_open, {"missing", missing, EVERYWHERE}, {"wrong_kind", wrong_kind, EVERYWHERE},
      {"bad_identifiers", bad_identifiers, EVERYWHERE}, {"mixed_up", mixed_up, EVERYWHERE})
