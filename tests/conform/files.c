/* Files: names, intents, counts, sizes, free space, caches, images, reopening, deleting, lists retrieved from them. */
#include "conform.h"

static void names_and_intents(void)
{
    char     name[64] = "", small[4];
    unsigned intent   = 99;
    unsigned flags[]  = {H5F_ACC_RDONLY, H5F_ACC_RDWR};
    hid_t    file = make_file("f.h5"), g = make_group(file, "g");
    RC(H5Fget_intent(file, &intent));
    note("intent %u", intent);
    NUM(H5Fget_name(g, name, sizeof name));
    show_text("name", name);
    NUM(H5Fget_name(file, small, sizeof small));
    show_text("cut", small);
    NUM(H5Fget_name(file, NULL, 0));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
    for (size_t i = 0; i < COUNT(flags); i++) {
        file = open_file("f.h5", flags[i]);
        RC(H5Fget_intent(file, &intent));
        note("intent %u", intent);
        RC(H5Fget_intent(file, NULL));
        RC(H5Fclose(file));
    }
    RC(H5Fget_intent(file, &intent));
    NUM(H5Fget_name(file, name, sizeof name));
}

static void object_counts(void)
{
    unsigned kinds[] = {H5F_OBJ_FILE, H5F_OBJ_DATASET, H5F_OBJ_GROUP, H5F_OBJ_DATATYPE, H5F_OBJ_ATTR, H5F_OBJ_ALL,
                        H5F_OBJ_ALL | H5F_OBJ_LOCAL};
    hid_t    file = make_file("o.h5"), g = make_group(file, "g"), d = make_ints(g, "d", 3, 1), again = ID(H5Freopen(file));
    hid_t    e = ID(H5Dopen2(again, "g/d", H5P_DEFAULT)), t = H5Tcopy(H5T_NATIVE_INT), other = make_file("p.h5");
    RC(H5Tcommit2(g, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    make_attr(g, "a", 1);
    hid_t a = ID(H5Aopen(g, "a", H5P_DEFAULT));
    for (size_t k = 0; k < COUNT(kinds); k++) {
        hid_t ids[20];
        note("kinds %#x", kinds[k]);
        NUM(H5Fget_obj_count(file, kinds[k]));
        NUM(H5Fget_obj_count(again, kinds[k]));
        NUM(H5Fget_obj_count(other, kinds[k]));
        NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, kinds[k]));
        long long got = NUM(H5Fget_obj_ids(file, kinds[k], 20, ids));
        int       known = 0;
        for (long long i = 0; i < got; i++)
            known += ids[i] == file || ids[i] == again || ids[i] == g || ids[i] == d || ids[i] == e || ids[i] == t || ids[i] == a;
        note("%d of them are ours", known);
        NUM(H5Fget_obj_ids(file, kinds[k], 1, ids));
    }
    NUM(H5Fget_obj_count(g, H5F_OBJ_ALL));
    NUM(H5Fget_obj_ids(file, H5F_OBJ_ALL, 20, NULL));
    RC(H5Aclose(a));
    RC(H5Tclose(t));
    RC(H5Dclose(e));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(again));
    RC(H5Fclose(other));
    RC(H5Fclose(file));
}

static void sizes(void)
{
    hsize_t     bytes = 0;
    H5F_info2_t info;
    haddr_t     eoa = 0;
    hid_t       file = make_file("s.h5"), d = make_ints(file, "d", 1000, 1);
    if (!parallel()) /* the MPI-IO driver does not know the size after a write of its own */
        RC(H5Fget_filesize(file, &bytes));
    note("%llu bytes", (unsigned long long)bytes);
    RC(H5Fget_eoa(file, &eoa));
    note("allocated to %llu", (unsigned long long)eoa);
    NUM(H5Fget_freespace(file));
    RC(H5Dclose(d));
    RC(H5Ldelete(file, "d", H5P_DEFAULT));
    NUM(H5Fget_freespace(file));
    memset(&info, 0, sizeof info);
    RC(H5Fget_info2(file, &info));
    note("super block %u, %llu, extension %llu; free space %u, %llu of %llu; shared messages %u, %llu", info.super.version,
         (unsigned long long)info.super.super_size, (unsigned long long)info.super.super_ext_size, info.free.version,
         (unsigned long long)info.free.meta_size, (unsigned long long)info.free.tot_space, info.sohm.version,
         (unsigned long long)info.sohm.hdr_size);
    RC(H5Fincrement_filesize(file, 512));
    RC(H5Fget_eoa(file, &eoa));
    note("allocated to %llu", (unsigned long long)eoa);
    RC(H5Fclose(file));
    file = open_file("s.h5", H5F_ACC_RDWR);
    RC(H5Fget_filesize(file, &bytes));
    note("%llu bytes", (unsigned long long)bytes);
    NUM(H5Fget_freespace(file));
    RC(H5Fclose(file));
}

