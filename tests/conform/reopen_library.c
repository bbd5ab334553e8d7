/* The library is closed and opened again in one process: a connector is terminated, and then needed once more. */
#include "conform.h"

static void session(const char *name, int first)
{
    hid_t file = make_file(name), g = make_group(file, "g"), d = make_ints(g, "d", 8, first);
    make_attr(d, "a", first);
    read_ints(d, "data");
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void restart(void)
{
    note("close the library: %d", H5close());
    forget();
    note("open it: %d", H5open());
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void in_order(void)
{
    session("a.h5", 1);
    restart();
    session("b.h5", 2);
    restart();
    restart();
    hid_t file = open_file("a.h5", H5F_ACC_RDWR), d = ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
    read_ints(d, "from before");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Everything is still open: the library closes it, and the data is in the file. */
static void with_open_objects(void)
{
    hid_t file = make_file("o.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 8, 5);
    make_attr(d, "a", 6);
    hid_t a = ID(H5Aopen(d, "a", H5P_DEFAULT)), again = ID(H5Freopen(file)), es = ID(H5EScreate());
    (void)a, (void)again, (void)es;
    restart();
    RC(H5Iis_valid(d));
    file = open_file("o.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
    read_ints(d, "data");
    RC(H5Aexists(d, "a"));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* With an error on the stack, a list in use, and a reference that keeps its file. */
static void in_the_middle(void)
{
    H5R_ref_t ref;
    hid_t     file = make_file("m.h5");
    RC(H5Dclose(make_ints(file, "d", 3, 1)));
    RC(H5Rcreate_object(file, "d", H5P_DEFAULT, &ref));
    ID(H5Dopen2(file, "missing", H5P_DEFAULT));
    restart();
    session("n.h5", 9);
    ID(H5Dopen2(file, "d", H5P_DEFAULT));
}

CASES(reopen_library, {"in_order", in_order, EVERYWHERE}, {"with_open_objects", with_open_objects, EVERYWHERE},
      {"in_the_middle", in_the_middle, SERIAL})
