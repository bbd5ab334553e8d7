/* Calls of earlier versions, which programs still use: they take other ways through the library. */
#include "conform.h"

#ifndef H5_NO_DEPRECATED_SYMBOLS

static herr_t on_old(hid_t group, const char *name, void *data)
{
    (void)data;
    note("%s", name);
    H5G_stat_t stat;
    memset(&stat, 0, sizeof stat);
    RC(H5Gget_objinfo(group, name, false, &stat));
    note("  type %d, links %u", stat.type, stat.nlink);
    return 0;
}

static void groups(void)
{
    char       text[64] = "";
    hsize_t    count = 0;
    int        at = 0;
    H5G_stat_t stat;
    hid_t      file = make_file("g.h5"), g = ID(H5Gcreate1(file, "g", 64)), h = ID(H5Gcreate1(g, "h", 0));
    RC(H5Glink(file, H5L_TYPE_HARD, "g/h", "hard"));
    RC(H5Glink(file, H5L_TYPE_SOFT, "g/h", "soft"));
    RC(H5Glink2(g, "h", H5L_TYPE_HARD, file, "hard2"));
    RC(H5Gmove(file, "hard", "renamed"));
    RC(H5Gmove2(file, "renamed", g, "inside"));
    RC(H5Gunlink(file, "hard2"));
    RC(H5Gget_linkval(file, "soft", sizeof text, text));
    show_text("soft", text);
    RC(H5Gset_comment(file, "g", "words"));
    RC(H5Gget_comment(file, "g", sizeof text, text));
    show_text("comment", text);
    RC(H5Giterate(file, "/", NULL, on_old, NULL));
    RC(H5Giterate(file, "g", &at, on_old, NULL));
    note("at %d", at);
    RC(H5Gget_num_objs(file, &count));
    for (hsize_t i = 0; i <= count; i++) {
        NUM(H5Gget_objname_by_idx(file, i, text, sizeof text));
        show_text("name", text);
        NUM(H5Gget_objtype_by_idx(file, i));
    }
    memset(&stat, 0, sizeof stat);
    RC(H5Gget_objinfo(file, "soft", true, &stat));
    note("followed: type %d, links %u, length %zu", stat.type, stat.nlink, stat.linklen);
    RC(H5Gget_objinfo(file, "soft", false, &stat));
    note("not followed: type %d, length %zu", stat.type, stat.linklen);
    RC(H5Gget_objinfo(file, "missing", true, &stat));
    RC(H5Gclose(h));
    RC(H5Gclose(g));
    g = ID(H5Gopen1(file, "g"));
    ID(H5Gopen1(file, "missing"));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static herr_t on_old_attr(hid_t object, const char *name, void *data)
{
    (void)object, (void)data;
    note("attribute %s", name);
    return 0;
}

static void datasets_and_attributes(void)
{
    int      value = 4;
    char     name[32] = "";
    unsigned index = 0;
    hsize_t  twelve = 12;
    hid_t    file = make_file("d.h5"), dcpl = chunked1(4), t = H5Tcopy(H5T_NATIVE_INT);
    hid_t    d = ID(H5Dcreate1(file, "d", H5T_NATIVE_INT, space1_up_to(6, H5S_UNLIMITED), dcpl));
    RC(H5Dextend(d, &twelve));
    hid_t a = ID(H5Acreate1(d, "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT));
    RC(H5Awrite(a, H5T_NATIVE_INT, &value));
    RC(H5Aclose(a));
    a = ID(H5Aopen_name(d, "a"));
    RC(H5Aclose(a));
    a = ID(H5Aopen_idx(d, 0));
    NUM(H5Aget_name(a, sizeof name, name));
    RC(H5Aclose(a));
    ID(H5Aopen_idx(d, 7));
    RC(H5Aget_num_attrs(d));
    RC(H5Aiterate1(d, &index, on_old_attr, NULL));
    RC(H5Tcommit1(file, "t", t));
    hid_t u = ID(H5Topen1(file, "t"));
    RC(H5Tclose(u));
    RC(H5Tclose(t));
    RC(H5Dclose(d));
    d = ID(H5Dopen1(file, "d"));
    read_ints(d, "values");
    ID(H5Dopen1(file, "missing"));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static herr_t on_visit(hid_t object, const char *name, const H5O_info1_t *info, void *data)
{
    (void)object, (void)data;
    note("%s: type %d, links %u, header version %u", name, info->type, info->rc, info->hdr.version);
    return 0;
}

static herr_t on_link(hid_t group, const char *name, const H5L_info1_t *info, void *data)
{
    (void)group, (void)data;
    note("%s: type %d", name, info->type);
    return 0;
}

static void info_and_visits(void)
{
    H5O_info1_t info;
    H5L_info1_t link;
    hid_t       file = make_file("i.h5"), g = make_group(file, "g");
    RC(H5Dclose(make_ints(g, "d", 3, 1)));
    memset(&info, 0, sizeof info);
    RC(H5Oget_info1(g, &info));
    note("type %d, header %u, %llu", info.type, info.hdr.version, (unsigned long long)info.hdr.space.total);
    RC(H5Oget_info_by_name1(file, "g/d", &info, H5P_DEFAULT));
    RC(H5Oget_info_by_name2(file, "g/d", &info, H5O_INFO_ALL, H5P_DEFAULT));
    note("type %d, at %llu", info.type, (unsigned long long)info.addr);
    RC(H5Oget_info_by_idx1(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT));
    RC(H5Oget_info_by_idx2(file, "g", H5_INDEX_NAME, H5_ITER_INC, 3, &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, on_visit, NULL));
    RC(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, on_visit, NULL, H5O_INFO_BASIC));
    RC(H5Ovisit_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, on_visit, NULL, H5P_DEFAULT));
    RC(H5Ovisit_by_name2(file, "g", H5_INDEX_NAME, H5_ITER_INC, on_visit, NULL, H5O_INFO_HDR, H5P_DEFAULT));
    RC(H5Lget_info1(file, "g", &link, H5P_DEFAULT));
    note("type %d, at %llu", link.type, (unsigned long long)link.u.address);
    RC(H5Lget_info_by_idx1(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, &link, H5P_DEFAULT));
    RC(H5Literate1(file, H5_INDEX_NAME, H5_ITER_INC, NULL, on_link, NULL));
    RC(H5Literate_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, NULL, on_link, NULL, H5P_DEFAULT));
    RC(H5Lvisit1(file, H5_INDEX_NAME, H5_ITER_INC, on_link, NULL));
    RC(H5Lvisit_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, on_link, NULL, H5P_DEFAULT));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void references(void)
{
    hobj_ref_t object;
    hid_t      file = make_file("r.h5"), d = make_ints(file, "d", 3, 1);
    RC(H5Rcreate(&object, file, "d", H5R_OBJECT, H5I_INVALID_HID));
    NUM(H5Rget_obj_type1(file, H5R_OBJECT, &object));
    hid_t o = ID(H5Rdereference1(file, H5R_OBJECT, &object));
    RC(H5Dclose(o));
    RC(H5Dclose(d));
    H5F_info1_t info;
    memset(&info, 0, sizeof info);
    RC(H5Fget_info1(file, &info));
    note("extension %llu", (unsigned long long)info.super_ext_size);
    RC(H5Fset_latest_format(file, true));
    RC(H5Gclose(make_group(file, "new")));
    RC(H5Fclose(file));
}

#else
static void groups(void) { skip("built without the old calls"); }
#define datasets_and_attributes groups
#define info_and_visits groups
#define references groups
#endif

CASES(old_api, {"groups", groups, EVERYWHERE}, {"datasets_and_attributes", datasets_and_attributes, EVERYWHERE},
      {"info_and_visits", info_and_visits, EVERYWHERE}, {"references", references, EVERYWHERE})
