/* References: the old kinds (object, region) and the new one (object, region, attribute), within and across files. */
#include "conform.h"

static hid_t make_targets(const char *name)
{
    hid_t file = make_file(name), group = make_group(file, "g"), d = make_ints(group, "d", 30, 100);
    make_attr(d, "unit", 5);
    make_type(group, "t", H5T_NATIVE_SHORT);
    RC(H5Dclose(d));
    RC(H5Gclose(group));
    return file;
}

static hid_t region(void)
{
    hsize_t start = 3, stride = 5, count = 4, block = 2;
    hid_t   space = space1(30);
    RC(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, &block));
    return space;
}

static void show_name(hid_t id)
{
    char name[128] = "";
    NUM(H5Iget_name(id, name, sizeof name));
    show_text("name", name);
    note("kind %d", H5Iget_type(id));
}

static void old_objects(void)
{
    const char *paths[] = {"/g", "/g/d", "/g/t", "/"};
    hobj_ref_t  refs[4] = {0}, back[4];
    hid_t       file    = make_targets("o.h5");
    for (int i = 0; i < 4; i++)
        RC(H5Rcreate(&refs[i], file, paths[i], H5R_OBJECT, H5I_INVALID_HID));
    RC(H5Rcreate(&refs[0], file, "/missing", H5R_OBJECT, H5I_INVALID_HID));
    RC(H5Rcreate(&refs[0], file, "/g", H5R_OBJECT, H5I_INVALID_HID));
    hid_t d = ID(H5Dcreate2(file, "refs", H5T_STD_REF_OBJ, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, collective(), refs));
    if (parallel())
        memcpy(back, refs, sizeof back); /* HDF5 has refused to write them */
    else
        RC(H5Dread(d, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, collective(), back));
    for (int i = 0; i < 4; i++) {
        H5O_type_t type = H5O_TYPE_UNKNOWN;
        char       name[64] = "";
        RC(H5Rget_obj_type2(d, H5R_OBJECT, &back[i], &type));
        NUM(H5Rget_name(d, H5R_OBJECT, &back[i], name, sizeof name));
        note("type %d, name %s", type, name);
        hid_t object = ID(H5Rdereference2(d, H5P_DEFAULT, H5R_OBJECT, &back[i]));
        show_name(object);
        show_object("object", object);
        RC(H5Oclose(object));
    }
    refs[0] = (hobj_ref_t)0x123456789;
    ID(H5Rdereference2(d, H5P_DEFAULT, H5R_OBJECT, &refs[0]));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void old_regions(void)
{
    hdset_reg_ref_t ref, back;
    int             values[8];
    hid_t           file = make_targets("r.h5");
    RC(H5Rcreate(&ref, file, "/g/d", H5R_DATASET_REGION, region()));
    hid_t d = ID(H5Dcreate2(file, "refs", H5T_STD_REF_DSETREG, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &ref));
    RC(H5Dread(d, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &back));
    hid_t target = ID(H5Rdereference2(d, H5P_DEFAULT, H5R_DATASET_REGION, &back));
    hid_t space  = ID(H5Rget_region(d, H5R_DATASET_REGION, &back));
    show_name(target);
    show_space("region", space);
    RC(H5Dread(target, H5T_NATIVE_INT, space1(8), space, H5P_DEFAULT, values));
    show_ints("values", values, 8);
    RC(H5Sclose(space));
    RC(H5Dclose(target));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* What can be asked of one new reference. */
static void explore(H5R_ref_t *ref)
{
    char       file[64] = "", object[64] = "", attr[64] = "";
    H5O_type_t type = H5O_TYPE_UNKNOWN;
    note("kind of reference %d", H5Rget_type(ref));
    NUM(H5Rget_file_name(ref, file, sizeof file));
    NUM(H5Rget_obj_name(ref, H5P_DEFAULT, object, sizeof object));
    NUM(H5Rget_attr_name(ref, attr, sizeof attr));
    RC(H5Rget_obj_type3(ref, H5P_DEFAULT, &type));
    note("file %s, object %s, attribute %s, type %d", file, object, attr, type);
    hid_t target = ID(H5Ropen_object(ref, H5P_DEFAULT, H5P_DEFAULT));
    if (target >= 0) {
        show_name(target);
        RC(H5Oclose(target));
    }
    hid_t space = ID(H5Ropen_region(ref, H5P_DEFAULT, H5P_DEFAULT));
    if (space >= 0) {
        show_space("region", space);
        RC(H5Sclose(space));
    }
    hid_t a = ID(H5Ropen_attr(ref, H5P_DEFAULT, H5P_DEFAULT));
    if (a >= 0) {
        int value = 0;
        RC(H5Aread(a, H5T_NATIVE_INT, &value));
        note("attribute's value %d", value);
        show_name(a);
        RC(H5Aclose(a));
    }
}

static void make_new(hid_t file, H5R_ref_t *refs)
{
    RC(H5Rcreate_object(file, "/g/d", H5P_DEFAULT, &refs[0]));
    RC(H5Rcreate_region(file, "/g/d", region(), H5P_DEFAULT, &refs[1]));
    RC(H5Rcreate_attr(file, "/g/d", "unit", H5P_DEFAULT, &refs[2]));
    RC(H5Rcreate_object(file, "/g/t", H5P_DEFAULT, &refs[3]));
}

static void in_memory(void)
{
    H5R_ref_t refs[4], copy, bad;
    hid_t     file = make_targets("m.h5");
    make_new(file, refs);
    for (int i = 0; i < 4; i++)
        explore(&refs[i]);
    RC(H5Rcopy(&refs[1], &copy));
    RC(H5Requal(&refs[1], &copy));
    RC(H5Requal(&refs[1], &refs[0]));
    explore(&copy);
    RC(H5Rdestroy(&copy));
    RC(H5Rcreate_object(file, "/none", H5P_DEFAULT, &bad));
    RC(H5Rcreate_attr(file, "/g/d", NULL, H5P_DEFAULT, &bad));
    RC(H5Rcreate_region(file, "/g/d", H5I_INVALID_HID, H5P_DEFAULT, &bad));
    for (int i = 0; i < 4; i++)
        RC(H5Rdestroy(&refs[i]));
    RC(H5Fclose(file));
}

static void stored(void)
{
    H5R_ref_t refs[4], back[4];
    hid_t     file = make_targets("n.h5");
    make_new(file, refs);
    hid_t d = ID(H5Dcreate2(file, "refs", H5T_STD_REF, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t a = ID(H5Acreate2(file, "refs", H5T_STD_REF, space1(4), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, refs));
    RC(H5Awrite(a, H5T_STD_REF, refs));
    for (int i = 0; i < 4; i++)
        RC(H5Rdestroy(&refs[i]));
    RC(H5Aclose(a));
    RC(H5Dclose(d));
    RC(H5Fclose(file));

    file = open_file("n.h5", H5F_ACC_RDONLY);
    d    = ID(H5Dopen2(file, "refs", H5P_DEFAULT));
    a    = ID(H5Aopen(file, "refs", H5P_DEFAULT));
    RC(H5Dread(d, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    for (int i = 0; i < 4; i++) {
        explore(&back[i]);
        RC(H5Rdestroy(&back[i]));
    }
    RC(H5Aread(a, H5T_STD_REF, back));
    for (int i = 0; i < 4; i++)
        explore(&back[i]);
    RC(H5Treclaim(H5T_STD_REF, space1(4), H5P_DEFAULT, back));
    RC(H5Aclose(a));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* A reference kept in one file that leads into another, also when that other one is not open. */
static void to_another_file(void)
{
    H5R_ref_t ref, back;
    hid_t     there = make_targets("there.h5"), here = make_file("here.h5");
    RC(H5Rcreate_region(there, "/g/d", region(), H5P_DEFAULT, &ref));
    hid_t d = ID(H5Dcreate2(here, "ref", H5T_STD_REF, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, &ref));
    RC(H5Rdestroy(&ref));
    RC(H5Fclose(there));
    RC(H5Dread(d, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, &back));
    explore(&back);
    hid_t target = ID(H5Ropen_object(&back, H5P_DEFAULT, H5P_DEFAULT));
    hid_t file   = ID(H5Iget_file_id(target));
    char  name[64] = "";
    NUM(H5Fget_name(file, name, sizeof name));
    show_text("its file", name);
    read_ints(target, "target");
    RC(H5Fclose(file));
    RC(H5Dclose(target));
    RC(H5Rdestroy(&back));
    RC(H5Dclose(d));
    RC(H5Fclose(here));
}

/* Old references read into the new type, and an array of references in a compound. */
static void old_as_new(void)
{
    hobj_ref_t old[2];
    H5R_ref_t  back[2];
    hid_t      file = make_targets("c.h5");
    RC(H5Rcreate(&old[0], file, "/g", H5R_OBJECT, H5I_INVALID_HID));
    RC(H5Rcreate(&old[1], file, "/g/d", H5R_OBJECT, H5I_INVALID_HID));
    hid_t d = ID(H5Dcreate2(file, "refs", H5T_STD_REF_OBJ, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, old));
    RC(H5Dread(d, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    explore(&back[0]);
    explore(&back[1]);
    RC(H5Rdestroy(&back[0]));
    RC(H5Rdestroy(&back[1]));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* A reference outlives its file's identifier. */
static void keeps_file_open(void)
{
    H5R_ref_t ref;
    hid_t     file = make_targets("k.h5");
    RC(H5Rcreate_object(file, "/g/d", H5P_DEFAULT, &ref));
    RC(H5Fclose(file));
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    hid_t target = ID(H5Ropen_object(&ref, H5P_DEFAULT, H5P_DEFAULT));
    read_ints(target, "target");
    RC(H5Dclose(target));
    RC(H5Rdestroy(&ref));
    file = open_file("k.h5", H5F_ACC_RDWR);
    RC(H5Ldelete(file, "/g/d", H5P_DEFAULT));
    RC(H5Fclose(file));
}

CASES(references, {"old_objects", old_objects, EVERYWHERE}, {"old_regions", old_regions, BOTH_SERIAL},
      {"in_memory", in_memory, BOTH_SERIAL | PARALLEL}, {"stored", stored, BOTH_SERIAL},
      {"to_another_file", to_another_file, BOTH_SERIAL}, {"old_as_new", old_as_new, BOTH_SERIAL},
      {"keeps_file_open", keeps_file_open, EVERYWHERE})
