/* Names: slashes and dots, other alphabets, long ones, spaces; how identifiers are named after moves. */
#include "conform.h"

static void slashes(void)
{
    const char *paths[] = {"/a/b/d", "a/b/d", "./a/./b/d", "//a//b///d", "/a/b/../b/d", "a/b/d/", "a/b/d/.", "/./a/b/d", "a/b", "/"};
    hid_t       file = make_file("s.h5"), lcpl = plist(H5P_LINK_CREATE);
    RC(H5Pset_create_intermediate_group(lcpl, 1));
    hid_t d = ID(H5Dcreate2(file, "//a/./b//d", H5T_NATIVE_INT, space1(2), lcpl, H5P_DEFAULT, H5P_DEFAULT));
    for (size_t i = 0; i < COUNT(paths); i++) {
        char name[64] = "";
        show_text("path", paths[i]);
        hid_t o = ID(H5Oopen(file, paths[i], H5P_DEFAULT));
        if (o < 0)
            continue;
        NUM(H5Iget_name(o, name, sizeof name));
        show_text("name", name);
        RC(H5Oclose(o));
    }
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void alphabets(void)
{
    const char *names[] = {"Größe", "速度", "температура", "naïve café", " leading and trailing ", "tab\tand\"quote", "\xff\xfe", "%s%n%d"};
    hid_t       file = make_file("a.h5"), lcpl = plist(H5P_LINK_CREATE);
    RC(H5Pset_char_encoding(lcpl, H5T_CSET_UTF8));
    for (size_t i = 0; i < COUNT(names); i++) {
        H5L_info2_t info;
        char        name[64] = "";
        hid_t       g = ID(H5Gcreate2(file, names[i], i % 2 ? lcpl : H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        RC(H5Lget_info2(file, names[i], &info, H5P_DEFAULT));
        note("character set %d", info.cset);
        NUM(H5Iget_name(g, name, sizeof name));
        show_bytes("name", name, strlen(name));
        RC(H5Gclose(g));
    }
    for (hsize_t i = 0; i < COUNT(names); i++) {
        char name[64] = "";
        NUM(H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT));
        show_bytes("by index", name, strlen(name));
    }
    RC(H5Fclose(file));
}

static void lengths(void)
{
    static char longest[5000], back[5001];
    hid_t       file = make_file("l.h5");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    hid_t g = H5Gcreate2(file, longest, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    note("made %d", g >= 0);
    NUM(H5Iget_name(g, back, sizeof back));
    show_bytes("name", back, strlen(back));
    RC(H5Gclose(g));
    RC(H5Lexists(file, longest, H5P_DEFAULT));
    longest[10] = 0;
    RC(H5Lexists(file, longest, H5P_DEFAULT));
    make_attr(file, "", 1);
    ID(H5Gcreate2(file, "", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, NULL, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, ".", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ID(H5Gcreate2(file, "/", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fclose(file));
}

static void after_moves(void)
{
    char  name[64] = "";
    hid_t file = make_file("m.h5"), a = make_group(file, "a"), b = make_group(a, "b"), d = make_ints(b, "d", 2, 1);
    RC(H5Lcreate_soft("/a/b", file, "s", H5P_DEFAULT, H5P_DEFAULT));
    hid_t through = ID(H5Dopen2(file, "s/d", H5P_DEFAULT)), objects[] = {a, b, d, through};
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < COUNT(objects); i++) {
            memset(name, 0, sizeof name);
            NUM(H5Iget_name(objects[i], name, sizeof name));
            show_text("name", name);
        }
        if (round == 0)
            RC(H5Lmove(file, "a", file, "moved", H5P_DEFAULT, H5P_DEFAULT));
        if (round == 1)
            RC(H5Gmove(file, "moved/b", "up"));
        if (round == 2)
            RC(H5Ldelete(file, "up", H5P_DEFAULT));
    }
    RC(H5Dclose(through));
    RC(H5Dclose(d));
    RC(H5Gclose(b));
    RC(H5Gclose(a));
    RC(H5Fclose(file));
}

CASES(names, {"slashes", slashes, EVERYWHERE}, {"alphabets", alphabets, EVERYWHERE}, {"lengths", lengths, BOTH_SERIAL | PARALLEL},
      {"after_moves", after_moves, EVERYWHERE})
