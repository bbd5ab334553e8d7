/* The asynchronous calls, with an event set and with none. The native library completes them at once. */
#include "conform.h"

static void show_set(hid_t es)
{
    size_t   count = 99, errors = 99;
    uint64_t ops   = 99;
    bool     bad   = true;
    if (es == H5ES_NONE)
        return;
    RC(H5ESget_count(es, &count));
    RC(H5ESget_op_counter(es, &ops));
    RC(H5ESget_err_status(es, &bad));
    RC(H5ESget_err_count(es, &errors));
    note("%zu in the set, %llu operations, failed %d, %zu errors", count, (unsigned long long)ops, bad, errors);
}

static void settle(hid_t es)
{
    size_t left = 99;
    bool   bad  = true;
    if (es == H5ES_NONE)
        return;
    RC(H5ESwait(es, H5ES_WAIT_FOREVER, &left, &bad));
    note("%zu left, failed %d", left, bad);
    show_set(es);
}

static void objects(hid_t es)
{
    int   value = 3, back = 0;
    bool  yes   = false;
    H5G_info_t  ginfo;
    H5O_info2_t oinfo;
    hid_t file = ID(H5Fcreate_async("a.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl(), es));
    hid_t g    = ID(H5Gcreate_async(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, es));
    hid_t t    = H5Tcopy(H5T_STD_I16BE);
    RC(H5Tcommit_async(g, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, es));
    hid_t a = ID(H5Acreate_async(g, "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Awrite_async(a, H5T_NATIVE_INT, &value, es));
    RC(H5Aread_async(a, H5T_NATIVE_INT, &back, es));
    settle(es);
    note("attribute %d", back);
    RC(H5Aclose_async(a, es));
    a = ID(H5Acreate_by_name_async(file, "g", "b", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Aclose_async(a, es));
    a = ID(H5Aopen_async(g, "b", H5P_DEFAULT, es));
    RC(H5Aclose_async(a, es));
    a = ID(H5Aopen_by_name_async(file, "g", "b", H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Aclose_async(a, es));
    a = ID(H5Aopen_by_idx_async(file, "g", H5_INDEX_NAME, H5_ITER_INC, 1, H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Aclose_async(a, es));
    RC(H5Aexists_async(g, "a", &yes, es));
    note("exists %d", yes);
    RC(H5Aexists_by_name_async(file, "g", "nothing", &yes, H5P_DEFAULT, es));
    note("exists %d", yes);
    RC(H5Arename_async(g, "b", "c", es));
    RC(H5Arename_by_name_async(file, "g", "c", "d", H5P_DEFAULT, es));
    RC(H5Gget_info_async(g, &ginfo, es));
    RC(H5Gget_info_by_name_async(file, "g", &ginfo, H5P_DEFAULT, es));
    RC(H5Gget_info_by_idx_async(file, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &ginfo, H5P_DEFAULT, es));
    note("%llu links", (unsigned long long)ginfo.nlinks);
    RC(H5Oget_info_by_name_async(file, "g", &oinfo, H5O_INFO_ALL, H5P_DEFAULT, es));
    note("%llu attributes", (unsigned long long)oinfo.num_attrs);
    RC(H5Lcreate_hard_async(file, "g", file, "hard", H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Lcreate_soft_async("/g", file, "soft", H5P_DEFAULT, H5P_DEFAULT, es));
    RC(H5Lexists_async(file, "soft", &yes, H5P_DEFAULT, es));
    note("exists %d", yes);
    RC(H5Ldelete_async(file, "soft", H5P_DEFAULT, es));
    RC(H5Ldelete_by_idx_async(file, ".", H5_INDEX_NAME, H5_ITER_INC, 1, H5P_DEFAULT, es));
    hid_t o = ID(H5Oopen_async(file, "g", H5P_DEFAULT, es));
    RC(H5Oflush_async(o, es));
    RC(H5Orefresh_async(o, es));
    RC(H5Oclose_async(o, es));
    o = ID(H5Oopen_by_idx_async(file, ".", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT, es));
    RC(H5Oclose_async(o, es));
    RC(H5Ocopy_async(file, "g", file, "copy", H5P_DEFAULT, H5P_DEFAULT, es));
    hid_t n = ID(H5Topen_async(g, "t", H5P_DEFAULT, es));
    RC(H5Tclose_async(n, es));
    RC(H5Tclose_async(t, es));
    RC(H5Gclose_async(g, es));
    g = ID(H5Gopen_async(file, "g", H5P_DEFAULT, es));
    RC(H5Gclose_async(g, es));
    RC(H5Fflush_async(file, H5F_SCOPE_GLOBAL, es));
    hid_t again = ID(H5Freopen_async(file, es));
    RC(H5Fclose_async(again, es));
    RC(H5Fclose_async(file, es));
    settle(es);
    file = ID(H5Fopen_async("a.h5", H5F_ACC_RDONLY, fapl(), es));
    RC(H5Fclose_async(file, es));
    settle(es);
}

static void data(hid_t es)
{
    enum { N = 50 };
    int     values[N], back[N] = {0};
    hsize_t more = 2 * N * (hsize_t)nranks;
    hid_t   file = ID(H5Fcreate_async("d.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl(), es));
    hid_t   mine = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N), memory = space1(N);
    hid_t   d[2];
    hid_t   space = space1_up_to((hsize_t)N * (hsize_t)nranks, H5S_UNLIMITED);
    d[0] = ID(H5Dcreate_async(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, chunked1(16), H5P_DEFAULT, es));
    d[1] = ID(H5Dcreate_async(file, "y", H5T_NATIVE_INT, mine, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, es));
    for (int i = 0; i < N; i++)
        values[i] = rank * 100 + i;
    RC(H5Dwrite_async(d[0], H5T_NATIVE_INT, memory, mine, collective(), values, es));
    RC(H5Dread_async(d[0], H5T_NATIVE_INT, memory, mine, collective(), back, es));
    settle(es);
    show_ints("x", back, N);
    hid_t       types[] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, memories[] = {memory, memory}, files[] = {mine, mine};
    const void *out[] = {values, values};
    int         second[N];
    void       *in[] = {back, second};
    RC(H5Dwrite_multi_async(2, d, types, memories, files, collective(), out, es));
    RC(H5Dread_multi_async(2, d, types, memories, files, collective(), in, es));
    settle(es);
    show_ints("y", second, N);
    RC(H5Dset_extent_async(d[0], &more, es));
    hid_t now = ID(H5Dget_space_async(d[0], es));
    show_space("extended", now);
    RC(H5Sclose(now));
    RC(H5Dclose_async(d[0], es));
    RC(H5Dclose_async(d[1], es));
    d[0] = ID(H5Dopen_async(file, "x", H5P_DEFAULT, es));
    RC(H5Dclose_async(d[0], es));
    RC(H5Fclose_async(file, es));
    settle(es);
}

static void with_set(void (*part)(hid_t))
{
    hid_t es = ID(H5EScreate());
    part(es);
    RC(H5ESclose(es));
}

static void objects_none(void) { objects(H5ES_NONE); }
static void objects_set(void) { with_set(objects); }
static void data_none(void) { data(H5ES_NONE); }
static void data_set(void) { with_set(data); }

/* A failing call fails at once, and leaves no trace in the set. */
static void failing(hid_t es)
{
    int             value;
    H5ES_err_info_t info[4];
    size_t          got = 99, not_cancelled = 99;
    bool            bad = true;
    hid_t           file = ID(H5Fcreate_async("e.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl(), es));
    ID(H5Dopen_async(file, "missing", H5P_DEFAULT, es));
    ID(H5Gopen_async(file, "missing", H5P_DEFAULT, es));
    ID(H5Aopen_async(file, "missing", H5P_DEFAULT, es));
    ID(H5Topen_async(file, "missing", H5P_DEFAULT, es));
    RC(H5Ldelete_async(file, "missing", H5P_DEFAULT, es));
    RC(H5Dread_async(file, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value, es));
    ID(H5Fopen_async("missing.h5", H5F_ACC_RDONLY, fapl(), es));
    RC(H5Dclose_async(file, es));
    show_set(es);
    RC(H5ESget_err_info(es, 4, info, &got));
    note("%zu infos", got);
    RC(H5EScancel(es, &not_cancelled, &bad));
    note("%zu not cancelled, failed %d", not_cancelled, bad);
    RC(H5Fclose_async(file, es));
    settle(es);
    RC(H5Fclose_async(file, es));
}

static void failing_set(void) { with_set(failing); }
static void failing_none(void)
{
    hid_t file = ID(H5Fcreate_async("e.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl(), H5ES_NONE));
    ID(H5Dopen_async(file, "missing", H5P_DEFAULT, H5ES_NONE));
    ID(H5Gopen_async(file, "missing", H5P_DEFAULT, space1(1)));
    RC(H5Fclose_async(file, H5ES_NONE));
    RC(H5ESwait(H5I_INVALID_HID, 0, NULL, NULL));
}

CASES(async, {"objects_none", objects_none, EVERYWHERE}, {"objects_set", objects_set, EVERYWHERE},
      {"data_none", data_none, EVERYWHERE}, {"data_set", data_set, EVERYWHERE}, {"failing_set", failing_set, EVERYWHERE},
      {"failing_none", failing_none, EVERYWHERE})
