/* Links: hard and soft; created, asked about, copied, moved, deleted, by name and by index. */
#include "conform.h"

static void show_link(hid_t where, const char *name)
{
    H5L_info2_t info;
    char        value[64] = "";
    memset(&info, 0, sizeof info);
    note("link %s", name);
    RC(H5Lexists(where, name, H5P_DEFAULT));
    if (RC(H5Lget_info2(where, name, &info, H5P_DEFAULT)) < 0)
        return;
    note("  type %d, order %d %lld, cset %d", info.type, info.corder_valid, info.corder_valid ? (long long)info.corder : -1,
         info.cset);
    if (info.type == H5L_TYPE_HARD) {
        char *token = NULL;
        RC(H5Otoken_to_str(where, &info.u.token, &token));
        note("  token %s", token ? token : "none");
        H5free_memory(token);
    }
    else {
        note("  %zu bytes", info.u.val_size);
        RC(H5Lget_val(where, name, value, sizeof value, H5P_DEFAULT));
        show_text("  value", value);
    }
    RC(H5Oexists_by_name(where, name, H5P_DEFAULT));
}

static void hard_and_soft(void)
{
    hid_t file = make_file("l.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 4, 1);
    RC(H5Lcreate_hard(file, "g/d", file, "hard", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(g, "d", H5L_SAME_LOC, "hard2", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(H5L_SAME_LOC, "/g/d", file, "g/hard3", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("/g/d", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("d", g, "relative", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("loop2", file, "loop1", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("loop1", file, "loop2", H5P_DEFAULT, H5P_DEFAULT));
    const char *names[] = {"g", "hard", "soft", "dangling", "loop1", "g/hard2", "g/hard3", "g/relative", "missing", "g/missing/x"};
    for (size_t i = 0; i < COUNT(names); i++) {
        show_link(file, names[i]);
        hid_t o = ID(H5Oopen(file, names[i], H5P_DEFAULT));
        if (o >= 0)
            RC(H5Oclose(o));
    }
    show_object("dataset", d);
    /* Existing names and impossible sources. */
    RC(H5Lcreate_hard(file, "g/d", file, "hard", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(file, "missing", file, "new", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(H5L_SAME_LOC, "a", H5L_SAME_LOC, "b", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("x", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void copy_and_move(void)
{
    hid_t file = make_file("m.h5"), a = make_group(file, "a"), b = make_group(file, "b"), d = make_ints(a, "d", 3, 5);
    char  name[64] = "";
    RC(H5Lcopy(a, "d", b, "copied", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcopy(a, "d", H5L_SAME_LOC, "twin", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(a, "d", b, "moved", H5P_DEFAULT, H5P_DEFAULT));
    NUM(H5Iget_name(d, name, sizeof name));
    show_text("the open dataset is now", name);
    RC(H5Lmove(file, "a/twin", file, "a/renamed", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(H5L_SAME_LOC, "b/moved", file, "top", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "missing", file, "other", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "top", file, "b/copied", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcopy(file, "top", file, "b/copied", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("/top", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcopy(file, "soft", b, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lmove(file, "soft", a, "soft", H5P_DEFAULT, H5P_DEFAULT));
    show_link(a, "soft");
    show_link(b, "soft");
    show_link(b, "copied");
    RC(H5Lmove(file, "b", a, "b", H5P_DEFAULT, H5P_DEFAULT));
    NUM(H5Iget_name(b, name, sizeof name));
    show_text("the open group is now", name);
    show_object("dataset", d);
    RC(H5Dclose(d));
    RC(H5Gclose(a));
    RC(H5Gclose(b));
    RC(H5Fclose(file));
}

static void delete(void)
{
    hid_t file = make_file("d.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 6, 2);
    char  name[64] = "?";
    RC(H5Lcreate_hard(g, "d", file, "second", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Ldelete(file, "g/d", H5P_DEFAULT));
    RC(H5Ldelete(file, "g/d", H5P_DEFAULT));
    show_object("still there", d);
    RC(H5Ldelete(file, "second", H5P_DEFAULT));
    show_object("no name left", d);
    NUM(H5Iget_name(d, name, sizeof name));
    read_ints(d, "data");
    RC(H5Ldelete(file, "g", H5P_DEFAULT));
    hid_t x = make_ints(g, "in a deleted group", 2, 0);
    RC(H5Dclose(x));
    RC(H5Ldelete(file, "/", H5P_DEFAULT));
    RC(H5Ldelete(file, ".", H5P_DEFAULT));
    RC(H5Ldelete(file, "", H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void by_index(void)
{
    hid_t gcpl = plist(H5P_GROUP_CREATE), file = make_file("i.h5");
    RC(H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    RC(H5Pset_link_phase_change(gcpl, 4, 2));
    hid_t g = ID(H5Gcreate2(file, "g", H5P_DEFAULT, gcpl, H5P_DEFAULT));
    for (int i = 0; i < 9; i++) {
        char  name[16];
        snprintf(name, sizeof name, "n%d", (i * 4) % 9);
        if (i % 3 == 2)
            RC(H5Lcreate_soft("/somewhere", g, name, H5P_DEFAULT, H5P_DEFAULT));
        else
            RC(H5Gclose(make_group(g, name)));
    }
    for (hsize_t n = 0; n < 11; n += 2) {
        char        name[16] = "", value[32] = "";
        H5L_info2_t info;
        memset(&info, 0, sizeof info);
        NUM(H5Lget_name_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, n, name, sizeof name, H5P_DEFAULT));
        show_text("by name", name);
        NUM(H5Lget_name_by_idx(file, "g", H5_INDEX_CRT_ORDER, H5_ITER_DEC, n, name, sizeof name, H5P_DEFAULT));
        show_text("by age", name);
        RC(H5Lget_info_by_idx2(g, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, n, &info, H5P_DEFAULT));
        note("type %d, order %lld", info.type, (long long)info.corder);
        RC(H5Lget_val_by_idx(g, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, n, value, sizeof value, H5P_DEFAULT));
        show_text("value", value);
        hid_t o = ID(H5Oopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, n, H5P_DEFAULT));
        if (o >= 0)
            RC(H5Oclose(o));
    }
    RC(H5Ldelete_by_idx(file, "g", H5_INDEX_CRT_ORDER, H5_ITER_INC, 3, H5P_DEFAULT));
    RC(H5Ldelete_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
    RC(H5Ldelete_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 50, H5P_DEFAULT));
    H5G_info_t info;
    RC(H5Gget_info(g, &info));
    note("storage %d, %llu links, next order %lld, mounted %d", info.storage_type, (unsigned long long)info.nlinks,
         (long long)info.max_corder, info.mounted);
    RC(H5Gget_info_by_name(file, "g", &info, H5P_DEFAULT));
    RC(H5Gget_info_by_name(file, "none", &info, H5P_DEFAULT));
    RC(H5Gget_info_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT));
    note("%llu links", (unsigned long long)info.nlinks);
    hid_t stored = ID(H5Gget_create_plist(g));
    unsigned order = 0, most = 0, least = 0;
    RC(H5Pget_link_creation_order(stored, &order));
    RC(H5Pget_link_phase_change(stored, &most, &least));
    note("order %u, compact up to %u, dense down to %u", order, most, least);
    RC(H5Pclose(stored));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void too_many_soft_links(void)
{
    size_t nlinks = 0;
    hid_t  file = make_file("s.h5"), lapl = plist(H5P_LINK_ACCESS);
    RC(H5Gclose(make_group(file, "s0")));
    for (int i = 1; i <= 20; i++) {
        char to[16], name[16];
        snprintf(to, sizeof to, "s%d", i - 1);
        snprintf(name, sizeof name, "s%d", i);
        RC(H5Lcreate_soft(to, file, name, H5P_DEFAULT, H5P_DEFAULT));
    }
    ID(H5Oopen(file, "s20", H5P_DEFAULT));
    RC(H5Pset_nlinks(lapl, 25));
    RC(H5Pget_nlinks(lapl, &nlinks));
    hid_t o = ID(H5Oopen(file, "s20", lapl));
    char  name[64] = "";
    NUM(H5Iget_name(o, name, sizeof name));
    show_text("name", name);
    RC(H5Oclose(o));
    o = ID(H5Gopen2(file, "s12", H5P_DEFAULT));
    if (o >= 0)
        RC(H5Gclose(o));
    RC(H5Fclose(file));
}

/* Old-style groups (symbol tables) grow B-trees; new-style ones switch between compact and dense. */
static void many(void)
{
    hid_t file = make_file("n.h5"), g = make_group(file, "g");
    for (int i = 0; i < 60; i++) {
        char name[32];
        snprintf(name, sizeof name, "link_%03d", (i * 37) % 60);
        RC(H5Lcreate_soft("x", g, name, H5P_DEFAULT, H5P_DEFAULT));
    }
    for (int i = 0; i < 60; i += 2) {
        char name[32];
        snprintf(name, sizeof name, "link_%03d", i);
        RC(H5Ldelete(g, name, H5P_DEFAULT));
    }
    H5G_info_t info;
    RC(H5Gget_info(g, &info));
    note("%llu links", (unsigned long long)info.nlinks);
    show_link(g, "link_031");
    show_link(g, "link_030");
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void intermediate_groups(void)
{
    unsigned create = 0;
    hid_t    file = make_file("p.h5"), lcpl = plist(H5P_LINK_CREATE);
    ID(H5Gcreate2(file, "a/b/c", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Pset_create_intermediate_group(lcpl, 1));
    RC(H5Pget_create_intermediate_group(lcpl, &create));
    hid_t g = ID(H5Gcreate2(file, "a/b/c", lcpl, H5P_DEFAULT, H5P_DEFAULT));
    hid_t d = ID(H5Dcreate2(file, "x/y/d", H5T_NATIVE_INT, space1(2), lcpl, H5P_DEFAULT, H5P_DEFAULT));
    hid_t t = H5Tcopy(H5T_NATIVE_INT);
    RC(H5Tcommit2(file, "x/z/t", t, lcpl, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tclose(t));
    RC(H5Lcreate_soft("/a", file, "q/w/soft", lcpl, H5P_DEFAULT));
    RC(H5Lcreate_hard(file, "a", file, "q/e/hard", lcpl, H5P_DEFAULT));
    RC(H5Lmove(file, "x/y/d", file, "moved/here/d", lcpl, H5P_DEFAULT));
    RC(H5Ocopy(file, "a", file, "copied/here/a", H5P_DEFAULT, lcpl));
    RC(H5Lexists(file, "moved/here/d", H5P_DEFAULT));
    RC(H5Lexists(file, "a/b/c", H5P_DEFAULT));
    RC(H5Lexists(file, "copied/here/a/b/c", H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

CASES(links, {"hard_and_soft", hard_and_soft, EVERYWHERE}, {"copy_and_move", copy_and_move, EVERYWHERE},
      {"delete", delete, EVERYWHERE}, {"by_index", by_index, EVERYWHERE},
      {"too_many_soft_links", too_many_soft_links, EVERYWHERE}, {"many", many, EVERYWHERE},
      {"intermediate_groups", intermediate_groups, EVERYWHERE})
