/* Compact datasets: data lives in the object header. */
#include "conform.h"

static void basic(void)
{
    int                values[20];
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    hid_t              file = make_file("c.h5"), dcpl = plist(H5P_DATASET_CREATE);
    RC(H5Pset_layout(dcpl, H5D_COMPACT));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_STD_I32BE, space1(20), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < 20; i++)
        values[i] = 20 - i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dget_space_status(d, &status));
    note("status %d, offset known %d", status, H5Dget_offset(d) != HADDR_UNDEF);
    NUM(H5Dget_storage_size(d));
    read_ints(d, "values");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("c.h5", H5F_ACC_RDWR);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    hid_t stored = ID(H5Dget_create_plist(d));
    NUM(H5Pget_layout(stored));
    RC(H5Pclose(stored));
    hid_t part = part1(20, 5, 3);
    values[0] = -1, values[1] = -2, values[2] = -3;
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(3), part, collective(), values));
    read_ints(d, "changed");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void too_large(void)
{
    hid_t file = make_file("t.h5"), dcpl = plist(H5P_DATASET_CREATE);
    RC(H5Pset_layout(dcpl, H5D_COMPACT));
    ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(20000), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    ID(H5Dcreate2(file, "e", H5T_NATIVE_INT, space1_up_to(4, H5S_UNLIMITED), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Lexists(file, "d", H5P_DEFAULT));
    RC(H5Fclose(file));
}

static void strings(void)
{
    char  words[3][8] = {"alpha", "beta", "gamma"}, back[3][8];
    hid_t file = make_file("s.h5"), dcpl = plist(H5P_DATASET_CREATE), type = text_type(8);
    RC(H5Pset_layout(dcpl, H5D_COMPACT));
    hid_t d = ID(H5Dcreate2(file, "words", type, space1(3), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, collective(), words));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, collective(), back));
    for (int i = 0; i < 3; i++)
        show_text("word", back[i]);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(compact, {"basic", basic, EVERYWHERE}, {"too_large", too_large, EVERYWHERE}, {"strings", strings, EVERYWHERE})
