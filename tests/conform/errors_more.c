/* Errors: operations that this file, driver or object does not support, and arguments out of range. */
#include "conform.h"

static void unsupported(void)
{
    hbool_t atomic = false;
    hsize_t where  = 0;
    int     value  = 0;
    size_t  most;
    hid_t   file = make_file("u.h5"), d = make_ints(file, "d", 4, 1), g = make_group(file, "g");
    if (!parallel()) {
        RC(H5Fset_mpi_atomicity(file, true));
        RC(H5Fget_mpi_atomicity(file, &atomic));
    }
    RC(H5Freset_page_buffering_stats(file));
    unsigned a[2], b[2], c[2], e[2], f[2];
    RC(H5Fget_page_buffering_stats(file, a, b, c, e, f));
    RC(H5Dformat_convert(d));
    RC(H5Dformat_convert(g));
    RC(H5Fformat_convert(file));
    RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &where, 4, &value));
    RC(H5Fget_mdc_size(g, &most, NULL, NULL, NULL));
    RC(H5Fget_filesize(g, &where));
    RC(H5Fget_filesize(file, NULL));
    RC(H5Fstart_mdc_logging(g));
    RC(H5Fclear_elink_file_cache(g));
    RC(H5Dclose(d));
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

static void out_of_range(void)
{
    H5O_info2_t info;
    H5A_info_t  attr;
    hsize_t     at = 500;
    char        name[8];
    hid_t       file = make_file("r.h5"), d = make_ints(file, "d", 4, 1);
    make_attr(d, "a", 1);
    RC(H5Oget_info_by_idx3(file, ".", H5_INDEX_NAME, H5_ITER_INC, 50, &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Oget_info_by_idx3(file, ".", (H5_index_t)9, H5_ITER_INC, 0, &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Oget_info_by_idx3(file, "", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5O_INFO_ALL, H5P_DEFAULT));
    RC(H5Aget_info_by_idx(d, ".", H5_INDEX_NAME, (H5_iter_order_t)9, 0, &attr, H5P_DEFAULT));
    RC(H5Aget_info_by_idx(d, ".", H5_INDEX_NAME, H5_ITER_INC, 9, &attr, H5P_DEFAULT));
    NUM(H5Aget_name_by_idx(d, ".", H5_INDEX_NAME, H5_ITER_INC, 9, name, sizeof name, H5P_DEFAULT));
    RC(H5Aget_info(d, &attr));
    RC(H5Aiterate2(d, H5_INDEX_NAME, H5_ITER_INC, &at, NULL, NULL));
    RC(H5Literate2(file, (H5_index_t)5, H5_ITER_INC, NULL, NULL, NULL));
    RC(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, NULL, NULL, H5O_INFO_ALL));
    RC(H5Fflush(file, (H5F_scope_t)7));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Closing: twice, in the wrong way, what belongs to the library. */
static void closing(void)
{
    hid_t file = make_file("c.h5"), g = make_group(file, "g"), type = keep(H5Tcopy(H5T_NATIVE_INT)), es = ID(H5EScreate());
    RC(H5Gclose(g));
    RC(H5Gclose(g));
    RC(H5Oclose(g));
    RC(H5Tclose(H5T_NATIVE_INT));
    RC(H5Sclose(file));
    RC(H5Pclose(H5P_DEFAULT));
    RC(H5Oclose(type));
    RC(H5ESclose(es));
    RC(H5ESclose(es));
    RC(H5Idec_ref(g));
    RC(H5Fclose(file));
    RC(H5Fclose(file));
    RC(H5Fflush(file, H5F_SCOPE_LOCAL));
}

/* Page buffering and paged allocation, where they are allowed. */
static void pages(void)
{
    size_t   size = 0;
    unsigned meta = 0, raw = 0, a[2] = {0}, b[2] = {0}, c[2] = {0}, e[2] = {0}, f[2] = {0};
    hid_t    fcpl = plist(H5P_FILE_CREATE), list = keep(H5Pcopy(fapl()));
    RC(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, false, 1));
    RC(H5Pset_file_space_page_size(fcpl, 4096));
    RC(H5Pset_page_buffer_size(list, 65536, 10, 10));
    hid_t file = ID(H5Fcreate("p.h5", H5F_ACC_TRUNC, fcpl, list));
    if (file >= 0) {
        hid_t d = make_ints(file, "d", 2000, 1);
        read_ints(d, "data");
        RC(H5Dclose(d));
        RC(H5Fget_page_buffering_stats(file, a, b, c, e, f));
        note("accesses counted %d", a[0] + a[1] > 0);
        RC(H5Freset_page_buffering_stats(file));
        hid_t stored = ID(H5Fget_access_plist(file));
        RC(H5Pget_page_buffer_size(stored, &size, &meta, &raw));
        note("buffer %zu, %u, %u", size, meta, raw);
        RC(H5Pclose(stored));
        RC(H5Fclose(file));
    }
    ID(H5Fcreate("q.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list));
}

CASES(errors_more, {"unsupported", unsupported, EVERYWHERE}, {"out_of_range", out_of_range, EVERYWHERE}, {"closing", closing, EVERYWHERE},
      {"pages", pages, BOTH_SERIAL | PARALLEL})