static void free_sections(void)
{
    H5F_sect_info_t           sections[20];
    H5F_fspace_strategy_t     strategy = H5F_FSPACE_STRATEGY_NTYPES;
    hbool_t                   persist  = false;
    hsize_t                   threshold = 0, page = 0;
    hid_t                     fcpl = plist(H5P_FILE_CREATE);
    RC(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_FSM_AGGR, true, 1));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, fcpl, fapl()));
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", i);
        RC(H5Dclose(make_ints(file, name, 500, i)));
    }
    RC(H5Ldelete(file, "d1", H5P_DEFAULT));
    RC(H5Fclose(file));
    file           = open_file("f.h5", H5F_ACC_RDWR);
    long long count = NUM(H5Fget_free_sections(file, H5FD_MEM_DEFAULT, COUNT(sections), sections));
    for (long long i = 0; i < count && i < 20; i++)
        note("%llu bytes at %llu", (unsigned long long)sections[i].size, (unsigned long long)sections[i].addr);
    NUM(H5Fget_freespace(file));
    hid_t list = ID(H5Fget_create_plist(file));
    RC(H5Pget_file_space_strategy(list, &strategy, &persist, &threshold));
    RC(H5Pget_file_space_page_size(list, &page));
    note("strategy %d, kept %d, from %llu, page %llu", strategy, persist, (unsigned long long)threshold, (unsigned long long)page);
    RC(H5Pclose(list));
    RC(H5Fclose(file));
}

static void metadata_cache(void)
{
    H5AC_cache_config_t config;
    double              rate = -1;
    size_t              most = 0, clean = 0, now = 0;
    int                 entries = 0;
    unsigned            image = 0;
    hbool_t             enabled = true, logging = true;
    haddr_t             where = 0;
    hsize_t             length = 0;
    hid_t               file = make_file("m.h5");
    config.version           = H5AC__CURR_CACHE_CONFIG_VERSION;
    RC(H5Fget_mdc_config(file, &config));
    note("initial %zu, most %zu, least %zu", config.initial_size, config.max_size, config.min_size);
    config.set_initial_size = true;
    config.initial_size     = 1 << 20;
    RC(H5Fset_mdc_config(file, &config));
    RC(H5Fget_mdc_size(file, &most, &clean, &now, &entries));
    note("most %zu, clean %zu", most, clean);
    RC(H5Fget_mdc_hit_rate(file, &rate));
    RC(H5Freset_mdc_hit_rate_stats(file));
    RC(H5Fget_mdc_hit_rate(file, &rate));
    note("hit rate after reset %g", rate);
    RC(H5Fget_mdc_logging_status(file, &enabled, &logging));
    note("log %d %d", enabled, logging);
    RC(H5Fstart_mdc_logging(file));
    RC(H5Fstop_mdc_logging(file));
    RC(H5Fget_mdc_image_info(file, &where, &length));
    note("image %llu bytes", (unsigned long long)length);
    config.max_size = 1;
    RC(H5Fset_mdc_config(file, &config));
    config.version = 77;
    RC(H5Fget_mdc_config(file, &config));
    RC(H5Fget_mdc_config(file, NULL));
    (void)image;
    RC(H5Fclose(file));
}

