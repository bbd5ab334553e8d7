/* Attributes: compact and dense, by name and by index, renamed, iterated, deleted, large, shared types. */
#include "conform.h"

static herr_t on_attr(hid_t where, const char *name, const H5A_info_t *info, void *data)
{
    int *left  = data;
    int  value = 0;
    note("attribute %s: order %d %u, cset %d, %llu bytes", name, info->corder_valid, info->corder_valid ? info->corder : 0,
         info->cset, (unsigned long long)info->data_size);
    hid_t a = ID(H5Aopen(where, name, H5P_DEFAULT));
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    RC(H5Aclose(a));
    note("  value %d", value);
    return --*left == 0 ? 7 : 0;
}

static void walk(hid_t object, H5_index_t index, H5_iter_order_t order)
{
    hsize_t at   = 0;
    int     left = -1;
    RC(H5Aiterate2(object, index, order, &at, on_attr, &left));
    note("went to %llu", (unsigned long long)at);
    left = 2, at = 1;
    RC(H5Aiterate2(object, index, order, &at, on_attr, &left));
    note("stopped at %llu", (unsigned long long)at);
}

static void by_index(hid_t object, hsize_t n)
{
    char       name[32] = "";
    H5A_info_t info;
    int        value = 0;
    memset(&info, 0, sizeof info);
    NUM(H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, n, name, sizeof name, H5P_DEFAULT));
    RC(H5Aget_info_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_DEC, n, &info, H5P_DEFAULT));
    note("%s, order %u, %llu bytes", name, info.corder_valid ? info.corder : 0, (unsigned long long)info.data_size);
    hid_t a = ID(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, n, H5P_DEFAULT, H5P_DEFAULT));
    if (a < 0)
        return;
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    NUM(H5Aget_name(a, sizeof name, name));
    RC(H5Aget_info(a, &info));
    note("%s = %d", name, value);
    RC(H5Aclose(a));
}

static void make_many(hid_t object, int count)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%02d", (i * 7) % count);
        make_attr(object, name, i);
    }
}

