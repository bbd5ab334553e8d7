/* Objects whatever they are: anonymous creation, linking, counts, comments, info, existence, opening in every way. */
#include "conform.h"

static void anonymous(void)
{
    int   values[] = {1, 2, 3};
    char  name[64] = "?";
    hid_t file = make_file("a.h5");
    hid_t d    = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space1(3), H5P_DEFAULT, H5P_DEFAULT));
    hid_t g    = ID(H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT));
    hid_t lost = ID(H5Dcreate_anon(file, H5T_NATIVE_INT, space1(3), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    NUM(H5Iget_name(d, name, sizeof name));
    show_object("without a name", d);
    RC(H5Olink(g, file, "g", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Olink(d, g, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Olink(d, g, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Olink(d, file, "also", H5P_DEFAULT, H5P_DEFAULT));
    NUM(H5Iget_name(d, name, sizeof name));
    show_text("name", name);
    show_object("with two names", d);
    RC(H5Dclose(lost));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void reference_counts(void)
{
    hid_t file = make_file("r.h5"), d = make_ints(file, "d", 4, 1);
    RC(H5Oincr_refcount(d));
    RC(H5Oincr_refcount(d));
    show_object("counted", d);
    RC(H5Odecr_refcount(d));
    RC(H5Ldelete(file, "d", H5P_DEFAULT));
    show_object("unlinked", d);
    RC(H5Olink(d, file, "e", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Odecr_refcount(d));
    show_object("as it was", d);
    RC(H5Oincr_refcount(H5I_INVALID_HID));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void comments(void)
{
    char  text[64] = "";
    hid_t file = make_file("c.h5"), g = make_group(file, "g");
    NUM(H5Oget_comment(g, text, sizeof text));
    RC(H5Oset_comment(g, "a comment"));
    NUM(H5Oget_comment(g, NULL, 0));
    NUM(H5Oget_comment(g, text, 5));
    show_text("cut", text);
    NUM(H5Oget_comment(g, text, sizeof text));
    show_text("whole", text);
    RC(H5Oset_comment_by_name(file, "g", "another, longer comment", H5P_DEFAULT));
    NUM(H5Oget_comment_by_name(file, "g", text, sizeof text, H5P_DEFAULT));
    show_text("by name", text);
    RC(H5Oset_comment(g, ""));
    NUM(H5Oget_comment(g, text, sizeof text));
    RC(H5Oset_comment_by_name(file, "none", "x", H5P_DEFAULT));
    NUM(H5Oget_comment_by_name(file, "none", text, sizeof text, H5P_DEFAULT));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void show_info(const H5O_info2_t *info)
{
    note("type %d, links %u, attributes %llu", info->type, info->rc, (unsigned long long)info->num_attrs);
}

static void show_native(const H5O_native_info_t *info)
{
    note("header: version %u, %u messages, %u chunks, flags %u, %llu total, %llu metadata, %llu messages, %llu free",
         info->hdr.version, info->hdr.nmesgs, info->hdr.nchunks, info->hdr.flags, (unsigned long long)info->hdr.space.total,
         (unsigned long long)info->hdr.space.meta, (unsigned long long)info->hdr.space.mesg,
         (unsigned long long)info->hdr.space.free);
    note("present %#llx, shared %#llx, index %llu, heap %llu, attribute index %llu", (unsigned long long)info->hdr.mesg.present,
         (unsigned long long)info->hdr.mesg.shared, (unsigned long long)info->meta_size.obj.index_size,
         (unsigned long long)info->meta_size.obj.heap_size, (unsigned long long)info->meta_size.attr.index_size);
}

static void information(void)
{
    H5O_info2_t       info;
    H5O_native_info_t native;
    hid_t             file = make_file("i.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 4, 1);
    tick();
    make_attr(d, "a", 1);
    make_attr(d, "b", 1);
    hid_t objects[] = {file, g, d};
    for (size_t i = 0; i < COUNT(objects); i++) {
        show_object("object", objects[i]);
        memset(&native, 0, sizeof native);
        RC(H5Oget_native_info(objects[i], &native, H5O_NATIVE_INFO_ALL));
        show_native(&native);
    }
    memset(&info, 0, sizeof info);
    RC(H5Oget_info_by_name3(file, "g/d", &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS, H5P_DEFAULT));
    show_info(&info);
    RC(H5Oget_info_by_idx3(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5O_INFO_ALL, H5P_DEFAULT));
    show_info(&info);
    RC(H5Oget_native_info_by_name(file, "g/d", &native, H5O_NATIVE_INFO_HDR, H5P_DEFAULT));
    show_native(&native);
    RC(H5Oget_native_info_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, &native, H5O_NATIVE_INFO_META_SIZE, H5P_DEFAULT));
    show_native(&native);
    RC(H5Oget_info_by_name3(file, "none", &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Oget_info_by_idx3(file, "g", H5_INDEX_NAME, H5_ITER_INC, 4, &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Oget_native_info_by_name(file, "none", &native, H5O_NATIVE_INFO_ALL, H5P_DEFAULT));
    RC(H5Oget_info3(d, NULL, H5O_INFO_ALL));
    RC(H5Oget_info3(d, &info, 0xffffu));
    RC(H5Oget_info3(space1(1), &info, H5O_INFO_ALL));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void existence(void)
{
    hid_t file = make_file("e.h5"), g = make_group(file, "g");
    RC(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT));
    const char *paths[] = {"/", ".", "g", "/g", "g/", "g/.", "//g", "dangling", "missing", "g/missing", "missing/g", "", "g/./../g"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        show_text("path", paths[i]);
        RC(H5Lexists(file, paths[i], H5P_DEFAULT));
        RC(H5Oexists_by_name(file, paths[i], H5P_DEFAULT));
    }
    RC(H5Oexists_by_name(file, NULL, H5P_DEFAULT));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

/* Closing in any order: the file stays open underneath as long as an object is. */
static void outliving(void)
{
    char  name[64] = "";
    hid_t file = make_file("o.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 4, 1);
    make_attr(d, "a", 6);
    hid_t a = ID(H5Aopen(d, "a", H5P_DEFAULT));
    RC(H5Fclose(file));
    RC(H5Gclose(g));
    read_ints(d, "file is closed");
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    RC(H5Dclose(d));
    int value = 0;
    RC(H5Aread(a, H5T_NATIVE_INT, &value));
    note("value %d", value);
    hid_t again = ID(H5Iget_file_id(a));
    NUM(H5Fget_name(again, name, sizeof name));
    show_text("file", name);
    hid_t g2 = ID(H5Gopen2(again, "g", H5P_DEFAULT));
    RC(H5Gclose(g2));
    RC(H5Fclose(again));
    RC(H5Aclose(a));
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
}

static void identifiers(void)
{
    hid_t file = make_file("x.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 4, 1), t = H5Tcopy(H5T_NATIVE_INT);
    char  name[64] = "";
    RC(H5Tcommit2(file, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t ids[] = {file, g, d, t};
    for (size_t i = 0; i < COUNT(ids); i++) {
        NUM(H5Iget_type(ids[i]));
        RC(H5Iis_valid(ids[i]));
        RC(H5Iinc_ref(ids[i]));
        RC(H5Iget_ref(ids[i]));
        RC(H5Idec_ref(ids[i]));
        NUM(H5Iget_name(ids[i], name, sizeof name));
        show_text("name", name);
        NUM(H5Iget_name(ids[i], NULL, 0));
        NUM(H5Iget_name(ids[i], name, 2));
        show_text("cut", name);
        hid_t owner = ID(H5Iget_file_id(ids[i]));
        RC(H5Fclose(owner));
    }
    RC(H5Dclose(d));
    RC(H5Iis_valid(d));
    NUM(H5Iget_name(d, name, sizeof name));
    ID(H5Iget_file_id(d));
    RC(H5Tclose(t));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

CASES(objects, {"anonymous", anonymous, EVERYWHERE}, {"reference_counts", reference_counts, EVERYWHERE},
      {"comments", comments, EVERYWHERE}, {"information", information, EVERYWHERE}, {"existence", existence, EVERYWHERE},
      {"outliving", outliving, EVERYWHERE}, {"identifiers", identifiers, EVERYWHERE})
