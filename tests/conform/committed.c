/* Committed datatypes: named, anonymous, used by datasets and attributes and as memory types. */
#include "conform.h"

typedef struct {
    int    a;
    double b;
} Pair;

static hid_t pair_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Pair));
    RC(H5Tinsert(type, "a", HOFFSET(Pair, a), H5T_NATIVE_INT));
    RC(H5Tinsert(type, "b", HOFFSET(Pair, b), H5T_NATIVE_DOUBLE));
    return type;
}

static void show_name(hid_t id)
{
    char name[64] = "";
    NUM(H5Iget_name(id, name, sizeof name));
    show_text("name", name);
}

static void used_by_dataset(void)
{
    Pair  values[3], back[3];
    hid_t file = make_file("d.h5"), type = pair_type();
    memset(values, 0, sizeof values);
    memset(back, 0, sizeof back);
    for (int i = 0; i < 3; i++)
        values[i].a = i, values[i].b = i + 0.5;
    RC(H5Tcommitted(type));
    RC(H5Tcommit2(file, "pair", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommitted(type));
    RC(H5Tcommit2(file, "again", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    show_name(type);
    hid_t d = ID(H5Dcreate2(file, "d", type, space1(3), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, collective(), values));
    hid_t stored = ID(H5Dget_type(d));
    show_type("of the dataset", stored);
    show_name(stored);
    RC(H5Tequal(stored, type));
    show_object("type", stored);
    RC(H5Dread(d, stored, H5S_ALL, H5S_ALL, collective(), back));
    note("%d %g, %d %g, %d %g", back[0].a, back[0].b, back[1].a, back[1].b, back[2].a, back[2].b);
    hid_t copy = ID(H5Tcopy(stored));
    RC(H5Tcommitted(copy));
    RC(H5Tinsert(stored, "late", 12, H5T_NATIVE_SHORT));
    hid_t native = ID(H5Tget_native_type(stored, H5T_DIR_DEFAULT));
    RC(H5Tcommitted(native));
    RC(H5Tclose(native));
    RC(H5Tclose(copy));
    RC(H5Tclose(stored));
    RC(H5Tclose(type));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("d.h5", H5F_ACC_RDWR);
    type = ID(H5Topen2(file, "pair", H5P_DEFAULT));
    show_type("opened", type);
    show_object("type", type);
    make_attr(type, "on_type", 1);
    hid_t a = ID(H5Acreate2(file, "pair", type, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, type, values));
    stored = ID(H5Aget_type(a));
    show_name(stored);
    RC(H5Tclose(stored));
    RC(H5Aclose(a));
    RC(H5Ldelete(file, "pair", H5P_DEFAULT));
    RC(H5Tclose(type));
    d      = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    stored = ID(H5Dget_type(d));
    RC(H5Tcommitted(stored));
    show_name(stored);
    RC(H5Tclose(stored));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void anonymous(void)
{
    hid_t file = make_file("a.h5"), type = pair_type(), tcpl = plist(H5P_DATATYPE_CREATE);
    RC(H5Pset_obj_track_times(tcpl, false));
    RC(H5Tcommit_anon(file, type, tcpl, H5P_DEFAULT));
    show_name(type);
    show_object("type", type);
    hid_t list = ID(H5Tget_create_plist(type));
    bool  times = true;
    RC(H5Pget_obj_track_times(list, &times));
    note("times %d", times);
    RC(H5Pclose(list));
    RC(H5Olink(type, file, "linked", H5P_DEFAULT, H5P_DEFAULT));
    show_name(type);
    show_object("type", type);
    RC(H5Tcommit_anon(file, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tclose(type));
    RC(H5Fclose(file));
}

static hid_t decode(const void *bytes, size_t size)
{
#if H5_VERSION_GE(2, 0, 0)
    return H5Tdecode2(bytes, size);
#else
    (void)size;
    return H5Tdecode(bytes);
#endif
}

static void every_class(void)
{
    hsize_t dims[] = {2, 2};
    hid_t   enumeration = keep(H5Tenum_create(H5T_NATIVE_INT)), opaque = keep(H5Tcreate(H5T_OPAQUE, 7)),
          array = keep(H5Tarray_create2(H5T_NATIVE_FLOAT, 2, dims)), vlen = keep(H5Tvlen_create(H5T_NATIVE_INT));
    int one = 1;
    RC(H5Tenum_insert(enumeration, "ONE", &one));
    RC(H5Tset_tag(opaque, "seven bytes"));
    struct {
        const char *name;
        hid_t       type;
    } all[] = {{"integer", keep(H5Tcopy(H5T_STD_U16BE))}, {"real", keep(H5Tcopy(H5T_IEEE_F32BE))}, {"time", keep(H5Tcopy(H5T_STD_B8LE))},
               {"text", text_type(9)},   {"vtext", text_type(H5T_VARIABLE)},  {"enum", enumeration},
               {"opaque", opaque},       {"array", array},                    {"vlen", vlen},
               {"compound", keep(pair_type())}, {"ref", keep(H5Tcopy(H5T_STD_REF_OBJ))}};
    hid_t file = make_file("c.h5");
    for (size_t i = 0; i < COUNT(all); i++)
        make_type(file, all[i].name, all[i].type);
    RC(H5Fclose(file));
    file = open_file("c.h5", H5F_ACC_RDONLY);
    for (size_t i = 0; i < COUNT(all); i++) {
        hid_t type = ID(H5Topen2(file, all[i].name, H5P_DEFAULT));
        show_type(all[i].name, type);
        size_t size = 0;
        RC(H5Tencode(type, NULL, &size));
        void *bytes = malloc(size);
        RC(H5Tencode(type, bytes, &size));
        show_bytes("encoded", bytes, size);
        hid_t decoded = decode(bytes, size);
        note("decoded %d", H5Tcommitted(decoded));
        H5Tclose(decoded);
        free(bytes);
        RC(H5Tclose(type));
    }
    RC(H5Fclose(file));
}

static void mistakes(void)
{
    hid_t file = make_file("m.h5"), other = make_file("o.h5"), type = pair_type(), d = make_ints(file, "d", 2, 0);
    RC(H5Tcommit2(file, "t", H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(file, NULL, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(file, "", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(file, "d", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(d, "x", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(file, "a/b", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tcommit2(file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Topen2(file, "d", H5P_DEFAULT));
    ID(H5Topen2(file, "missing", H5P_DEFAULT));
    ID(H5Dopen2(file, "t", H5P_DEFAULT));
    hid_t foreign = ID(H5Dcreate2(other, "d", type, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (foreign >= 0) {
        hid_t stored = ID(H5Dget_type(foreign));
        RC(H5Tcommitted(stored));
        RC(H5Tclose(stored));
        RC(H5Dclose(foreign));
    }
    RC(H5Tset_size(type, 4));
    RC(H5Tclose(type));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    RC(H5Fclose(other));
}

CASES(committed, {"used_by_dataset", used_by_dataset, EVERYWHERE}, {"anonymous", anonymous, EVERYWHERE},
      {"every_class", every_class, EVERYWHERE}, {"mistakes", mistakes, EVERYWHERE})