static void image(void)
{
    hid_t   file = make_file("i.h5");
    RC(H5Dclose(make_ints(file, "d", 20, 4)));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    long long size = NUM(H5Fget_file_image(file, NULL, 0));
    if (size > 0) {
        void *bytes = malloc((size_t)size);
        NUM(H5Fget_file_image(file, bytes, (size_t)size));
        show_bytes("image", bytes, (size_t)size);
        NUM(H5Fget_file_image(file, bytes, 10));
        hid_t core = plist(H5P_FILE_ACCESS);
        RC(H5Pset_fapl_core(core, 4096, false));
        RC(H5Pset_file_image(core, bytes, (size_t)size));
        hid_t copy = ID(H5Fopen("nothing on disk", H5F_ACC_RDWR, core));
        hid_t d    = ID(H5Dopen2(copy, "d", H5P_DEFAULT));
        int   values[20] = {0};
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
        show_ints("from the image", values, 20);
        RC(H5Dclose(d));
        RC(H5Fclose(copy));
        free(bytes);
    }
    RC(H5Fclose(file));
}

static void reopen(void)
{
    char  name[64] = "";
    hid_t file = make_file("r.h5"), again = ID(H5Freopen(file)), d = make_ints(again, "d", 5, 5);
    unsigned long one = 0, two = 0;
    RC(H5Fget_fileno(file, &one));
    RC(H5Fget_fileno(again, &two));
    note("same file %d", one == two);
    RC(H5Fclose(file));
    read_ints(d, "first handle closed");
    NUM(H5Fget_name(again, name, sizeof name));
    show_text("name", name);
    RC(H5Lexists(again, "d", H5P_DEFAULT));
    RC(H5Dclose(d));
    hid_t third = open_file("r.h5", H5F_ACC_RDWR);
    RC(H5Fget_fileno(third, &two));
    note("same file %d", one == two);
    hid_t fourth = ID(H5Fopen("r.h5", H5F_ACC_RDONLY, fapl()));
    RC(H5Fclose(fourth));
    RC(H5Fclose(third));
    RC(H5Fclose(again));
    ID(H5Freopen(again));
}

static void accessible_and_delete(void)
{
    if (solo_begin()) {
        FILE *text = fopen("text.h5", "w");
        fputs("not a file of HDF5, but long enough to be mistaken for one by somebody who does not look", text);
        fclose(text);
        text = fopen("empty.h5", "w");
        fclose(text);
    }
    solo_end();
    hid_t file = make_file("a.h5");
    RC(H5Fclose(file));
    RC(H5Fis_accessible("a.h5", fapl()));
    RC(H5Fis_accessible("text.h5", fapl()));
    RC(H5Fis_accessible("empty.h5", fapl()));
    RC(H5Fis_accessible("missing.h5", fapl()));
    RC(H5Fis_accessible(NULL, fapl()));
    if (!parallel())
        RC(H5Fis_hdf5("a.h5"));
    RC(H5Fdelete("text.h5", fapl()));
    RC(H5Fdelete("missing.h5", fapl()));
    RC(H5Fdelete("a.h5", fapl()));
    MPI_Barrier(MPI_COMM_WORLD);
    note("gone %d", access("a.h5", F_OK) != 0);
}

