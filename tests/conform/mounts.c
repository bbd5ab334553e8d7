/* Mounts: one file's root appears as another file's group. */
#include "conform.h"

static hid_t make_child(const char *name, int first)
{
    hid_t file = make_file(name), g = make_group(file, "inside"), d = make_ints(g, "d", 5, first);
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    return file;
}

static void show_name(const char *what, hid_t id)
{
    char name[128] = "", file[64] = "";
    NUM(H5Iget_name(id, name, sizeof name));
    NUM(H5Fget_name(id, file, sizeof file));
    note("%s: %s in %s", what, name, file);
}

static void across(void)
{
    hid_t      parent = make_file("parent.h5"), point = make_group(parent, "mnt"), below = make_group(point, "hidden");
    hid_t      child  = make_child("child.h5", 10);
    H5G_info_t info;
    RC(H5Gclose(below));
    RC(H5Fmount(parent, "mnt", child, H5P_DEFAULT));
    RC(H5Gget_info_by_name(parent, "mnt", &info, H5P_DEFAULT));
    note("mounted %d, %llu links", info.mounted, (unsigned long long)info.nlinks);
    RC(H5Gget_info(point, &info));
    note("the old handle: mounted %d, %llu links", info.mounted, (unsigned long long)info.nlinks);
    RC(H5Lexists(parent, "mnt/hidden", H5P_DEFAULT));
    RC(H5Lexists(parent, "mnt/inside", H5P_DEFAULT));
    hid_t d = ID(H5Dopen2(parent, "mnt/inside/d", H5P_DEFAULT));
    show_name("dataset", d);
    read_ints(d, "data");
    int more[] = {5, 4, 3, 2, 1};
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), more));
    hid_t g = make_group(parent, "mnt/made_across");
    show_name("group", g);
    make_attr(g, "note", 1);
    RC(H5Gclose(g));
    hid_t other = make_ints(parent, "mnt/inside/e", 3, 7);
    RC(H5Dclose(other));
    RC(H5Fflush(parent, H5F_SCOPE_GLOBAL));
    RC(H5Funmount(parent, "mnt"));
    show_name("after unmount", d);
    RC(H5Lexists(parent, "mnt/hidden", H5P_DEFAULT));
    RC(H5Lexists(child, "made_across", H5P_DEFAULT));
    read_ints(d, "data");
    RC(H5Dclose(d));
    RC(H5Gclose(point));
    RC(H5Fclose(child));
    RC(H5Fclose(parent));
}

static void through_group_and_close(void)
{
    hid_t parent = make_file("parent.h5"), point = make_group(parent, "mnt"), child = make_child("child.h5", 20);
    RC(H5Fmount(point, ".", child, H5P_DEFAULT));
    RC(H5Fclose(child));
    hid_t d = ID(H5Dopen2(parent, "/mnt/inside/d", H5P_DEFAULT));
    read_ints(d, "the child's handle is closed");
    NUM(H5Fget_obj_count(parent, H5F_OBJ_ALL));
    RC(H5Dclose(d));
    RC(H5Gclose(point));
    RC(H5Fclose(parent));
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
}

static void chain(void)
{
    hid_t a = make_file("a.h5"), b = make_file("b.h5"), c = make_child("c.h5", 30);
    RC(H5Gclose(make_group(a, "m")));
    RC(H5Gclose(make_group(b, "m")));
    RC(H5Fmount(b, "m", c, H5P_DEFAULT));
    RC(H5Fmount(a, "m", b, H5P_DEFAULT));
    hid_t d = ID(H5Dopen2(a, "m/m/inside/d", H5P_DEFAULT));
    show_name("deep", d);
    read_ints(d, "data");
    hid_t up = ID(H5Gopen2(d, "/", H5P_DEFAULT));
    if (up >= 0) {
        show_name("root seen from there", up);
        RC(H5Gclose(up));
    }
    RC(H5Dclose(d));
    RC(H5Funmount(a, "m"));
    RC(H5Funmount(b, "m"));
    RC(H5Fclose(a));
    RC(H5Fclose(b));
    RC(H5Fclose(c));
}

static void refused(void)
{
    hid_t parent = make_file("p.h5"), child = make_child("c.h5", 1), d = make_ints(parent, "d", 2, 2);
    RC(H5Gclose(make_group(parent, "m")));
    RC(H5Gclose(make_group(parent, "n")));
    RC(H5Fmount(parent, "missing", child, H5P_DEFAULT));
    RC(H5Fmount(parent, "m", parent, H5P_DEFAULT));
    RC(H5Fmount(parent, "m", d, H5P_DEFAULT));
    RC(H5Funmount(parent, "m"));
    RC(H5Fmount(parent, "m", child, H5P_DEFAULT));
    RC(H5Fmount(parent, "m", child, H5P_DEFAULT));
    RC(H5Fmount(parent, "n", child, H5P_DEFAULT));
    RC(H5Lmove(parent, "m/inside", parent, "out", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(parent, "m/inside", parent, "hard_across", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Funmount(parent, "m"));
    RC(H5Funmount(parent, "m"));
    RC(H5Funmount(parent, ""));
    RC(H5Dclose(d));
    RC(H5Fclose(child));
    RC(H5Fclose(parent));
}

CASES(mounts, {"across", across, EVERYWHERE}, {"through_group_and_close", through_group_and_close, EVERYWHERE},
      {"chain", chain, EVERYWHERE}, {"refused", refused, EVERYWHERE})
