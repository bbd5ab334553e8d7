/* Work done inside the library's callbacks: the program calls HDF5 again while a call is under way. */
#include "conform.h"

/* A link callback that makes, writes, copies and deletes. */
static herr_t on_link_that_works(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    hid_t other = *(hid_t *)data;
    (void)info;
    note("at %s", name);
    hid_t o = ID(H5Oopen(group, name, H5P_DEFAULT));
    if (H5Iget_type(o) == H5I_DATASET)
        read_ints(o, "data");
    make_attr(o, "visited", 1);
    RC(H5Oclose(o));
    RC(H5Ocopy(group, name, other, name, H5P_DEFAULT, H5P_DEFAULT));
    hid_t file = ID(H5Iget_file_id(group));
    RC(H5Fflush(file, H5F_SCOPE_LOCAL));
    RC(H5Fclose(file));
    return 0;
}

static void from_links(void)
{
    hid_t file = make_file("l.h5"), other = make_file("o.h5");
    RC(H5Dclose(make_ints(file, "d", 5, 1)));
    RC(H5Gclose(make_group(file, "g")));
    RC(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, on_link_that_works, &other));
    RC(H5Lexists(other, "d", H5P_DEFAULT));
    RC(H5Fclose(file));
    RC(H5Fclose(other));
}

/* An attribute callback that opens a file of its own and closes it. */
static herr_t on_attr_that_opens(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    (void)object, (void)info, (void)data;
    hid_t file = make_file(name);
    RC(H5Gclose(make_group(file, "made in a callback")));
    RC(H5Fclose(file));
    return 0;
}

static void from_attributes(void)
{
    hid_t file = make_file("a.h5");
    make_attr(file, "x.h5", 1);
    make_attr(file, "y.h5", 2);
    RC(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, on_attr_that_opens, NULL));
    RC(H5Fclose(file));
}

/* Where errors go can be a function of the program; it is called when the outermost call fails. */
static herr_t on_error(hid_t stack, void *data)
{
    ++*(int *)data;
    note("the program is told of %s", H5Eget_num(stack) > 0 ? "errors" : "nothing");
    return 0;
}

static void error_handler(void)
{
    int         calls = 0;
    H5E_auto2_t function = NULL;
    void       *data     = NULL;
    hid_t       file = make_file("e.h5");
    RC(H5Eset_auto2(H5E_DEFAULT, on_error, &calls));
    ID(H5Dopen2(file, "missing", H5P_DEFAULT));
    note("told %d times", calls);
    ID(H5Fopen("missing.h5", H5F_ACC_RDONLY, fapl()));
    note("told %d times", calls);
    RC(H5Lexists(file, "missing/below", H5P_DEFAULT));
    note("told %d times", calls);
    RC(H5Eget_auto2(H5E_DEFAULT, &function, &data));
    note("still ours %d %d", function == on_error, data == &calls);
    RC(H5Eset_auto2(H5E_DEFAULT, NULL, NULL));
    RC(H5Fclose(file));
}

/* Another stack, errors of the program's own, and one of them on top of the library's. */
static void error_stacks(void)
{
    hid_t cls = ID(H5Eregister_class("Program", "conform", "1")), major = ID(H5Ecreate_msg(cls, H5E_MAJOR, "mine")),
          minor = ID(H5Ecreate_msg(cls, H5E_MINOR, "small")), file = make_file("s.h5");
    H5Dopen2(file, "missing", H5P_DEFAULT);
    hid_t stack = H5Eget_current_stack();
    note("copied %d", stack >= 0);
    RC(H5Gclose(make_group(file, "g")));
    RC(H5Epush2(stack, "file", "function", 1, cls, major, minor, "pushed by the program"));
    show_stack(stack);
    RC(H5Epop(stack, 1));
    RC(H5Eclear2(stack));
    NUM(H5Eget_num(stack));
    RC(H5Eclose_stack(stack));
    RC(H5Eclose_msg(major));
    RC(H5Eclose_msg(minor));
    RC(H5Eunregister_class(cls));
    RC(H5Fclose(file));
}

/* A conversion function of the program's own, called during a write. */
static herr_t halve(hid_t from, hid_t to, H5T_cdata_t *cdata, size_t n, size_t stride, size_t bkg, void *buf, void *background, hid_t dxpl)
{
    (void)from, (void)to, (void)stride, (void)bkg, (void)background, (void)dxpl;
    if (cdata->command == H5T_CONV_CONV) {
        int *in = buf;
        for (size_t i = 0; i < n; i++)
            ((int *)buf)[i] = in[i] / 2;
    }
    cdata->need_bkg = H5T_BKG_NO;
    return 0;
}

static void own_conversion(void)
{
    int   values[6] = {2, 4, 6, 8, 10, 12}, back[6];
    hid_t file = make_file("c.h5"), odd = keep(H5Tcopy(H5T_NATIVE_INT));
    RC(H5Tset_precision(odd, 31));
    RC(H5Tregister(H5T_PERS_HARD, "halve", H5T_NATIVE_INT, odd, halve));
    hid_t d = ID(H5Dcreate2(file, "d", odd, space1(6), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dread(d, odd, H5S_ALL, H5S_ALL, collective(), back));
    show_ints("halved", back, 6);
    RC(H5Tunregister(H5T_PERS_HARD, "halve", H5T_NATIVE_INT, odd, halve));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(callbacks, {"from_links", from_links, EVERYWHERE}, {"from_attributes", from_attributes, EVERYWHERE},
      {"error_handler", error_handler, EVERYWHERE}, {"error_stacks", error_stacks, EVERYWHERE}, {"own_conversion", own_conversion, EVERYWHERE})
