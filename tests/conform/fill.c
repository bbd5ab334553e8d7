/* Fill values: every allocation time with every fill time and every kind of value, for each layout. */
#include "conform.h"

static const H5D_alloc_time_t alloc_times[] = {H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE,
                                               H5D_ALLOC_TIME_INCR};
static const H5D_fill_time_t  fill_times[]  = {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_NEVER, H5D_FILL_TIME_IFSET};

enum value { UNSET, UNDEFINED, CHOSEN, VALUES };

static void set_value(hid_t dcpl, enum value value)
{
    int nine = 9999;
    if (value == UNDEFINED)
        RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, NULL));
    if (value == CHOSEN)
        RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &nine));
}

/* One dataset of one combination; some elements written, all of them read where they are defined. */
static void one(hid_t file, const char *name, hid_t dcpl, bool defined)
{
    int                values[3] = {1, 2, 3}, when = 0, what = 0, how = 0, fill = -7;
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    note("%s", name);
    hid_t d = ID(H5Dcreate2(file, name, H5T_STD_I32LE, space1(48), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    if (d < 0)
        return;
    RC(H5Dget_space_status(d, &status));
    note("allocated %d, %llu bytes", status, (unsigned long long)H5Dget_storage_size(d));
    if (defined)
        read_ints(d, "before");
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(3), part1(48, 20, 3), collective(), values));
    RC(H5Dget_space_status(d, &status));
    note("allocated %d, %llu bytes", status, (unsigned long long)H5Dget_storage_size(d));
    if (defined)
        read_ints(d, "after");
    hid_t stored = ID(H5Dget_create_plist(d));
    RC(H5Pget_alloc_time(stored, (H5D_alloc_time_t *)&when));
    RC(H5Pget_fill_time(stored, (H5D_fill_time_t *)&how));
    RC(H5Pfill_value_defined(stored, (H5D_fill_value_t *)&what));
    RC(H5Pget_fill_value(stored, H5T_NATIVE_INT, &fill));
    note("alloc %d, fill %d, defined %d, value %d", when, how, what, fill);
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
}

static void combinations(H5D_layout_t layout)
{
    hid_t file = make_file("f.h5");
    for (size_t a = 0; a < COUNT(alloc_times); a++)
        for (size_t f = 0; f < COUNT(fill_times); f++)
            for (int v = 0; v < VALUES; v++) {
                char  name[32];
                hid_t dcpl = layout == H5D_CHUNKED ? chunked1(10) : plist(H5P_DATASET_CREATE);
                snprintf(name, sizeof name, "a%zu_f%zu_v%d", a, f, v);
                RC(H5Pset_layout(dcpl, layout));
                RC(H5Pset_alloc_time(dcpl, alloc_times[a]));
                RC(H5Pset_fill_time(dcpl, fill_times[f]));
                set_value(dcpl, v);
                bool never = fill_times[f] == H5D_FILL_TIME_NEVER || v == UNDEFINED ||
                             (fill_times[f] == H5D_FILL_TIME_IFSET && v == UNSET);
                one(file, name, dcpl, !never);
            }
    RC(H5Fclose(file));
}

static void contiguous(void) { combinations(H5D_CONTIGUOUS); }
static void chunked(void) { combinations(H5D_CHUNKED); }
static void compact(void) { combinations(H5D_COMPACT); }

static void compound_value(void)
{
    struct pair {
        int    a;
        double b;
    } value = {5, -2.5}, back[6], one_pair = {1, 1.5};
    hid_t type = keep(H5Tcreate(H5T_COMPOUND, sizeof value)), dcpl = chunked1(2), file = make_file("c.h5");
    RC(H5Tinsert(type, "a", HOFFSET(struct pair, a), H5T_NATIVE_INT));
    RC(H5Tinsert(type, "b", HOFFSET(struct pair, b), H5T_NATIVE_DOUBLE));
    memset((char *)&value + sizeof(int), 0, 4);
    memset((char *)&one_pair + sizeof(int), 0, 4);
    RC(H5Pset_fill_value(dcpl, type, &value));
    hid_t d = ID(H5Dcreate2(file, "d", type, space1(6), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, type, space1(1), part1(6, 3, 1), collective(), &one_pair));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, collective(), back));
    for (int i = 0; i < 6; i++)
        note("%d: %d %g", i, back[i].a, back[i].b);
    hid_t stored = ID(H5Dget_create_plist(d));
    memset(&value, 0, sizeof value);
    RC(H5Pget_fill_value(stored, type, &value));
    note("value %d %g", value.a, value.b);
    RC(H5Pclose(stored));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Variable-length fill values are written to the global heap once per element. */
static void text_value(void)
{
    const char *filler = "none", *word = "word";
    char       *back[5] = {0};
    hid_t       type = text_type(H5T_VARIABLE), dcpl = chunked1(2), file = make_file("t.h5");
    RC(H5Pset_fill_value(dcpl, type, &filler));
    hid_t d = ID(H5Dcreate2(file, "d", type, space1(5), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, type, space1(1), part1(5, 1, 1), H5P_DEFAULT, &word));
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    for (int i = 0; i < 5; i++)
        show_text("text", back[i]);
    RC(H5Treclaim(type, space1(5), H5P_DEFAULT, back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void wrong_type(void)
{
    double value = 1.5;
    hid_t  file = make_file("w.h5"), dcpl = chunked1(4), opaque = keep(H5Tcreate(H5T_OPAQUE, 4));
    RC(H5Tset_tag(opaque, "raw"));
    RC(H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &value));
    hid_t d = ID(H5Dcreate2(file, "converted", H5T_NATIVE_INT, space1(8), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    read_ints(d, "filled with 1.5");
    RC(H5Dclose(d));
    ID(H5Dcreate2(file, "impossible", opaque, space1(8), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Fclose(file));
}

CASES(fill, {"contiguous", contiguous, EVERYWHERE, 1, 2}, {"chunked", chunked, EVERYWHERE, 1, 2},
      {"compact", compact, EVERYWHERE, 1, 2}, {"compound_value", compound_value, EVERYWHERE},
      {"text_value", text_value, BOTH_SERIAL}, {"wrong_type", wrong_type, EVERYWHERE})
