/* Collective metadata: reads and writes of metadata done by all ranks together, asked for on file and access lists. */
#include "conform.h"

static hid_t collective_fapl(bool ops, bool writes)
{
    bool  got  = false;
    hid_t list = keep(H5Pcopy(fapl()));
    RC(H5Pset_all_coll_metadata_ops(list, ops));
    RC(H5Pset_coll_metadata_write(list, writes));
    RC(H5Pget_all_coll_metadata_ops(list, &got));
    note("operations %d", got);
    RC(H5Pget_coll_metadata_write(list, &got));
    note("writes %d", got);
    return list;
}

static void work(hid_t file)
{
    int   values[32], back[32];
    hid_t all = part1(32 * (hsize_t)nranks, 32 * (hsize_t)rank, 32);
    for (int s = 0; s < 4; s++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", s);
        hid_t g = make_group(file, name);
        hid_t d = ID(H5Dcreate2(g, "d", H5T_NATIVE_INT, all, H5P_DEFAULT, s % 2 ? chunked1(10) : H5P_DEFAULT, H5P_DEFAULT));
        for (int i = 0; i < 32; i++)
            values[i] = s * 1000 + rank * 100 + i;
        RC(H5Dwrite(d, H5T_NATIVE_INT, space1(32), all, collective(), values));
        RC(H5Dread(d, H5T_NATIVE_INT, space1(32), all, collective(), back));
        show_ints(name, back, 32);
        make_attr(d, "a", s);
        RC(H5Aexists(d, "a"));
        RC(H5Lexists(g, "d", H5P_DEFAULT));
        RC(H5Dclose(d));
        RC(H5Gclose(g));
    }
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
}

static void with(bool ops, bool writes)
{
    hid_t list = collective_fapl(ops, writes), file = ID(H5Fcreate("c.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list));
    bool  got  = false;
    work(file);
    RC(H5Fclose(file));
    file         = ID(H5Fopen("c.h5", H5F_ACC_RDWR, list));
    hid_t stored = ID(H5Fget_access_plist(file));
    RC(H5Pget_all_coll_metadata_ops(stored, &got));
    note("operations %d", got);
    RC(H5Pget_coll_metadata_write(stored, &got));
    note("writes %d", got);
    RC(H5Pclose(stored));
    hid_t d = ID(H5Dopen2(file, "g3/d", H5P_DEFAULT));
    read_ints(d, "all");
    RC(H5Dclose(d));
    RC(H5Ldelete(file, "g2", H5P_DEFAULT));
    RC(H5Fclose(file));
}

static void operations(void) { with(true, false); }
static void writes(void) { with(false, true); }
static void both(void) { with(true, true); }

/* One rank alone transfers data; nothing on the way may ask for metadata together with the others. */
static void one_rank_transfers(void)
{
    hid_t list = collective_fapl(true, true), file = ID(H5Fcreate("o.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(20), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    int   values[20], back[20];
    for (int i = 0; i < 20; i++)
        values[i] = 20 - i;
    if (rank == nranks - 1) {
        RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), values));
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), back));
        show_ints("alone", back, 20);
    }
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* The same wish on the access list of one object only. */
static void per_object(void)
{
    bool  got = false;
    hid_t file = make_file("p.h5"), gapl = plist(H5P_GROUP_ACCESS), dapl = plist(H5P_DATASET_ACCESS), lapl = plist(H5P_LINK_ACCESS);
    RC(H5Pset_all_coll_metadata_ops(gapl, true));
    RC(H5Pset_all_coll_metadata_ops(dapl, true));
    RC(H5Pset_all_coll_metadata_ops(lapl, true));
    hid_t g = ID(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, gapl));
    RC(H5Gclose(g));
    g       = ID(H5Gopen2(file, "g", gapl));
    hid_t d = ID(H5Dcreate2(g, "d", H5T_NATIVE_INT, space1(4), H5P_DEFAULT, H5P_DEFAULT, dapl));
    read_ints(d, "d");
    hid_t stored = ID(H5Dget_access_plist(d));
    RC(H5Pget_all_coll_metadata_ops(stored, &got));
    note("stored %d", got);
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
    hid_t o = ID(H5Oopen(g, "d", lapl));
    RC(H5Oclose(o));
    RC(H5Lexists(g, "d", lapl));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

CASES(collective_metadata, {"operations", operations, BOTH_PARALLEL}, {"writes", writes, BOTH_PARALLEL}, {"both", both, BOTH_PARALLEL},
      {"one_rank_transfers", one_rank_transfers, BOTH_PARALLEL}, {"per_object", per_object, BOTH_PARALLEL})
