/* Filtered datasets: each filter serially and collectively, pipelines, optional filters, a filter of the program's own. */
#include "conform.h"

enum { N = 600 };

static int value_at(int i) { return (i * 37) % 200 + (i / 100); }

/* Writes N values per rank with this creation list, reads them back, and shows the pipeline as it was stored. */
static void round_trip(hid_t file, const char *name, hid_t dcpl, hid_t file_type)
{
    int   values[N], back[N];
    hid_t space = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N);
    note("%s", name);
    for (int i = 0; i < N; i++)
        values[i] = value_at(rank * N + i);
    hid_t d = ID(H5Dcreate2(file, name, file_type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(N), space, collective(), values));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, H5T_NATIVE_INT, space1(N), space, collective(), back));
    show_ints("values", back, N);
    NUM(H5Dget_storage_size(d));
    hid_t stored = ID(H5Dget_create_plist(d));
    int   count  = RC(H5Pget_nfilters(stored));
    for (int f = 0; f < count; f++) {
        unsigned     flags = 0, config = 0, cd[20];
        size_t       ncd = COUNT(cd);
        char         text[64] = "";
        H5Z_filter_t id       = H5Pget_filter2(stored, (unsigned)f, &flags, &ncd, cd, sizeof text, text, &config);
        note("filter %d %s, flags %u, config %u, %zu values", id, text, flags, config, ncd);
        show_ints("  its values", (int *)cd, ncd);
    }
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
}

static void each_filter(void)
{
    hid_t file = make_file("f.h5"), narrow = keep(H5Tcopy(H5T_NATIVE_INT)), dcpl;

    dcpl = chunked1(100);
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        RC(H5Pset_deflate(dcpl, 6));
        round_trip(file, "deflate", dcpl, H5T_NATIVE_INT);
    }
    dcpl = chunked1(100);
    RC(H5Pset_shuffle(dcpl));
    round_trip(file, "shuffle", dcpl, H5T_NATIVE_INT);
    dcpl = chunked1(100);
    RC(H5Pset_fletcher32(dcpl));
    round_trip(file, "fletcher32", dcpl, H5T_NATIVE_INT);
    dcpl = chunked1(100);
    RC(H5Tset_precision(narrow, 11));
    RC(H5Tset_offset(narrow, 2));
    RC(H5Pset_nbit(dcpl));
    round_trip(file, "nbit", dcpl, narrow);
    dcpl = chunked1(100);
    RC(H5Pset_scaleoffset(dcpl, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT));
    round_trip(file, "scaleoffset", dcpl, H5T_STD_I32BE);
    RC(H5Fclose(file));
}

static void pipeline(void)
{
    hid_t file = make_file("p.h5"), three = chunked1(128), two = chunked1(128);
    RC(H5Pset_shuffle(three));
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        RC(H5Pset_deflate(three, 9));
    RC(H5Pset_fletcher32(three));
    round_trip(file, "three", three, H5T_NATIVE_INT);
    RC(H5Pset_fletcher32(two));
    RC(H5Pset_shuffle(two));
    round_trip(file, "two", two, H5T_STD_I16BE);
    RC(H5Fclose(file));
}

/* An optional filter that cannot apply is left out; a mandatory one that is unknown fails. */
static void unavailable(void)
{
    unsigned cd[] = {1, 2, 3};
    hid_t    file = make_file("u.h5"), dcpl = chunked1(128), must = chunked1(128);
    RC(H5Pset_filter(dcpl, 299, H5Z_FLAG_OPTIONAL, 3, cd));
    round_trip(file, "optional", dcpl, H5T_NATIVE_INT);
    RC(H5Pset_filter(must, 299, H5Z_FLAG_MANDATORY, 3, cd));
    ID(H5Dcreate2(file, "mandatory", H5T_NATIVE_INT, space1(N), H5P_DEFAULT, must, H5P_DEFAULT));
    RC(H5Lexists(file, "mandatory", H5P_DEFAULT));
    RC(H5Fclose(file));
}

