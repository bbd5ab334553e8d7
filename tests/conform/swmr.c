/* One writer, many readers: within one process, since a reader may only see what was flushed. */
#include "conform.h"

static hid_t make_growing(hid_t file)
{
    return ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1_up_to(0, H5S_UNLIMITED), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
}

static void append(hid_t d, hsize_t to)
{
    int     values[4] = {(int)to, (int)to + 1, (int)to + 2, (int)to + 3};
    hsize_t size      = to + 4;
    RC(H5Dset_extent(d, &size));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(4), part1(size, to, 4), H5P_DEFAULT, values));
    RC(H5Dflush(d));
}

static void started_later(void)
{
    unsigned intent = 0;
    hid_t    file = make_file("s.h5"), d = make_growing(file);
    append(d, 0);
    RC(H5Fstart_swmr_write(file));
    RC(H5Fget_intent(file, &intent));
    note("intent %u", intent);
    append(d, 4);
    hid_t reader = ID(H5Fopen("s.h5", H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl()));
    hid_t e      = ID(H5Dopen2(reader, "d", H5P_DEFAULT));
    read_ints(e, "the reader sees");
    append(d, 8);
    RC(H5Drefresh(e));
    read_ints(e, "after a refresh");
    ID(H5Gcreate2(reader, "refused", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fstart_swmr_write(file));
    RC(H5Dclose(e));
    RC(H5Fclose(reader));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void opened_so(void)
{
    hid_t file = make_file("o.h5"), d = make_growing(file);
    append(d, 0);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("o.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    append(d, 4);
    RC(H5Odisable_mdc_flushes(d));
    append(d, 8);
    RC(H5Oenable_mdc_flushes(d));
    read_ints(d, "the writer sees");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    H5F_retry_info_t retries;
    file = open_file("o.h5", H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
    RC(H5Fget_metadata_read_retry_info(file, &retries));
    note("bins %u", retries.nbins);
    for (int i = 0; i < H5F_NUM_METADATA_READ_RETRY_TYPES; i++)
        if (retries.retries[i])
            H5free_memory(retries.retries[i]);
    RC(H5Fclose(file));
}

static herr_t on_append(hid_t dataset, hsize_t *dims, void *data)
{
    char name[32] = "";
    int *calls    = data;
    NUM(H5Iget_name(dataset, name, sizeof name));
    note("append to %s, now %llu", name, (unsigned long long)dims[0]);
    ++*calls;
    return 0;
}

static herr_t on_flush(hid_t object, void *data)
{
    char name[32] = "";
    ++*(int *)data;
    NUM(H5Iget_name(object, name, sizeof name));
    note("flushed %s", name);
    return 0;
}

/* Callbacks of the library that get an object's identifier. */
static void told_about(void)
{
    int     appends = 0, flushes = 0;
    hsize_t four = 4;
    hid_t   list = keep(H5Pcopy(fapl())), dapl = plist(H5P_DATASET_ACCESS);
    RC(H5Pset_object_flush_cb(list, on_flush, &flushes));
    RC(H5Pset_append_flush(dapl, 1, &four, on_append, &appends));
    hid_t file = ID(H5Fcreate("a.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list)), d = make_growing(file);
    RC(H5Dclose(d));
    RC(H5Fstart_swmr_write(file));
    d = ID(H5Dopen2(file, "d", dapl));
    append(d, 0);
    RC(H5Oflush(d));
    hsize_t          boundary = 0;
    H5D_append_cb_t  function = NULL;
    void            *data     = NULL;
    hid_t            stored   = ID(H5Dget_access_plist(d));
    RC(H5Pget_append_flush(stored, 1, &boundary, &function, &data));
    note("every %llu, function kept %d, data kept %d", (unsigned long long)boundary, function == on_append, data == &appends);
    RC(H5Pclose(stored));
    note("%d appends, %d flushes", appends, flushes);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* A file of the old format cannot be written so. */
static void refused(void)
{
    hid_t file = make_file("r.h5"), d = make_growing(file);
    RC(H5Fstart_swmr_write(file));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    ID(H5Fopen("r.h5", H5F_ACC_RDONLY | H5F_ACC_SWMR_WRITE, fapl()));
    ID(H5Fopen("r.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_READ, fapl()));
    file = ID(H5Fopen("r.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, fapl()));
    if (file >= 0)
        RC(H5Fclose(file));
}

CASES(swmr, {"started_later", started_later, SERIAL_NEW}, {"opened_so", opened_so, SERIAL_NEW}, {"told_about", told_about, SERIAL_NEW},
      {"refused", refused, BOTH_SERIAL | PARALLEL})
