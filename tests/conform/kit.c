/* What almost every case needs: lists, spaces, small datasets, and how an object is shown. */
#include "frame.h"

enum { KEPT_MAX = 512, VALUES_MAX = 4096 };

static hid_t kept[KEPT_MAX];
static int   kept_count;
static hid_t the_fapl, the_collective, the_independent;

hid_t keep(hid_t id)
{
    if (id < 0)
        fail("the frame could not make a list, space or type");
    if (kept_count == KEPT_MAX)
        fail("a case keeps more than %d things", KEPT_MAX);
    return kept[kept_count++] = id;
}

void forget(void)
{
    kept_count = 0;
    the_fapl = the_collective = the_independent = 0;
}

void kit_end(void)
{
    while (kept_count > 0)
        H5Idec_ref(kept[--kept_count]);
    forget();
}

static void ok(herr_t code)
{
    if (code < 0)
        fail("the frame could not set a property or a selection");
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

hid_t plist(hid_t class_id) { return keep(H5Pcreate(class_id)); }

hid_t fapl(void)
{
    if (the_fapl)
        return the_fapl;
    the_fapl = plist(H5P_FILE_ACCESS);
    if (parallel())
        ok(H5Pset_fapl_mpio(the_fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
    if (newest())
        ok(H5Pset_libver_bounds(the_fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    return the_fapl;
}

static hid_t transfer(H5FD_mpio_xfer_t mode)
{
    if (!parallel())
        return H5P_DEFAULT;
    hid_t dxpl = plist(H5P_DATASET_XFER);
    ok(H5Pset_dxpl_mpio(dxpl, mode));
    return dxpl;
}

hid_t collective(void) { return the_collective ? the_collective : (the_collective = transfer(H5FD_MPIO_COLLECTIVE)); }
hid_t independent(void) { return the_independent ? the_independent : (the_independent = transfer(H5FD_MPIO_INDEPENDENT)); }

static hid_t chunked(int ndims, const hsize_t *dims)
{
    hid_t dcpl = plist(H5P_DATASET_CREATE);
    ok(H5Pset_chunk(dcpl, ndims, dims));
    return dcpl;
}

hid_t chunked1(hsize_t chunk) { return chunked(1, &chunk); }
hid_t chunked2(hsize_t rows, hsize_t cols) { return chunked(2, (hsize_t[]){rows, cols}); }

/* --- spaces and types --------------------------------------------------------------------------------------------- */

hid_t space1(hsize_t length) { return keep(H5Screate_simple(1, &length, NULL)); }
hid_t space1_up_to(hsize_t length, hsize_t max) { return keep(H5Screate_simple(1, &length, &max)); }
hid_t space2(hsize_t rows, hsize_t cols) { return keep(H5Screate_simple(2, (hsize_t[]){rows, cols}, NULL)); }
hid_t scalar(void) { return keep(H5Screate(H5S_SCALAR)); }

hid_t part1(hsize_t length, hsize_t start, hsize_t count)
{
    hid_t space = space1(length);
    ok(count ? H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) : H5Sselect_none(space));
    return space;
}

hid_t my_rows(hsize_t rows_per_rank, hsize_t cols)
{
    hid_t   space   = space2(rows_per_rank * (hsize_t)nranks, cols);
    hsize_t start[] = {rows_per_rank * (hsize_t)rank, 0}, count[] = {rows_per_rank, cols};
    ok(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    return space;
}

hid_t text_type(size_t size)
{
    hid_t type = keep(H5Tcopy(H5T_C_S1));
    ok(H5Tset_size(type, size));
    return type;
}

/* --- files and what is in them ------------------------------------------------------------------------------------ */

hid_t make_file(const char *name) { return ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl())); }
hid_t open_file(const char *name, unsigned flags) { return ID(H5Fopen(name, flags, fapl())); }
hid_t make_group(hid_t where, const char *name)
{
    note("group %s", name);
    return ID(H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

hid_t make_ints(hid_t where, const char *name, hsize_t count, int first)
{
    int values[VALUES_MAX];
    if (count > VALUES_MAX)
        fail("make_ints is for small datasets");
    for (hsize_t i = 0; i < count; i++)
        values[i] = first + (int)i;
    note("dataset %s", name);
    hid_t dataset = ID(H5Dcreate2(where, name, H5T_NATIVE_INT, space1(count), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    return dataset;
}

void make_type(hid_t where, const char *name, hid_t like)
{
    hid_t type = H5Tcopy(like);
    note("type %s", name);
    RC(H5Tcommit2(where, name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tclose(type));
}

void make_attr(hid_t object, const char *name, int value)
{
    note("attribute %s", name);
    hid_t attr = ID(H5Acreate2(object, name, H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(attr, H5T_NATIVE_INT, &value));
    RC(H5Aclose(attr));
}

void read_ints(hid_t dataset, const char *label)
{
    int   values[VALUES_MAX];
    hid_t space = H5Dget_space(dataset);
    long  count = space < 0 ? 0 : (long)H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    memset(values, 0x5a, sizeof values);
    if (count > VALUES_MAX)
        fail("read_ints is for small datasets");
    RC(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    show_ints(label, values, (size_t)count);
}

bool solo_begin(void) { return rank == 0; }
void solo_end(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* --- how things are shown ----------------------------------------------------------------------------------------- */

void show_dims(const char *label, const hsize_t *dims, int count)
{
    char   text[512] = "";
    size_t at        = 0;
    for (int i = 0; i < count && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, dims[i] == H5S_UNLIMITED ? " inf" : " %llu",
                               (unsigned long long)dims[i]);
    note("%s:%s", label, text);
}

void show_space(const char *label, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK], max[H5S_MAX_RANK], low[H5S_MAX_RANK], high[H5S_MAX_RANK];
    int     n = H5Sget_simple_extent_dims(space, dims, max);
    note("%s: class %d, %d dimensions, selection %d of %lld points", label, H5Sget_simple_extent_type(space), n,
         H5Sget_select_type(space), (long long)H5Sget_select_npoints(space));
    if (n <= 0)
        return;
    show_dims("  extent", dims, n);
    show_dims("  maximum", max, n);
    if (H5Sget_select_npoints(space) > 0 && H5Sget_select_bounds(space, low, high) >= 0) {
        show_dims("  from", low, n);
        show_dims("  to", high, n);
    }
}

void show_object(const char *label, hid_t object)
{
    H5O_info2_t info;
    char       *token = NULL;
    memset(&info, 0, sizeof info);
    note("%s:", label);
    if (RC(H5Oget_info3(object, &info, H5O_INFO_ALL)) < 0)
        return;
    RC(H5Otoken_to_str(object, &info.token, &token));
    note("  type %d, links %u, attributes %llu, token %s", info.type, info.rc, (unsigned long long)info.num_attrs,
         token ? token : "none");
    note("  times %ld %ld %ld %ld", (long)info.atime, (long)info.mtime, (long)info.ctime, (long)info.btime);
    H5free_memory(token);
}

static void show_members(hid_t type)
{
    int count = H5Tget_nmembers(type);
    for (int i = 0; i < count; i++) {
        char *name = H5Tget_member_name(type, (unsigned)i);
        if (H5Tget_class(type) == H5T_COMPOUND) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            note("  member %s at %zu", name, H5Tget_member_offset(type, (unsigned)i));
            show_type("  its type", member);
            H5Tclose(member);
        }
        else {
            long long value = 0;
            H5Tget_member_value(type, (unsigned)i, &value);
            show_text("  value", name);
            show_bytes("  is", &value, H5Tget_size(type));
        }
        H5free_memory(name);
    }
}

void show_type(const char *label, hid_t type)
{
    if (type < 0) {
        note("%s: none", label);
        return;
    }
    H5T_class_t cls = H5Tget_class(type);
    note("%s: class %d, %zu bytes, order %d, committed %d, variable text %d", label, cls, H5Tget_size(type),
         H5Tget_order(type), H5Tcommitted(type), H5Tis_variable_str(type));
    if (cls == H5T_COMPOUND || cls == H5T_ENUM)
        show_members(type);
    if (cls == H5T_VLEN || cls == H5T_ARRAY || cls == H5T_ENUM) {
        hid_t super = H5Tget_super(type);
        show_type("  of", super);
        H5Tclose(super);
    }
    if (cls == H5T_ARRAY) {
        hsize_t dims[H5S_MAX_RANK];
        int     n = H5Tget_array_dims2(type, dims);
        show_dims("  array", dims, n);
    }
    H5Eclear2(H5E_DEFAULT);
}
