/* External links: traversal, what is reached through them, prefixes, access lists and callbacks, cycles, broken targets. */
#include "conform.h"

#include <sys/stat.h>

static void make_target(const char *name)
{
    hid_t file = make_file(name), g = make_group(file, "there"), d = make_ints(g, "d", 6, 60);
    make_attr(d, "unit", 8);
    RC(H5Lcreate_soft("/there/d", file, "alias", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void show_file_of(hid_t object)
{
    char  name[128] = "", path[128] = "";
    hid_t file = ID(H5Iget_file_id(object));
    NUM(H5Fget_name(file, name, sizeof name));
    NUM(H5Fget_name(object, name, sizeof name));
    NUM(H5Iget_name(object, path, sizeof path));
    note("%s is in %s", path, name);
    RC(H5Fclose(file));
}

static void traverse(void)
{
    char        value[64];
    const char *to_file = NULL, *to_object = NULL;
    unsigned    flags = 9;
    H5L_info2_t info;
    make_target("target.h5");
    hid_t file = make_file("main.h5");
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("target.h5", "alias", file, "ext_soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lget_info2(file, "ext", &info, H5P_DEFAULT));
    note("type %d, %zu bytes", info.type, info.u.val_size);
    RC(H5Lget_val(file, "ext", value, sizeof value, H5P_DEFAULT));
    RC(H5Lunpack_elink_val(value, info.u.val_size, &flags, &to_file, &to_object));
    note("flags %u, %s : %s", flags, to_file, to_object);

    hid_t d = ID(H5Dopen2(file, "ext/d", H5P_DEFAULT));
    show_file_of(d);
    read_ints(d, "data");
    int minus[] = {-1, -2, -3, -4, -5, -6};
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), minus));
    make_attr(d, "written_through", 4);
    RC(H5Dclose(d));
    hid_t s = ID(H5Oopen(file, "ext_soft", H5P_DEFAULT));
    show_object("through two links", s);
    RC(H5Oclose(s));
    hid_t g = ID(H5Gopen2(file, "ext", H5P_DEFAULT));
    hid_t n = make_group(g, "new_there");
    RC(H5Gclose(n));
    d = make_ints(file, "ext/made_there", 4, 9);
    show_file_of(d);
    RC(H5Dclose(d));
    hid_t up = ID(H5Gopen2(g, "/", H5P_DEFAULT));
    show_file_of(up);
    RC(H5Lexists(up, "alias", H5P_DEFAULT));
    RC(H5Gclose(up));
    RC(H5Gclose(g));
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    RC(H5Fclose(file));
}

static void broken(void)
{
    make_target("target.h5");
    hid_t file = make_file("main.h5");
    if (solo_begin()) {
        FILE *f = fopen("text.h5", "w");
        fputs("this is no HDF5 file", f);
        fclose(f);
    }
    solo_end();
    RC(H5Lcreate_external("missing.h5", "/there", file, "no_file", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("target.h5", "/nothing", file, "no_object", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("text.h5", "/", file, "no_hdf5", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external(NULL, "/", file, "null", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("target.h5", "/", file, "no_file", H5P_DEFAULT, H5P_DEFAULT));
    const char *names[] = {"no_file", "no_object", "no_hdf5", "no_file/below"};
    for (size_t i = 0; i < COUNT(names); i++) {
        note("%s", names[i]);
        ID(H5Oopen(file, names[i], H5P_DEFAULT));
        ID(H5Gopen2(file, names[i], H5P_DEFAULT));
    }
    RC(H5Lexists(file, "no_file", H5P_DEFAULT));
    RC(H5Oexists_by_name(file, "no_object", H5P_DEFAULT));
    RC(H5Fclose(file));
}

static void prefix(void)
{
    char  back[64] = "";
    hid_t lapl = plist(H5P_LINK_ACCESS);
    if (solo_begin())
        mkdir("below", 0777);
    solo_end();
    make_target("below/target.h5");
    hid_t file = make_file("main.h5");
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gopen2(file, "ext", H5P_DEFAULT));
    RC(H5Pset_elink_prefix(lapl, "below"));
    NUM(H5Pget_elink_prefix(lapl, back, sizeof back));
    hid_t g = ID(H5Gopen2(file, "ext", lapl));
    show_file_of(g);
    hid_t stored = ID(H5Gget_create_plist(g));
    RC(H5Pclose(stored));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

/* The link access list says with which list and flags the other file is opened. */
static void access_list(void)
{
    hid_t lapl = plist(H5P_LINK_ACCESS);
    make_target("target.h5");
    hid_t file = make_file("main.h5");
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Pset_elink_fapl(lapl, fapl()));
    RC(H5Pset_elink_acc_flags(lapl, H5F_ACC_RDONLY));
    hid_t g = ID(H5Gopen2(file, "ext", lapl));
    ID(H5Gcreate2(g, "refused", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t    owner  = ID(H5Iget_file_id(g));
    unsigned intent = 99;
    RC(H5Fget_intent(owner, &intent));
    note("intent %u", intent);
    RC(H5Fclose(owner));
    RC(H5Gclose(g));
    RC(H5Pset_elink_acc_flags(lapl, H5F_ACC_RDWR));
    g     = ID(H5Gopen2(file, "ext", lapl));
    hid_t n = ID(H5Gcreate2(g, "made", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Gclose(n));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static herr_t on_traversal(const char *parent, const char *group, const char *child, const char *object, unsigned *flags,
                           hid_t list, void *data)
{
    note("from %s %s to %s %s, flags %u, list of class %d", parent, group, child, object, *flags, H5Iget_type(list));
    *flags = H5F_ACC_RDONLY;
    return *(int *)data;
}

static void traversal_callback(void)
{
    int   verdict = 0;
    hid_t lapl    = plist(H5P_LINK_ACCESS);
    make_target("target.h5");
    hid_t file = make_file("main.h5");
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Pset_elink_cb(lapl, on_traversal, &verdict));
    hid_t g = ID(H5Gopen2(file, "ext", lapl));
    ID(H5Gcreate2(g, "refused", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Gclose(g));
    verdict = -1;
    ID(H5Gopen2(file, "ext", lapl));
    RC(H5Fclose(file));
}

/* A cycle over two files ends with an error, a long path over both with the object. */
static void back_and_forth(void)
{
    hid_t a = make_file("a.h5"), b = make_file("b.h5");
    RC(H5Lcreate_external("b.h5", "/", a, "b", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("a.h5", "/", b, "a", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("b.h5", "/cycle", a, "cycle", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("a.h5", "/cycle", b, "cycle", H5P_DEFAULT, H5P_DEFAULT));
    hid_t d = make_ints(b, "d", 3, 1);
    RC(H5Dclose(d));
    RC(H5Fclose(b));
    d = ID(H5Dopen2(a, "b/a/b/a/b/d", H5P_DEFAULT));
    show_file_of(d);
    read_ints(d, "data");
    RC(H5Dclose(d));
    ID(H5Oopen(a, "cycle", H5P_DEFAULT));
    RC(H5Fclose(a));
}

/* The program has the target open itself, and sees through one what was done through the other. */
static void target_is_open(void)
{
    unsigned long one = 0, two = 0;
    make_target("target.h5");
    hid_t target = open_file("target.h5", H5F_ACC_RDWR), file = make_file("main.h5");
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    hid_t g = ID(H5Gopen2(file, "ext", H5P_DEFAULT)), n = make_group(g, "made through the link");
    RC(H5Gclose(n));
    RC(H5Lexists(target, "there/made through the link", H5P_DEFAULT));
    RC(H5Gclose(make_group(target, "there/made directly")));
    RC(H5Lexists(g, "made directly", H5P_DEFAULT));
    hid_t owner = ID(H5Iget_file_id(g));
    RC(H5Fget_fileno(owner, &one));
    RC(H5Fget_fileno(target, &two));
    note("the same file %d", one == two);
    NUM(H5Fget_obj_count(target, H5F_OBJ_ALL));
    RC(H5Ocopy(file, "ext/d", file, "copy", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Aexists_by_name(file, "ext/d", "unit", H5P_DEFAULT));
    RC(H5Lcopy(file, "ext", g, "deeper", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(g, "d", file, "hard", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fclose(owner));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    RC(H5Fclose(target));
}

/* The cache of external files keeps them open between traversals. */
static void file_cache(void)
{
    unsigned size = 0;
    hid_t    list = keep(H5Pcopy(fapl()));
    make_target("target.h5");
    RC(H5Pset_elink_file_cache_size(list, 2));
    hid_t file = ID(H5Fcreate("main.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list));
    RC(H5Lcreate_external("target.h5", "/there", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < 3; i++) {
        hid_t d = ID(H5Dopen2(file, "ext/d", H5P_DEFAULT));
        read_ints(d, "data");
        RC(H5Dclose(d));
    }
    hid_t stored = ID(H5Fget_access_plist(file));
    RC(H5Pget_elink_file_cache_size(stored, &size));
    note("cache of %u files", size);
    RC(H5Pclose(stored));
    RC(H5Fclear_elink_file_cache(file));
    hid_t d = ID(H5Dopen2(file, "ext/d", H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(external_links, {"traverse", traverse, EVERYWHERE}, {"broken", broken, EVERYWHERE}, {"prefix", prefix, EVERYWHERE},
      {"access_list", access_list, EVERYWHERE}, {"traversal_callback", traversal_callback, EVERYWHERE},
      {"back_and_forth", back_and_forth, EVERYWHERE}, {"target_is_open", target_is_open, EVERYWHERE}, {"file_cache", file_cache, BOTH_SERIAL})
