/* Iteration over links, objects and attributes: order, early stop, resuming, errors, and use of the callback's handles. */
#include "conform.h"

typedef struct {
    int left;    /* stop when this reaches zero */
    int verdict; /* with this */
    int depth;
} Walk;

static int step(Walk *w) { return --w->left == 0 ? w->verdict : 0; }

static hid_t make_tree(void)
{
    hid_t gcpl = plist(H5P_GROUP_CREATE), fcpl = plist(H5P_FILE_CREATE);
    RC(H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    RC(H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    hid_t file = ID(H5Fcreate("tree.h5", H5F_ACC_TRUNC, fcpl, fapl()));
    hid_t b = ID(H5Gcreate2(file, "b", H5P_DEFAULT, gcpl, H5P_DEFAULT)), a = ID(H5Gcreate2(file, "a", H5P_DEFAULT, gcpl, H5P_DEFAULT));
    hid_t d = make_ints(b, "z", 3, 0), e = make_ints(b, "y", 3, 0), inner = make_group(b, "inner");
    make_type(inner, "t", H5T_NATIVE_INT);
    RC(H5Lcreate_hard(b, "z", a, "same_as_z", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_hard(file, "b", inner, "up", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_soft("/b/y", a, "soft", H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Lcreate_external("no.h5", "/", a, "ext", H5P_DEFAULT, H5P_DEFAULT));
    make_attr(d, "one", 1);
    make_attr(d, "two", 2);
    make_attr(inner, "three", 3);
    RC(H5Gclose(inner));
    RC(H5Dclose(d));
    RC(H5Dclose(e));
    RC(H5Gclose(a));
    RC(H5Gclose(b));
    return file;
}

static herr_t on_link(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    char here[64] = "";
    NUM(H5Iget_name(group, here, sizeof here));
    note("in %s: %s, type %d, order %lld", here, name, info->type, info->corder_valid ? (long long)info->corder : -1);
    if (info->type == H5L_TYPE_HARD) {
        hid_t o = ID(H5Oopen(group, name, H5P_DEFAULT));
        show_object("opened in the callback", o);
        RC(H5Oclose(o));
    }
    return step(data);
}

static void links(void)
{
    hid_t           file = make_tree();
    H5_index_t      indices[] = {H5_INDEX_NAME, H5_INDEX_CRT_ORDER};
    H5_iter_order_t orders[]  = {H5_ITER_INC, H5_ITER_DEC, H5_ITER_NATIVE};
    hid_t           b         = ID(H5Gopen2(file, "b", H5P_DEFAULT));
    for (size_t i = 0; i < COUNT(indices); i++)
        for (size_t o = 0; o < COUNT(orders); o++) {
            hsize_t at = 0;
            Walk    w  = {-1, 0, 0};
            note("index %d, order %d", indices[i], orders[o]);
            RC(H5Literate2(b, indices[i], orders[o], &at, on_link, &w));
            note("at %llu", (unsigned long long)at);
        }
    hsize_t at = 0;
    Walk    stop = {2, 5, 0}, on = {-1, 0, 0}, bad = {2, -1, 0};
    RC(H5Literate2(b, H5_INDEX_NAME, H5_ITER_INC, &at, on_link, &stop));
    note("stopped at %llu", (unsigned long long)at);
    RC(H5Literate2(b, H5_INDEX_NAME, H5_ITER_INC, &at, on_link, &on));
    note("resumed to %llu", (unsigned long long)at);
    at = 0;
    RC(H5Literate2(b, H5_INDEX_NAME, H5_ITER_INC, &at, on_link, &bad));
    note("failed at %llu", (unsigned long long)at);
    at = 77;
    RC(H5Literate2(b, H5_INDEX_NAME, H5_ITER_INC, &at, on_link, &on));
    RC(H5Literate_by_name2(file, "a", H5_INDEX_NAME, H5_ITER_DEC, NULL, on_link, &on, H5P_DEFAULT));
    RC(H5Literate_by_name2(file, "none", H5_INDEX_NAME, H5_ITER_DEC, NULL, on_link, &on, H5P_DEFAULT));
    RC(H5Literate_by_name2(file, "b/z", H5_INDEX_NAME, H5_ITER_DEC, NULL, on_link, &on, H5P_DEFAULT));
    RC(H5Literate2(b, H5_INDEX_NAME, H5_ITER_INC, NULL, NULL, NULL));
    RC(H5Gclose(b));
    RC(H5Fclose(file));
}

static void visit_links(void)
{
    hid_t file = make_tree();
    Walk  all = {-1, 0, 0}, stop = {4, 9, 0}, bad = {3, -2, 0};
    RC(H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_INC, on_link, &all));
    RC(H5Lvisit2(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, on_link, &stop));
    RC(H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_DEC, on_link, &bad));
    RC(H5Lvisit_by_name2(file, "b", H5_INDEX_NAME, H5_ITER_NATIVE, on_link, &all, H5P_DEFAULT));
    RC(H5Fclose(file));
}

static herr_t on_object(hid_t object, const char *name, const H5O_info2_t *info, void *data)
{
    char here[64] = "";
    NUM(H5Iget_name(object, here, sizeof here));
    note("visiting %s from %s: type %d, links %u, attributes %llu", name, here, info->type, info->rc,
         (unsigned long long)info->num_attrs);
    hid_t o = ID(H5Oopen_by_token(object, info->token));
    note("kind %d", H5Iget_type(o));
    RC(H5Oclose(o));
    return step(data);
}

static void visit_objects(void)
{
    hid_t file = make_tree(), d = ID(H5Dopen2(file, "b/z", H5P_DEFAULT));
    Walk  all = {-1, 0, 0}, stop = {3, 1, 0}, bad = {2, -1, 0};
    RC(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, on_object, &all, H5O_INFO_ALL));
    RC(H5Ovisit3(file, H5_INDEX_CRT_ORDER, H5_ITER_DEC, on_object, &all, H5O_INFO_BASIC));
    RC(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, on_object, &stop, H5O_INFO_BASIC));
    RC(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, on_object, &bad, H5O_INFO_BASIC));
    RC(H5Ovisit3(d, H5_INDEX_NAME, H5_ITER_INC, on_object, &all, H5O_INFO_ALL));
    RC(H5Ovisit_by_name3(file, "b", H5_INDEX_NAME, H5_ITER_DEC, on_object, &all, H5O_INFO_BASIC, H5P_DEFAULT));
    RC(H5Ovisit_by_name3(file, "none", H5_INDEX_NAME, H5_ITER_DEC, on_object, &all, H5O_INFO_BASIC, H5P_DEFAULT));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static herr_t on_attr(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    char here[64] = "";
    NUM(H5Iget_name(object, here, sizeof here));
    note("%s of %s, %llu bytes", name, here, (unsigned long long)info->data_size);
    RC(H5Aexists(object, name));
    return step(data);
}

static void attributes(void)
{
    hid_t   file = make_tree();
    hsize_t at   = 0;
    Walk    all = {-1, 0, 0}, stop = {1, 3, 0}, bad = {1, -3, 0};
    RC(H5Aiterate_by_name(file, "b/z", H5_INDEX_NAME, H5_ITER_INC, NULL, on_attr, &all, H5P_DEFAULT));
    RC(H5Aiterate_by_name(file, "b/z", H5_INDEX_NAME, H5_ITER_DEC, &at, on_attr, &stop, H5P_DEFAULT));
    note("at %llu", (unsigned long long)at);
    RC(H5Aiterate_by_name(file, "b/z", H5_INDEX_NAME, H5_ITER_INC, NULL, on_attr, &bad, H5P_DEFAULT));
    RC(H5Aiterate_by_name(file, "b/y", H5_INDEX_NAME, H5_ITER_INC, NULL, on_attr, &all, H5P_DEFAULT));
    RC(H5Aiterate_by_name(file, "none", H5_INDEX_NAME, H5_ITER_INC, NULL, on_attr, &all, H5P_DEFAULT));
    RC(H5Fclose(file));
}

/* A call that fails inside a callback, and the callback that reports it. */
static herr_t on_link_that_fails(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    (void)info, (void)data;
    note("at %s", name);
    return ID(H5Dopen2(group, "not here", H5P_DEFAULT)) < 0 ? -1 : 0;
}

/* An iteration within an iteration, on the handle that the outer one handed out. */
static herr_t on_link_that_descends(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    Walk *w = data;
    note("%*s%s", 2 * w->depth, "", name);
    H5O_info2_t object;
    if (info->type != H5L_TYPE_HARD || w->depth > 3 ||
        RC(H5Oget_info_by_name3(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT)) < 0 || object.type != H5O_TYPE_GROUP)
        return 0;
    w->depth++;
    herr_t code = RC(H5Literate_by_name2(group, name, H5_INDEX_NAME, H5_ITER_INC, NULL, on_link_that_descends, w, H5P_DEFAULT));
    w->depth--;
    return code;
}

static void within_callbacks(void)
{
    hid_t file = make_tree();
    Walk  w    = {-1, 0, 0};
    RC(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, on_link_that_fails, NULL));
    RC(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, on_link_that_descends, &w));
    RC(H5Fclose(file));
}

CASES(iteration, {"links", links, EVERYWHERE}, {"visit_links", visit_links, EVERYWHERE},
      {"visit_objects", visit_objects, EVERYWHERE}, {"attributes", attributes, EVERYWHERE},
      {"within_callbacks", within_callbacks, EVERYWHERE})