/* --- a filter of the program's own: it sees list, type and space, inverts every byte, and can be told to fail ------ */

enum { INVERT = 300 };
static bool invert_fails;

static htri_t invert_can(hid_t dcpl, hid_t type, hid_t space)
{
    note("can apply? list %d, type of %zu bytes, %d dimensions", H5Pget_nfilters(dcpl), H5Tget_size(type),
         H5Sget_simple_extent_ndims(space));
    return 1;
}

static herr_t invert_set(hid_t dcpl, hid_t type, hid_t space)
{
    unsigned cd = (unsigned)H5Tget_size(type);
    (void)space;
    return H5Pmodify_filter(dcpl, INVERT, H5Z_FLAG_OPTIONAL, 1, &cd);
}

static size_t invert(unsigned flags, size_t ncd, const unsigned *cd, size_t bytes, size_t *size, void **buf)
{
    (void)flags, (void)ncd, (void)cd, (void)size;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)*buf)[i] ^= 0xff;
    return invert_fails ? 0 : bytes;
}

static const H5Z_class2_t invert_class = {H5Z_CLASS_T_VERS, INVERT, 1, 1, "invert", invert_can, invert_set, invert};

static H5Z_cb_return_t on_failure(H5Z_filter_t filter, void *buf, size_t bytes, void *client)
{
    (void)buf;
    note("filter %d failed on %zu bytes", filter, bytes);
    return *(H5Z_cb_return_t *)client;
}

static void own_filter(void)
{
    int             back[N];
    hid_t           file = make_file("o.h5"), dcpl = chunked1(64), dxpl = plist(H5P_DATASET_XFER);
    H5Z_cb_return_t go_on = H5Z_CB_CONT, stop = H5Z_CB_FAIL;
    RC(H5Zregister(&invert_class));
    RC(H5Pset_filter(dcpl, INVERT, H5Z_FLAG_OPTIONAL, 0, NULL));
    round_trip(file, "inverted", dcpl, H5T_NATIVE_INT);
    RC(H5Fclose(file));
    if (!parallel()) {
        file         = open_file("o.h5", H5F_ACC_RDONLY);
        hid_t d      = ID(H5Dopen2(file, "inverted", H5P_DEFAULT));
        invert_fails = true;
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
        RC(H5Pset_filter_callback(dxpl, on_failure, &go_on));
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, back));
        RC(H5Pset_filter_callback(dxpl, on_failure, &stop));
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, back));
        invert_fails = false;
        RC(H5Dclose(d));
        RC(H5Fclose(file));
    }
    RC(H5Zunregister(INVERT));
    file    = open_file("o.h5", H5F_ACC_RDONLY);
    hid_t d = ID(H5Dopen2(file, "inverted", H5P_DEFAULT));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Ragged edge chunks may be left unfiltered; the option must survive. */
static void edge_chunks(void)
{
    int      values[14 * 14], back[14 * 14];
    unsigned options = 99;
    hid_t    file = make_file("e.h5"), dcpl = chunked2(5, 5);
    RC(H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pset_fletcher32(dcpl));
    for (int i = 0; i < 14 * 14; i++)
        values[i] = i * i;
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(14, 14), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    show_ints("values", back, COUNT(back));
    hid_t stored = ID(H5Dget_create_plist(d));
    RC(H5Pget_chunk_opts(stored, &options));
    note("options %u", options);
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Filtered data written independently by several ranks is refused by the library. */
static void independent_refused(void)
{
    int   values[N] = {0};
    hid_t file = make_file("i.h5"), dcpl = chunked1(100);
    RC(H5Pset_shuffle(dcpl));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(N), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), values));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(filtered, {"each", each_filter, EVERYWHERE}, {"pipeline", pipeline, EVERYWHERE}, {"unavailable", unavailable, EVERYWHERE},
      {"own", own_filter, EVERYWHERE}, {"edge_chunks", edge_chunks, BOTH_SERIAL},
      {"independent_refused", independent_refused, BOTH_PARALLEL, 2, 4})
