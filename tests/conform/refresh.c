/* Refresh: the object is closed and opened again underneath its handle, which must go on working. */
#include "conform.h"

static void each_object(void)
{
    hid_t file = make_file("r.h5"), g = make_group(file, "g"), t = H5Tcopy(H5T_NATIVE_SHORT);
    hid_t d = ID(H5Dcreate2(g, "d", H5T_NATIVE_INT, space1_up_to(8, H5S_UNLIMITED), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    int   values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    char  name[64] = "";
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Tcommit2(g, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    for (int i = 0; i < 3; i++) {
        hsize_t size = 8 + (hsize_t)i;
        RC(H5Drefresh(d));
        RC(H5Grefresh(g));
        RC(H5Trefresh(t));
        RC(H5Orefresh(d));
        RC(H5Orefresh(g));
        RC(H5Dset_extent(d, &size));
        read_ints(d, "data");
        NUM(H5Iget_name(d, name, sizeof name));
        show_text("dataset", name);
        NUM(H5Iget_name(g, name, sizeof name));
        show_text("group", name);
        RC(H5Lexists(g, "d", H5P_DEFAULT));
        show_type("type", t);
        RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    }
    RC(H5Tclose(t));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

/* Two handles to one dataset, through two openings of the file. */
static void two_handles(void)
{
    hid_t   file = make_file("t.h5");
    hsize_t nine = 9;
    hid_t   d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1_up_to(4, H5S_UNLIMITED), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    hid_t   again = ID(H5Freopen(file)), e = ID(H5Dopen2(again, "d", H5P_DEFAULT));
    int     values[] = {4, 3, 2, 1};
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dset_extent(d, &nine));
    RC(H5Dflush(d));
    RC(H5Drefresh(e));
    show_space("the other handle", keep(H5Dget_space(e)));
    read_ints(e, "data");
    RC(H5Dclose(e));
    RC(H5Fclose(again));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Refreshed while attributes and member types of it are open. */
static void with_dependents(void)
{
    int   value = 0;
    hid_t file = make_file("d.h5"), d = make_ints(file, "d", 5, 10);
    make_attr(d, "a", 11);
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    hid_t a = ID(H5Aopen(d, "a", H5P_DEFAULT)), space = ID(H5Dget_space(d)), type = ID(H5Dget_type(d));
    RC(H5Drefresh(d));
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    note("attribute %d", value);
    read_ints(d, "data");
    make_attr(d, "b", 12);
    RC(H5Aexists(d, "b"));
    RC(H5Aclose(a));
    RC(H5Sclose(space));
    RC(H5Tclose(type));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void refused(void)
{
    hid_t file = make_file("x.h5"), d = make_ints(file, "d", 2, 0), transient = keep(H5Tcopy(H5T_NATIVE_INT));
    RC(H5Drefresh(file));
    RC(H5Grefresh(d));
    RC(H5Trefresh(d));
    RC(H5Trefresh(transient));
    RC(H5Orefresh(transient));
    RC(H5Orefresh(file));
    RC(H5Orefresh(space1(1)));
    RC(H5Drefresh(H5I_INVALID_HID));
    read_ints(d, "data");
    RC(H5Dclose(d));
    RC(H5Drefresh(d));
    RC(H5Fclose(file));
}

CASES(refresh, {"each_object", each_object, EVERYWHERE}, {"two_handles", two_handles, EVERYWHERE},
      {"with_dependents", with_dependents, EVERYWHERE}, {"refused", refused, EVERYWHERE})