static void modes(void)
{
    hid_t file = ID(H5Fcreate("m.h5", H5F_ACC_EXCL, H5P_DEFAULT, fapl()));
    RC(H5Fclose(file));
    ID(H5Fcreate("m.h5", H5F_ACC_EXCL, H5P_DEFAULT, fapl()));
    file = ID(H5Fcreate("m.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    ID(H5Fcreate("m.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    RC(H5Fclose(file));
    ID(H5Fcreate("m.h5", H5F_ACC_TRUNC | H5F_ACC_EXCL, H5P_DEFAULT, fapl()));
    ID(H5Fcreate("no/such/folder.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    ID(H5Fopen("m.h5", H5F_ACC_TRUNC, fapl()));
    ID(H5Fopen("m.h5", 0xf000, fapl()));
    ID(H5Fopen("missing.h5", H5F_ACC_RDWR, fapl()));
}

static void lists(void)
{
    hid_t    fcpl = plist(H5P_FILE_CREATE), access_list = keep(H5Pcopy(fapl()));
    unsigned low = 0, high = 0, sym_ik = 0, leaf = 0, indices = 9, order = 0;
    size_t   addr = 0, size = 0, slots = 0, bytes = 0, buffer = 0, elements = 0;
    double   policy = 0;
    hsize_t  threshold = 0, alignment = 0, block = 0, sieve = 0;
    H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
    bool     ignore = false, locking = false;
    RC(H5Pset_sizes(fcpl, 8, 8));
    RC(H5Pset_sym_k(fcpl, 20, 8));
    RC(H5Pset_istore_k(fcpl, 40));
    RC(H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED));
    RC(H5Pset_alignment(access_list, 100, 512));
    RC(H5Pset_meta_block_size(access_list, 4096));
    RC(H5Pset_small_data_block_size(access_list, 8192));
    RC(H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG));
    RC(H5Pset_sieve_buf_size(access_list, 1000));
    RC(H5Pset_cache(access_list, 0, 1009, 2 << 20, 0.5));
    RC(H5Pset_file_locking(access_list, true, true));
    hid_t file = ID(H5Fcreate("l.h5", H5F_ACC_TRUNC, fcpl, access_list));
    hid_t d    = make_ints(file, "d", 400, 0);
    NUM(H5Dget_offset(d));
    hid_t c = ID(H5Fget_create_plist(file)), a = ID(H5Fget_access_plist(file));
    RC(H5Pget_sizes(c, &addr, &size));
    RC(H5Pget_sym_k(c, &sym_ik, &leaf));
    RC(H5Pget_istore_k(c, &indices));
    RC(H5Pget_link_creation_order(c, &order));
    note("sizes %zu %zu, ranks %u %u %u, order %u", addr, size, sym_ik, leaf, indices, order);
    RC(H5Pget_alignment(a, &threshold, &alignment));
    RC(H5Pget_meta_block_size(a, &block));
    RC(H5Pget_small_data_block_size(a, &sieve));
    RC(H5Pget_fclose_degree(a, &degree));
    RC(H5Pget_sieve_buf_size(a, &buffer));
    RC(H5Pget_cache(a, NULL, &slots, &bytes, &policy));
    RC(H5Pget_file_locking(a, &locking, &ignore));
    RC(H5Pget_libver_bounds(a, (H5F_libver_t *)&low, (H5F_libver_t *)&high));
    note("alignment %llu %llu, blocks %llu %llu, degree %d, sieve %zu, cache %zu %zu %g, locking %d %d, versions %u %u",
         (unsigned long long)threshold, (unsigned long long)alignment, (unsigned long long)block, (unsigned long long)sieve, degree,
         buffer, slots, bytes, policy, locking, ignore, low, high);
    (void)elements;
    RC(H5Pclose(c));
    RC(H5Pclose(a));
    /* The strong degree closes the dataset with the file. */
    RC(H5Fclose(file));
    RC(H5Iis_valid(d));
    RC(H5Dclose(d));
}

static void versions(void)
{
    bool minimal = true;
    hid_t file = make_file("v.h5");
    RC(H5Fset_libver_bounds(file, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
    RC(H5Gclose(make_group(file, "g18")));
    RC(H5Fset_libver_bounds(file, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    RC(H5Gclose(make_group(file, "latest")));
    RC(H5Fset_libver_bounds(file, H5F_LIBVER_LATEST, H5F_LIBVER_EARLIEST));
    RC(H5Fget_dset_no_attrs_hint(file, &minimal));
    note("minimal headers %d", minimal);
    RC(H5Fset_dset_no_attrs_hint(file, true));
    RC(H5Fget_dset_no_attrs_hint(file, &minimal));
    note("minimal headers %d", minimal);
    RC(H5Dclose(make_ints(file, "minimal", 4, 0)));
    RC(H5Fclose(file));
}

CASES(files, {"names_and_intents", names_and_intents, EVERYWHERE}, {"object_counts", object_counts, EVERYWHERE},
      {"sizes", sizes, EVERYWHERE}, {"free_sections", free_sections, BOTH_SERIAL}, {"metadata_cache", metadata_cache, EVERYWHERE},
      {"image", image, BOTH_SERIAL}, {"reopen", reopen, EVERYWHERE}, {"accessible_and_delete", accessible_and_delete, EVERYWHERE},
      {"modes", modes, EVERYWHERE}, {"lists", lists, EVERYWHERE}, {"versions", versions, EVERYWHERE})