/* Everything that can be done, on a group whose creation list decides between compact and dense storage. */
static void everything(hid_t gcpl, int count)
{
    hid_t      file = make_file("a.h5");
    hid_t      g    = ID(H5Gcreate2(file, "g", H5P_DEFAULT, gcpl, H5P_DEFAULT));
    H5A_info_t info;
    make_many(g, count);
    show_object("group", g);
    walk(g, H5_INDEX_NAME, H5_ITER_INC);
    walk(g, H5_INDEX_NAME, H5_ITER_DEC);
    walk(g, H5_INDEX_CRT_ORDER, H5_ITER_INC);
    by_index(g, 1);
    by_index(g, 1000);
    RC(H5Aexists(g, "a01"));
    RC(H5Aexists(g, "nothing"));
    RC(H5Aexists_by_name(file, "g", "a02", H5P_DEFAULT));
    RC(H5Aexists_by_name(file, "missing", "a02", H5P_DEFAULT));
    RC(H5Arename(g, "a01", "renamed"));
    RC(H5Arename(g, "a01", "renamed"));
    RC(H5Arename(g, "a02", "renamed"));
    RC(H5Arename_by_name(file, "g", "a02", "also", H5P_DEFAULT));
    RC(H5Adelete(g, "a03"));
    RC(H5Adelete(g, "a03"));
    RC(H5Adelete_by_name(file, "g", "a00", H5P_DEFAULT));
    RC(H5Adelete_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
    RC(H5Adelete_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 5000, H5P_DEFAULT));
    RC(H5Aget_info_by_name(file, "g", "renamed", &info, H5P_DEFAULT));
    ID(H5Aopen_by_name(file, "g", "a03", H5P_DEFAULT, H5P_DEFAULT));
    hid_t a = ID(H5Aopen_by_name(file, "g", "renamed", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Aclose(a));
    show_object("group", g);
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    file = open_file("a.h5", H5F_ACC_RDONLY);
    g    = ID(H5Gopen2(file, "g", H5P_DEFAULT));
    walk(g, H5_INDEX_NAME, H5_ITER_INC);
    make_attr(g, "refused", 0);
    RC(H5Adelete(g, "renamed"));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void compact(void) { everything(H5P_DEFAULT, 6); }

static void dense(void)
{
    hid_t gcpl = plist(H5P_GROUP_CREATE);
    RC(H5Pset_attr_phase_change(gcpl, 4, 2));
    RC(H5Pset_attr_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    everything(gcpl, 20);
}

static void each_kind_of_object(void)
{
    hid_t file = make_file("k.h5"), g = make_group(file, "g"), d = make_ints(file, "d", 3, 0);
    hid_t t = H5Tcopy(H5T_NATIVE_LONG), root = ID(H5Gopen2(file, "/", H5P_DEFAULT));
    RC(H5Tcommit2(file, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t objects[] = {file, g, d, t, root};
    for (size_t i = 0; i < COUNT(objects); i++) {
        char name[16];
        snprintf(name, sizeof name, "by%zu", i);
        make_attr(objects[i], name, (int)i);
        RC(H5Aexists(objects[i], "by0"));
        RC(H5Aget_num_attrs(objects[i]));
    }
    hid_t transient = keep(H5Tcopy(H5T_NATIVE_INT));
    make_attr(transient, "impossible", 1);
    make_attr(space1(2), "impossible", 1);
    RC(H5Tclose(t));
    RC(H5Gclose(root));
    RC(H5Gclose(g));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void spaces_and_types(void)
{
    double m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    float  back[2][3];
    char   text[12] = "twelve bytes";
    hid_t  file = make_file("s.h5"), null = keep(H5Screate(H5S_NULL)), fixed = text_type(12), acpl = plist(H5P_ATTRIBUTE_CREATE);
    H5T_cset_t cset = H5T_CSET_ERROR;
    hid_t  a = ID(H5Acreate2(file, "matrix", H5T_IEEE_F64BE, space2(2, 3), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, H5T_NATIVE_DOUBLE, m));
    RC(H5Aread(a, H5T_NATIVE_FLOAT, back));
    show_bytes("floats", back, sizeof back);
    hid_t space = ID(H5Aget_space(a)), type = ID(H5Aget_type(a));
    show_space("space", space);
    show_type("type", type);
    NUM(H5Aget_storage_size(a));
    RC(H5Sclose(space));
    RC(H5Tclose(type));
    RC(H5Aclose(a));
    a = ID(H5Acreate2(file, "empty", H5T_NATIVE_INT, null, H5P_DEFAULT, H5P_DEFAULT));
    NUM(H5Aget_storage_size(a));
    RC(H5Awrite(a, H5T_NATIVE_INT, text));
    RC(H5Aread(a, H5T_NATIVE_INT, text));
    RC(H5Aclose(a));
    RC(H5Pset_char_encoding(acpl, H5T_CSET_UTF8));
    a = ID(H5Acreate2(file, "Größe", fixed, scalar(), acpl, H5P_DEFAULT));
    RC(H5Awrite(a, fixed, text));
    hid_t stored = ID(H5Aget_create_plist(a));
    RC(H5Pget_char_encoding(stored, &cset));
    note("character set %d", cset);
    RC(H5Pclose(stored));
    RC(H5Aread(a, H5T_NATIVE_INT, text));
    RC(H5Aclose(a));
    RC(H5Fclose(file));
}

/* Never written: reads as zeros. Larger than a header can hold: refused in the old format, dense in the new one. */
static void unwritten_and_large(void)
{
    enum { BIG = 20000 };
    int  *values = malloc(BIG * sizeof *values), few[4] = {9, 9, 9, 9};
    hid_t file = make_file("l.h5");
    hid_t a = ID(H5Acreate2(file, "unwritten", H5T_NATIVE_INT, space1(4), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Aread(a, H5T_NATIVE_INT, few));
    show_ints("unwritten", few, 4);
    RC(H5Aclose(a));
    a = ID(H5Acreate2(file, "big", H5T_NATIVE_INT, space1(BIG), H5P_DEFAULT, H5P_DEFAULT));
    if (a >= 0) {
        for (int i = 0; i < BIG; i++)
            values[i] = i * 3;
        RC(H5Awrite(a, H5T_NATIVE_INT, values));
        memset(values, 0, BIG * sizeof *values);
        RC(H5Aread(a, H5T_NATIVE_INT, values));
        show_ints("big", values, BIG);
        RC(H5Aclose(a));
    }
    RC(H5Aexists(file, "big"));
    RC(H5Fclose(file));
    free(values);
}

/* An attribute of a committed type, and one that stays open while it is deleted and renamed. */
static void alive(void)
{
    int   value = 3;
    hid_t file = make_file("o.h5");
    char  name[32] = "";
    make_type(file, "t", H5T_STD_I64BE);
    hid_t t = ID(H5Topen2(file, "t", H5P_DEFAULT));
    hid_t a = ID(H5Acreate2(file, "a", t, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, H5T_NATIVE_INT, &value));
    hid_t b = ID(H5Aopen(file, "a", H5P_DEFAULT));
    value   = 4;
    RC(H5Awrite(b, H5T_NATIVE_INT, &value));
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    note("the other handle sees %d", value);
    hid_t type = ID(H5Aget_type(a));
    show_type("type", type);
    RC(H5Tclose(type));
    RC(H5Arename(file, "a", "b"));
    NUM(H5Aget_name(a, sizeof name, name));
    show_text("name", name);
    RC(H5Adelete(file, "b"));
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    NUM(H5Iget_name(a, name, sizeof name));
    show_text("path", name);
    hid_t owner = ID(H5Iget_file_id(a));
    RC(H5Fclose(owner));
    RC(H5Aclose(a));
    RC(H5Aclose(b));
    RC(H5Tclose(t));
    RC(H5Fclose(file));
}

CASES(attributes, {"compact", compact, EVERYWHERE}, {"dense", dense, BOTH_SERIAL | PARALLEL_NEW},
      {"each_kind_of_object", each_kind_of_object, EVERYWHERE}, {"spaces_and_types", spaces_and_types, EVERYWHERE},
      {"unwritten_and_large", unwritten_and_large, EVERYWHERE}, {"alive", alive, EVERYWHERE})
