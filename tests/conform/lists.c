/* Property lists that the library gives back: used again for other files and objects, copied, encoded, compared. */
#include "conform.h"

/* A file made and read with another file's access and creation lists. */
static void of_a_file(void)
{
    unsigned intent = 0;
    hid_t    a = make_file("a.h5"), acpl = ID(H5Fget_access_plist(a)), fcpl = ID(H5Fget_create_plist(a));
    RC(H5Dclose(make_ints(a, "d", 8, 1)));
    hid_t b = ID(H5Fcreate("b.h5", H5F_ACC_TRUNC, fcpl, acpl));
    RC(H5Dclose(make_ints(b, "d", 8, 2)));
    RC(H5Fclose(b));
    RC(H5Fclose(a));
    b       = ID(H5Fopen("b.h5", H5F_ACC_RDWR, acpl));
    hid_t d = ID(H5Dopen2(b, "d", H5P_DEFAULT));
    read_ints(d, "data");
    RC(H5Fget_intent(b, &intent));
    hid_t again = ID(H5Fget_access_plist(b));
    RC(H5Pequal(acpl, again));
    note("same driver %d", H5Pget_driver(again) == H5Pget_driver(acpl));
    RC(H5Fis_accessible("a.h5", again));
    RC(H5Pclose(again));
    RC(H5Dclose(d));
    RC(H5Fclose(b));
    hid_t copy = ID(H5Pcopy(acpl));
    RC(H5Pclose(acpl));
    a = ID(H5Fopen("a.h5", H5F_ACC_RDONLY, copy));
    RC(H5Lexists(a, "d", H5P_DEFAULT));
    RC(H5Fclose(a));
    RC(H5Pclose(copy));
    RC(H5Pclose(fcpl));
}

/* Encoded, and decoded into a list that opens files. */
static void encoded(void)
{
    size_t size = 0;
    hid_t  file = make_file("e.h5"), list = ID(H5Fget_access_plist(file));
    RC(H5Fclose(file));
    RC(H5Pencode2(list, NULL, &size, H5P_DEFAULT));
    void *bytes = malloc(size + 1);
    RC(H5Pencode2(list, bytes, &size, H5P_DEFAULT));
    hid_t back = ID(H5Pdecode(bytes));
    file       = ID(H5Fopen("e.h5", H5F_ACC_RDONLY, back));
    if (file >= 0)
        RC(H5Fclose(file));
    RC(H5Pclose(back));
    RC(H5Pclose(list));
    free(bytes);
}

/* Creation lists of one object make another. */
static void of_objects(void)
{
    int   fill = 7;
    hid_t file = make_file("o.h5"), dcpl = chunked1(5), gcpl = plist(H5P_GROUP_CREATE);
    RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(12), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    hid_t g = ID(H5Gcreate2(file, "g", H5P_DEFAULT, gcpl, H5P_DEFAULT));
    hid_t c = ID(H5Dget_create_plist(d)), a = ID(H5Dget_access_plist(d)), l = ID(H5Gget_create_plist(g));
    hid_t e = ID(H5Dcreate2(file, "e", H5T_NATIVE_INT, space1(12), H5P_DEFAULT, c, a));
    hid_t h = ID(H5Gcreate2(file, "h", H5P_DEFAULT, l, H5P_DEFAULT));
    read_ints(e, "filled");
    RC(H5Pequal(c, dcpl));
    hid_t cls = ID(H5Pget_class(c));
    RC(H5Pequal(cls, H5P_DATASET_CREATE));
    RC(H5Pclose_class(cls));
    RC(H5Pclose(c));
    RC(H5Pclose(a));
    RC(H5Pclose(l));
    RC(H5Dclose(d));
    RC(H5Dclose(e));
    RC(H5Gclose(g));
    RC(H5Gclose(h));
    RC(H5Fclose(file));
}

static int copies, closes;

static herr_t on_copy(const char *name, size_t size, void *value)
{
    (void)name, (void)size, (void)value;
    copies++;
    return 0;
}

static herr_t on_close(const char *name, size_t size, void *value)
{
    (void)name, (void)size, (void)value;
    closes++;
    return 0;
}

/* A property of the program's own on the transfer list. The library does not copy the list, and nobody else may. */
static void own_property(void)
{
    int   value = 42, back = 0, data[4] = {1, 2, 3, 4};
    hid_t file = make_file("p.h5"), dxpl = H5Pcreate(H5P_DATASET_XFER);
    copies = closes = 0;
    RC(H5Pinsert2(dxpl, "mine", sizeof value, &value, NULL, NULL, NULL, on_copy, NULL, on_close));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, data));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, data));
    RC(H5Pget(dxpl, "mine", &back));
    note("value %d, %d copies", back, copies);
    RC(H5Pclose(dxpl));
    note("%d closes", closes);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(lists, {"of_a_file", of_a_file, EVERYWHERE}, {"encoded", encoded, BOTH_SERIAL | PARALLEL}, {"of_objects", of_objects, EVERYWHERE},
      {"own_property", own_property, EVERYWHERE})
