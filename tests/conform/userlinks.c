/* User-defined links: the callbacks get identifiers made by the library inside a traversal, and return one. */
#include "conform.h"

#define BY_PATH ((H5L_type_t)100)
#define REFUSING ((H5L_type_t)101)
#define COUNTING ((H5L_type_t)102)

static hid_t go(const char *name, hid_t group, const void *value, size_t size, hid_t lapl, hid_t dxpl)
{
    char here[64] = "";
    (void)size, (void)dxpl;
    NUM(H5Iget_name(group, here, sizeof here));
    note("traversing %s from %s", name, here);
    return ID(H5Oopen(group, value, lapl));
}

static hid_t refuse(const char *name, hid_t group, const void *value, size_t size, hid_t lapl, hid_t dxpl)
{
    (void)group, (void)value, (void)size, (void)lapl, (void)dxpl;
    note("refusing %s", name);
    return H5I_INVALID_HID;
}

static ssize_t tell(const char *name, const void *value, size_t size, void *buf, size_t buf_size)
{
    note("asked for the value of %s", name);
    if (buf && buf_size >= size)
        memcpy(buf, value, size);
    return (ssize_t)size;
}

static herr_t on_create(const char *name, hid_t group, const void *value, size_t size, hid_t lcpl)
{
    char here[64] = "";
    (void)lcpl, (void)value;
    NUM(H5Iget_name(group, here, sizeof here));
    note("created %s in %s with %zu bytes", name, here, size);
    return strcmp(name, "forbidden") == 0 ? -1 : 0;
}

static herr_t on_move(const char *name, hid_t group, const void *value, size_t size)
{
    (void)value, (void)group;
    note("moved to %s, %zu bytes", name, size);
    return 0;
}

static herr_t on_copy(const char *name, hid_t group, const void *value, size_t size)
{
    (void)value, (void)group;
    note("copied to %s, %zu bytes", name, size);
    return 0;
}

static herr_t on_delete(const char *name, hid_t file, const void *value, size_t size)
{
    (void)value;
    note("deleted %s, file is of kind %d, %zu bytes", name, H5Iget_type(file), size);
    return 0;
}

static const H5L_class_t by_path  = {H5L_LINK_CLASS_T_VERS, BY_PATH, "by path", NULL, NULL, NULL, go, NULL, tell};
static const H5L_class_t refusing = {H5L_LINK_CLASS_T_VERS, REFUSING, "refusing", NULL, NULL, NULL, refuse, NULL, NULL};
static const H5L_class_t counting = {H5L_LINK_CLASS_T_VERS, COUNTING, "counting", on_create, on_move, on_copy, go, on_delete, tell};

static void traverse(void)
{
    hid_t file = make_file("u.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 5, 50);
    char  value[32] = "", name[64] = "";
    H5L_info2_t info;
    RC(H5Lregister(&by_path));
    RC(H5Lis_registered(BY_PATH));
    RC(H5Lcreate_ud(file, "to_d", BY_PATH, "g/d", 4, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_ud(file, "to_g", BY_PATH, "g", 2, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_ud(g, "to_none", BY_PATH, "none", 5, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dclose(d));
    hid_t o = ID(H5Dopen2(file, "to_d", H5P_DEFAULT));
    NUM(H5Iget_name(o, name, sizeof name));
    show_text("name", name);
    read_ints(o, "data");
    RC(H5Dclose(o));
    o = ID(H5Oopen(file, "to_g/d", H5P_DEFAULT));
    RC(H5Oclose(o));
    ID(H5Oopen(file, "g/to_none", H5P_DEFAULT));
    RC(H5Oexists_by_name(file, "to_d", H5P_DEFAULT));
    make_attr(file, "through", 3);
    RC(H5Aexists_by_name(file, "to_g", "nothing", H5P_DEFAULT));
    hid_t through = make_group(file, "to_g/new");
    RC(H5Gclose(through));
    RC(H5Lget_info2(file, "to_d", &info, H5P_DEFAULT));
    note("type %d, %zu bytes", info.type, info.u.val_size);
    RC(H5Lget_val(file, "to_d", value, sizeof value, H5P_DEFAULT));
    show_text("value", value);
    RC(H5Gclose(g));
    RC(H5Lunregister(BY_PATH));
    ID(H5Oopen(file, "to_d", H5P_DEFAULT));
    RC(H5Lis_registered(BY_PATH));
    RC(H5Lunregister(BY_PATH));
    RC(H5Fclose(file));
}

static void notifications(void)
{
    hid_t file = make_file("n.h5"), g = make_group(file, "g");
    RC(H5Lregister(&counting));
    RC(H5Lcreate_ud(file, "one", COUNTING, "g", 2, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_ud(file, "forbidden", COUNTING, "g", 2, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lexists(file, "forbidden", H5P_DEFAULT));
    RC(H5Lcopy(file, "one", g, "two", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "one", file, "three", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g", file, "copy_of_g", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ldelete(file, "three", H5P_DEFAULT));
    RC(H5Ldelete(file, "g/two", H5P_DEFAULT));
    RC(H5Lunregister(COUNTING));
    RC(H5Lcreate_ud(file, "unknown", COUNTING, "g", 2, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_ud(file, "reserved", H5L_TYPE_SOFT, "g", 2, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void refused(void)
{
    hid_t file = make_file("r.h5");
    RC(H5Lregister(&refusing));
    RC(H5Lcreate_ud(file, "no", REFUSING, NULL, 0, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Oopen(file, "no", H5P_DEFAULT));
    RC(H5Oexists_by_name(file, "no", H5P_DEFAULT));
    ID(H5Gcreate2(file, "no/below", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lunregister(REFUSING));
    RC(H5Fclose(file));
}

CASES(userlinks, {"traverse", traverse, EVERYWHERE}, {"notifications", notifications, EVERYWHERE}, {"refused", refused, EVERYWHERE})
