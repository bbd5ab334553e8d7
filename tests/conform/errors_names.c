/* Errors: names that exist, do not exist, or cannot; links, groups, copies. */
#include "conform.h"

static void duplicates(void)
{
    hid_t file = make_file("d.h5"), g = make_group(file, "g"), d = make_ints(file, "d", 2, 0);
    ID(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "d", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "g", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    make_type(file, "g", H5T_NATIVE_INT);
    RC(H5Lcreate_hard(file, "g", file, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("g", file, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("g", "h", file, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "g", file, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ocopy(file, "g", file, "d", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Olink(g, file, "d", H5P_DEFAULT, H5P_DEFAULT));
    show_object("root", file);
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void links(void)
{
    char        buf[4] = "";
    H5L_info2_t info;
    hid_t       file = make_file("l.h5"), other = make_file("o.h5"), g = make_group(file, "g");
    RC(H5Lcreate_soft("/target/far/away", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lget_val(file, "soft", buf, sizeof buf, H5P_DEFAULT));
    show_bytes("cut value", buf, sizeof buf);
    RC(H5Lget_val(file, "g", buf, sizeof buf, H5P_DEFAULT));
    RC(H5Lget_val(file, "none", buf, sizeof buf, H5P_DEFAULT));
    RC(H5Lget_info2(file, "none", &info, H5P_DEFAULT));
    RC(H5Lget_info2(file, NULL, &info, H5P_DEFAULT));
    RC(H5Lget_info2(file, "g", NULL, H5P_DEFAULT));
    RC(H5Lexists(file, "none/below", H5P_DEFAULT));
    RC(H5Lexists(file, NULL, H5P_DEFAULT));
    RC(H5Lexists(file, "", H5P_DEFAULT));
    RC(H5Lexists(file, "soft/x", H5P_DEFAULT));
    RC(H5Lcreate_hard(file, "g", other, "across files", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "g", other, "across files", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcopy(file, "g", other, "across files", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcopy(file, "soft", other, "across files", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Olink(g, other, "across files", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft(NULL, file, "x", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("x", file, NULL, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("", file, "x", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("x", file, "none/x", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "g", file, "none/g", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, NULL, file, "h", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ldelete(file, "none/x", H5P_DEFAULT));
    RC(H5Ldelete(file, NULL, H5P_DEFAULT));
    RC(H5Ldelete_by_idx(file, "none", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
    RC(H5Ldelete_by_idx(file, ".", H5_INDEX_UNKNOWN, H5_ITER_INC, 0, H5P_DEFAULT));
    RC(H5Ldelete_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_N, 0, H5P_DEFAULT));
    RC(H5Lget_info_by_idx2(file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, 0, &info, H5P_DEFAULT));
    NUM(H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 99, buf, sizeof buf, H5P_DEFAULT));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    RC(H5Fclose(other));
}

static void groups(void)
{
    H5G_info_t info;
    hid_t      file = make_file("g.h5"), d = make_ints(file, "d", 2, 0);
    RC(H5Gget_info(d, &info));
    RC(H5Gget_info(file, NULL));
    RC(H5Gget_info_by_name(file, "d", &info, H5P_DEFAULT));
    RC(H5Gget_info_by_name(file, "none", &info, H5P_DEFAULT));
    RC(H5Gget_info_by_name(file, NULL, &info, H5P_DEFAULT));
    RC(H5Gget_info_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT));
    RC(H5Gget_info_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 8, &info, H5P_DEFAULT));
    ID(H5Gcreate2(file, "a/b", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "x", fapl(), H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "x", H5P_DEFAULT, fapl(), H5P_DEFAULT));
    ID(H5Gcreate2(file, "x", H5P_DEFAULT, H5P_DEFAULT, fapl()));
    ID(H5Gopen2(file, "", H5P_DEFAULT));
    ID(H5Gopen2(file, NULL, H5P_DEFAULT));
    RC(H5Gflush(d));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(errors_names, {"duplicates", duplicates, EVERYWHERE}, {"links", links, EVERYWHERE}, {"groups", groups, EVERYWHERE})
