/* Object copy: every flag, within a file and between files, committed types and their search list. */
#include "conform.h"

static hid_t make_source(const char *name)
{
    hid_t file = make_file(name), g = make_group(file, "g"), sub = make_group(g, "sub"), d = make_ints(g, "d", 12, 4);
    make_attr(g, "on_group", 1);
    make_attr(d, "on_data", 2);
    make_type(g, "t", H5T_STD_I16BE);
    hid_t t = ID(H5Topen2(g, "t", H5P_DEFAULT));
    hid_t typed = ID(H5Dcreate2(g, "typed", t, space1(4), H5P_DEFAULT, chunked1(2), H5P_DEFAULT));
    int   v[] = {1, 2, 3, 4};
    RC(H5Dwrite(typed, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), v));
    RC(H5Lcreate_soft("/g/d", g, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("/dangling", g, "loose", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("other.h5", "/there", g, "ext", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dclose(make_ints(sub, "deep", 3, 30)));
    RC(H5Tclose(t));
    RC(H5Dclose(typed));
    RC(H5Dclose(d));
    RC(H5Gclose(sub));
    RC(H5Gclose(g));
    return file;
}

static herr_t on_object(hid_t object, const char *name, const H5O_info2_t *info, void *data)
{
    (void)object, (void)data;
    note("  %s: type %d, links %u, attributes %llu", name, info->type, info->rc, (unsigned long long)info->num_attrs);
    return 0;
}

static herr_t on_link(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    (void)group, (void)data;
    note("  %s: link type %d", name, info->type);
    return 0;
}

static void show_tree(hid_t file, const char *path)
{
    RC(H5Ovisit_by_name3(file, path, H5_INDEX_NAME, H5_ITER_INC, on_object, NULL, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Lvisit_by_name2(file, path, H5_INDEX_NAME, H5_ITER_INC, on_link, NULL, H5P_DEFAULT));
}

static const unsigned flags[] = {0,
                                 H5O_COPY_SHALLOW_HIERARCHY_FLAG,
                                 H5O_COPY_EXPAND_SOFT_LINK_FLAG,
                                 H5O_COPY_WITHOUT_ATTR_FLAG,
                                 H5O_COPY_EXPAND_REFERENCE_FLAG,
                                 H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG,
                                 H5O_COPY_WITHOUT_ATTR_FLAG | H5O_COPY_EXPAND_SOFT_LINK_FLAG | H5O_COPY_SHALLOW_HIERARCHY_FLAG};

static void each_flag(hid_t from, hid_t to)
{
    for (size_t i = 0; i < COUNT(flags); i++) {
        char     name[16];
        unsigned back = 0;
        hid_t    list = plist(H5P_OBJECT_COPY);
        snprintf(name, sizeof name, "copy%zu", i);
        note("%s with flags %#x", name, flags[i]);
        RC(H5Pset_copy_object(list, flags[i]));
        RC(H5Pget_copy_object(list, &back));
        RC(H5Ocopy(from, "g", to, name, list, H5P_DEFAULT));
        show_tree(to, name);
    }
}

static void within(void)
{
    hid_t file = make_source("s.h5");
    each_flag(file, file);
    RC(H5Ocopy(file, "g/d", file, "only_d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g/t", file, "only_t", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g/soft", file, "through_soft", H5P_DEFAULT, H5P_DEFAULT));
    hid_t d = ID(H5Dopen2(file, "through_soft", H5P_DEFAULT));
    read_ints(d, "copied data");
    RC(H5Aexists(d, "on_data"));
    RC(H5Dclose(d));
    RC(H5Ocopy(file, "g/d", file, "only_d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "missing", file, "x", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g/loose", file, "x", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g", file, "no/such/place", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fclose(file));
}

static void between(void)
{
    hid_t from = make_source("s.h5"), to = make_file("t.h5");
    each_flag(from, to);
    RC(H5Ocopy(from, "/", to, "everything", H5P_DEFAULT, H5P_DEFAULT));
    hid_t d = ID(H5Dopen2(to, "copy0/typed", H5P_DEFAULT)), type = ID(H5Dget_type(d));
    show_type("type", type);
    read_ints(d, "data");
    RC(H5Tclose(type));
    RC(H5Dclose(d));
    RC(H5Fclose(from));
    RC(H5Fclose(to));
}

static void from_handles(void)
{
    hid_t from = make_source("s.h5"), to = make_file("t.h5"), g = ID(H5Gopen2(from, "g", H5P_DEFAULT)), place = make_group(to, "place");
    hid_t d = ID(H5Dopen2(from, "g/d", H5P_DEFAULT));
    RC(H5Ocopy(g, ".", place, "g", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(d, ".", place, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(d, ".", from, "d2", H5P_DEFAULT, H5P_DEFAULT));
    show_tree(to, "place");
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Gclose(place));
    RC(H5Fclose(from));
    RC(H5Fclose(to));
}

static H5O_mcdt_search_ret_t on_search(void *data)
{
    note("may search, %d", *(int *)data);
    return *(int *)data ? H5O_MCDT_SEARCH_CONT : H5O_MCDT_SEARCH_STOP;
}

static void merged_types(void)
{
    int   answer = 1;
    hid_t from = make_source("s.h5"), to = make_file("t.h5"), list = plist(H5P_OBJECT_COPY);
    make_type(to, "known", H5T_STD_I16BE);
    RC(H5Pset_copy_object(list, H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG));
    RC(H5Pset_mcdt_search_cb(list, on_search, &answer));
    RC(H5Ocopy(from, "g/typed", to, "searched", list, H5P_DEFAULT));
    RC(H5Padd_merge_committed_dtype_path(list, "/known"));
    RC(H5Ocopy(from, "g/typed", to, "suggested", list, H5P_DEFAULT));
    answer = 0;
    RC(H5Pfree_merge_committed_dtype_paths(list));
    RC(H5Ocopy(from, "g/typed", to, "stopped", list, H5P_DEFAULT));
    hid_t t = ID(H5Topen2(to, "known", H5P_DEFAULT));
    show_object("the known type", t);
    RC(H5Tclose(t));
    show_tree(to, "/");
    RC(H5Fclose(from));
    RC(H5Fclose(to));
}

/* Variable-length data, references and filters have copy code of their own. */
static void special_data(void)
{
    const char *words[] = {"one", "", "three"};
    char       *back[3];
    hobj_ref_t  ref;
    int         values[40];
    hid_t       from = make_source("s.h5"), to = make_file("t.h5"), text = text_type(H5T_VARIABLE), dcpl = chunked1(9),
          expand = plist(H5P_OBJECT_COPY);
    for (int i = 0; i < 40; i++)
        values[i] = i * i;
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pset_fletcher32(dcpl));
    hid_t w = ID(H5Dcreate2(from, "words", text, space1(3), H5P_DEFAULT, chunked1(2), H5P_DEFAULT));
    hid_t r = ID(H5Dcreate2(from, "ref", H5T_STD_REF_OBJ, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t f = ID(H5Dcreate2(from, "filtered", H5T_NATIVE_INT, space1(40), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(w, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, words));
    RC(H5Rcreate(&ref, from, "g/d", H5R_OBJECT, H5I_INVALID_HID));
    RC(H5Dwrite(r, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, &ref));
    RC(H5Dwrite(f, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dclose(w));
    RC(H5Dclose(r));
    RC(H5Dclose(f));
    RC(H5Pset_copy_object(expand, H5O_COPY_EXPAND_REFERENCE_FLAG));
    RC(H5Ocopy(from, "words", to, "words", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(from, "filtered", to, "filtered", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(from, "ref", to, "ref", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(from, "ref", to, "ref_expanded", expand, H5P_DEFAULT));
    w = ID(H5Dopen2(to, "words", H5P_DEFAULT));
    RC(H5Dread(w, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    for (int i = 0; i < 3; i++)
        show_text("word", back[i]);
    RC(H5Treclaim(text, space1(3), H5P_DEFAULT, back));
    f = ID(H5Dopen2(to, "filtered", H5P_DEFAULT));
    read_ints(f, "filtered");
    r = ID(H5Dopen2(to, "ref_expanded", H5P_DEFAULT));
    RC(H5Dread(r, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, &ref));
    hid_t target = ID(H5Rdereference2(r, H5P_DEFAULT, H5R_OBJECT, &ref));
    if (target >= 0) {
        read_ints(target, "target");
        RC(H5Dclose(target));
    }
    RC(H5Dclose(w));
    RC(H5Dclose(r));
    RC(H5Dclose(f));
    RC(H5Fclose(from));
    RC(H5Fclose(to));
}

CASES(copy, {"within", within, EVERYWHERE}, {"between", between, EVERYWHERE}, {"from_handles", from_handles, EVERYWHERE},
      {"merged_types", merged_types, EVERYWHERE}, {"special_data", special_data, BOTH_SERIAL})
