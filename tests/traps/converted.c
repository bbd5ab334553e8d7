/* Conversion changes what the program names, and nothing beside it. */
#include "../cases/cases.h"

enum { EACH = 10 };

/* This rank's elements of a dataset, and memory for them. */
static hid_t own_part(hid_t d, hid_t *memory)
{
    hsize_t start = (hsize_t)(EACH * rank), count = EACH;
    hid_t   space = ID(H5Dget_space(d));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    *memory = ID(H5Screate_simple(1, &count, NULL));
    return space;
}

static hid_t make_elements(hid_t file, const char *name, hid_t type)
{
    hsize_t count = (hsize_t)(EACH * nranks);
    hid_t   space = ID(H5Screate_simple(1, &count, NULL)), d = ID(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    return d;
}

static hid_t pair(size_t size, hid_t a, size_t at)
{
    hid_t type = ID(H5Tcreate(H5T_COMPOUND, size));
    OK(H5Tinsert(type, "a", 0, a));
    OK(H5Tinsert(type, "b", at, H5T_NATIVE_INT));
    return type;
}

/* Records of the file have a gap between their members, in which there is something. `wide`: a member is converted; `deep`: the
 * record is a member of another one. */
static void gaps(bool wide, bool deep, hid_t dxpl)
{
    hid_t inner = pair(12, H5T_NATIVE_INT, 8), memory_inner = wide ? pair(12, H5T_NATIVE_LLONG, 8) : pair(8, H5T_NATIVE_INT, 4);
    hid_t type = inner, memory_type = memory_inner;
    if (deep) {
        OK(H5Tinsert(type = ID(H5Tcreate(H5T_COMPOUND, 12)), "r", 0, inner));
        OK(H5Tinsert(memory_type = ID(H5Tcreate(H5T_COMPOUND, H5Tget_size(memory_inner))), "r", 0, memory_inner));
    }
    hid_t file = make_file("f.h5"), d = make_elements(file, "d", type), memory, space = own_part(d, &memory);
    int   found[3 * EACH], values[3 * EACH];
    for (int i = 0; i < 3 * EACH; i++)
        found[i] = 0x11111111;
    OK(H5Dwrite(d, type, memory, space, dxpl, found));
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    for (int i = 0; i < EACH; i++) {
        int *record = values + (wide ? 3 : 2) * i;
        memset(record, 0, 8);
        record[0]            = i;
        record[wide ? 2 : 1] = 100 + i;
    }
    OK(H5Dwrite(d, memory_type, memory, space, dxpl, values));
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    OK(H5Dread(d, type, memory, space, dxpl, found));
    for (int i = 0; i < EACH; i++) {
        int *r = found + 3 * i;
        EXPECT(r[0] == i && r[1] == 0x11111111 && r[2] == 100 + i, "record %d is %x %x %x", i, r[0], r[1], r[2]);
    }
    if (deep) {
        H5Tclose(type);
        H5Tclose(memory_type);
    }
    H5Tclose(inner);
    H5Tclose(memory_inner);
    H5Sclose(space);
    H5Sclose(memory);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}

CASE(gaps_of_records_keep_their_bytes)
{
    for (int i = 0; i < 8; i++)
        gaps(i & 1, i & 2, i & 4 ? independent() : collective());
}

/* A conversion of the program's that keeps the lower half of what is in the file. */
static herr_t keep_lower(hid_t from, hid_t to, H5T_cdata_t *data, size_t count, size_t stride, size_t background_stride, void *buffer,
                         void *background, hid_t dxpl)
{
    (void)from, (void)to, (void)dxpl;
    if (data->command == H5T_CONV_INIT)
        data->need_bkg = H5T_BKG_YES;
    for (size_t i = 0; data->command == H5T_CONV_CONV && i < count; i++) {
        unsigned *value = (unsigned *)((char *)buffer + i * (stride ? stride : sizeof *value));
        unsigned *old   = (unsigned *)((char *)background + i * (background_stride ? background_stride : sizeof *old));
        *value          = *value << 16 | (*old & 0xffff);
    }
    return 0;
}

CASE(conversion_that_looks_at_the_file)
{
    hid_t halves = ID(H5Tcreate(H5T_OPAQUE, 4));
    OK(H5Tset_tag(halves, "halves"));
    hid_t    file = make_file("f.h5"), d = make_elements(file, "d", halves), memory, space = own_part(d, &memory);
    unsigned values[EACH];
    for (unsigned i = 0; i < EACH; i++)
        values[i] = 0x1111 * (i + 1);
    OK(H5Dwrite(d, halves, memory, space, collective(), values));
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    OK(H5Tregister(H5T_PERS_HARD, "lower", H5T_NATIVE_UINT, halves, keep_lower));
    for (unsigned i = 0; i < EACH; i++)
        values[i] = i;
    OK(H5Dwrite(d, H5T_NATIVE_UINT, memory, space, collective(), values));
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    OK(H5Dread(d, halves, memory, space, collective(), values));
    for (unsigned i = 0; i < EACH; i++)
        EXPECT(values[i] == (i << 16 | 0x1111 * (i + 1)), "element %u is %x", i, values[i]);
    OK(H5Tunregister(H5T_PERS_HARD, "lower", -1, -1, keep_lower));
    H5Tclose(halves);
    H5Sclose(space);
    H5Sclose(memory);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
}
