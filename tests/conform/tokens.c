/* Tokens and addresses: the names of objects within their file. */
#include "conform.h"

static void compare(void)
{
    H5O_info2_t a, b, c;
    int         order = 99;
    char       *text  = NULL;
    H5O_token_t back, nowhere;
    hid_t       file = make_file("t.h5"), g = make_group(file, "g"), d = make_ints(file, "d", 3, 1);
    RC(H5Lcreate_hard(file, "d", g, "same", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Oget_info3(g, &a, H5O_INFO_BASIC));
    RC(H5Oget_info3(d, &b, H5O_INFO_BASIC));
    RC(H5Oget_info_by_name3(g, "same", &c, H5O_INFO_BASIC, H5P_DEFAULT));
    note("same file %d", a.fileno == b.fileno && b.fileno == c.fileno);
    RC(H5Otoken_cmp(file, &a.token, &b.token, &order));
    note("order %d", order);
    RC(H5Otoken_cmp(d, &b.token, &c.token, &order));
    note("order %d", order);
    RC(H5Otoken_to_str(file, &b.token, &text));
    show_text("token", text);
    RC(H5Otoken_from_str(g, text, &back));
    RC(H5Otoken_cmp(file, &b.token, &back, &order));
    note("order %d", order);
    H5free_memory(text);
    RC(H5Otoken_from_str(file, "not a number", &back));
    RC(H5Otoken_cmp(space1(1), &a.token, &b.token, &order));
    RC(H5Otoken_cmp(file, NULL, &b.token, &order));
    hid_t o = ID(H5Oopen_by_token(file, b.token));
    note("kind %d", H5Iget_type(o));
    read_ints(o, "opened by token");
    RC(H5Oclose(o));
    memset(&nowhere, 0x7f, sizeof nowhere);
    ID(H5Oopen_by_token(file, nowhere));
    ID(H5Oopen_by_token(file, H5O_TOKEN_UNDEF));
    RC(H5Gclose(g));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void addresses(void)
{
    haddr_t     address = 0;
    H5O_token_t token;
    H5O_info2_t info;
    H5O_info1_t old;
    hid_t       file = make_file("a.h5"), g = make_group(file, "g");
    RC(H5Oget_info3(g, &info, H5O_INFO_BASIC));
    RC(H5VLnative_token_to_addr(file, info.token, &address));
    note("at %llu", (unsigned long long)address);
    RC(H5VLnative_addr_to_token(file, address, &token));
    show_bytes("token", &token, sizeof token);
    memset(&old, 0, sizeof old);
    RC(H5Oget_info2(g, &old, H5O_INFO_BASIC));
    note("same address %d", old.addr == address);
    hid_t o = ID(H5Oopen_by_addr(file, address));
    show_object("opened by address", o);
    RC(H5Oclose(o));
    ID(H5Oopen_by_addr(file, 3));
    ID(H5Oopen_by_addr(file, HADDR_UNDEF));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void ways_to_open(void)
{
    hid_t file = make_file("w.h5"), g = make_group(file, "g");
    RC(H5Dclose(make_ints(g, "b", 3, 1)));
    RC(H5Gclose(make_group(g, "a")));
    make_type(g, "c", H5T_NATIVE_INT);
    for (hsize_t i = 0; i < 4; i++) {
        hid_t o = ID(H5Oopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_DEC, i, H5P_DEFAULT));
        note("kind %d", H5Iget_type(o));
        if (o >= 0)
            RC(H5Oclose(o));
    }
    hid_t o = ID(H5Oopen(g, "b", H5P_DEFAULT));
    RC(H5Gclose(o));
    RC(H5Oclose(o));
    RC(H5Oclose(file));
    o = ID(H5Oopen(file, "/", H5P_DEFAULT));
    RC(H5Oclose(o));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

CASES(tokens, {"compare", compare, EVERYWHERE}, {"addresses", addresses, EVERYWHERE}, {"ways_to_open", ways_to_open, EVERYWHERE})
