/* What can be asked of a dataset: space, type, status, sizes, addresses, and its lists as the library gives them back. */
#include "conform.h"

static void show_lists(hid_t d)
{
    hsize_t  chunk[4];
    unsigned bounds = 0;
    hid_t    c = ID(H5Dget_create_plist(d)), a = ID(H5Dget_access_plist(d));
    NUM(H5Pget_layout(c));
    int n = RC(H5Pget_chunk(c, 4, chunk));
    if (n > 0)
        show_dims("chunk", chunk, n);
    RC(H5Pget_nfilters(c));
    RC(H5Pget_external_count(c));
    RC(H5Pget_attr_creation_order(c, &bounds));
    note("attribute order %u", bounds);
    bool times = false;
    RC(H5Pget_obj_track_times(c, &times));
    note("times %d", times);
    RC(H5Pequal(c, c));
    size_t slots, bytes;
    double policy;
    RC(H5Pget_chunk_cache(a, &slots, &bytes, &policy));
    note("cache %zu %zu %g", slots, bytes, policy);
    RC(H5Pclose(c));
    RC(H5Pclose(a));
}

static void ask(hid_t d)
{
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    hid_t              space = ID(H5Dget_space(d)), type = ID(H5Dget_type(d));
    show_space("space", space);
    show_type("type", type);
    RC(H5Dget_space_status(d, &status));
    note("status %d", status);
    NUM(H5Dget_storage_size(d));
    NUM(H5Dget_offset(d));
    show_lists(d);
    RC(H5Sclose(space));
    RC(H5Tclose(type));
}

static void every_layout(void)
{
    hid_t file = make_file("l.h5"), compact = plist(H5P_DATASET_CREATE), filtered = chunked1(8), untimed = chunked1(8);
    RC(H5Pset_layout(compact, H5D_COMPACT));
    RC(H5Pset_fletcher32(filtered));
    RC(H5Pset_obj_track_times(untimed, false));
    RC(H5Pset_attr_creation_order(untimed, H5P_CRT_ORDER_TRACKED));
    hid_t lists[] = {H5P_DEFAULT, compact, chunked1(8), filtered, untimed};
    for (size_t i = 0; i < COUNT(lists); i++) {
        char name[8];
        int  values[20] = {0};
        snprintf(name, sizeof name, "d%zu", i);
        note("%s", name);
        hid_t d = ID(H5Dcreate2(file, name, H5T_STD_I32BE, space1(20), H5P_DEFAULT, lists[i], H5P_DEFAULT));
        ask(d);
        RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
        ask(d);
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
    file = open_file("l.h5", H5F_ACC_RDONLY);
    for (size_t i = 0; i < COUNT(lists); i++) {
        char name[8];
        snprintf(name, sizeof name, "d%zu", i);
        hid_t d = ID(H5Dopen2(file, name, H5P_DEFAULT));
        ask(d);
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

/* A handle's queries after the dataset changed through another handle. */
static void two_handles(void)
{
    hsize_t size = 50;
    hid_t   file = make_file("t.h5");
    hid_t   d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1_up_to(20, H5S_UNLIMITED), H5P_DEFAULT, chunked1(6), H5P_DEFAULT));
    hid_t   e    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    RC(H5Dset_extent(d, &size));
    show_space("seen by the other", keep(H5Dget_space(e)));
    RC(H5Ldelete(file, "d", H5P_DEFAULT));
    show_space("unlinked", keep(H5Dget_space(e)));
    RC(H5Dclose(d));
    read_ints(e, "values");
    RC(H5Dclose(e));
    RC(H5Fclose(file));
}

static void scales_by_hand(void)
{
    hid_t      file = make_file("s.h5"), x = make_ints(file, "x", 4, 0), d = make_ints(file, "d", 4, 10), text = text_type(16);
    hobj_ref_t ref, back;
    char       cls[16] = "DIMENSION_SCALE";
    hid_t      a = ID(H5Acreate2(x, "CLASS", text, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, text, cls));
    RC(H5Aclose(a));
    RC(H5Rcreate(&ref, file, "x", H5R_OBJECT, H5I_INVALID_HID));
    a = ID(H5Acreate2(d, "DIMENSION_LIST", H5T_STD_REF_OBJ, space1(1), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, H5T_STD_REF_OBJ, &ref));
    RC(H5Aread(a, H5T_STD_REF_OBJ, &back));
    RC(H5Aclose(a));
    hid_t scale = ID(H5Rdereference2(d, H5P_DEFAULT, H5R_OBJECT, &back));
    read_ints(scale, "scale");
    RC(H5Dclose(scale));
    RC(H5Dclose(x));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(dataset_info, {"every_layout", every_layout, EVERYWHERE}, {"two_handles", two_handles, EVERYWHERE},
      {"scales_by_hand", scales_by_hand, EVERYWHERE})
