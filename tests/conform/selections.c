/* Selections of every kind in file and memory: points, unions, differences, blocks, none, all, on the transfer list. */
#include "conform.h"

enum { ROWS = 8, COLS = 12 };

static hid_t file;

static hid_t base(const char *name, hid_t dcpl)
{
    int values[ROWS * COLS];
    file = make_file(name);
    hid_t d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(ROWS, COLS), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    return d;
}

static void end(hid_t d)
{
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Reads with this file selection, then writes the negated values back. All ranks do the same. */
static void with(hid_t d, const char *label, hid_t selection)
{
    int       values[ROWS * COLS] = {0};
    hsize_t   count = (hsize_t)H5Sget_select_npoints(selection);
    hid_t     memory = space1(count ? count : 1);
    if (!count)
        RC(H5Sselect_none(memory));
    show_space(label, selection);
    RC(H5Dread(d, H5T_NATIVE_INT, memory, selection, collective(), values));
    show_ints("read", values, (size_t)count);
    for (hsize_t i = 0; i < count; i++)
        values[i] = -values[i];
    RC(H5Dwrite(d, H5T_NATIVE_INT, memory, selection, collective(), values));
}

static void kinds(hid_t dcpl)
{
    hid_t   d = base("k.h5", dcpl), s;
    hsize_t points[] = {0, 0, 7, 11, 3, 5, 3, 4, 0, 1}, start[] = {1, 1}, stride[] = {3, 4}, count[] = {2, 3}, block[] = {2, 2};
    hsize_t other[] = {2, 0}, wide[] = {1, COLS}, corner[] = {5, 8}, size[] = {3, 4};
    s = space2(ROWS, COLS);
    RC(H5Sselect_elements(s, H5S_SELECT_SET, 5, points));
    with(d, "points", s);
    RC(H5Sselect_elements(s, H5S_SELECT_APPEND, 1, corner));
    with(d, "one more point", s);
    s = space2(ROWS, COLS);
    RC(H5Sselect_hyperslab(s, H5S_SELECT_SET, start, stride, count, block));
    with(d, "strided blocks", s);
    RC(H5Sselect_hyperslab(s, H5S_SELECT_OR, other, NULL, wide, NULL));
    with(d, "union", s);
    RC(H5Sselect_hyperslab(s, H5S_SELECT_XOR, corner, NULL, size, NULL));
    with(d, "exclusive or", s);
    RC(H5Sselect_hyperslab(s, H5S_SELECT_NOTB, other, NULL, size, NULL));
    with(d, "without", s);
    hid_t copy = keep(H5Scopy(s)), rest = space2(ROWS, COLS);
    RC(H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, start, stride, count, block));
    RC(H5Smodify_select(copy, H5S_SELECT_AND, rest));
    with(d, "both", copy);
    RC(H5Sselect_none(s));
    with(d, "nothing", s);
    RC(H5Sselect_all(s));
    with(d, "everything", s);
    end(d);
}

static void kinds_contiguous(void) { kinds(H5P_DEFAULT); }
static void kinds_chunked(void) { kinds(chunked2(3, 5)); }

/* Memory selections: all, a block of the buffer, a hyperslab of another shape. */
static void in_memory(void)
{
    int     buf[ROWS * COLS];
    hsize_t start[] = {2, 3}, size[] = {2, 5};
    hid_t   d = base("m.h5", H5P_DEFAULT), part = space2(ROWS, COLS), memory = space2(ROWS, COLS);
    RC(H5Sselect_hyperslab(part, H5S_SELECT_SET, start, NULL, size, NULL));
    memset(buf, 0xff, sizeof buf);
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, part, collective(), buf));
    show_ints("memory like the file", buf, COUNT(buf));
    memset(buf, 0xff, sizeof buf);
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_BLOCK, part, collective(), buf));
    show_ints("a block", buf, 12);
    memset(buf, 0xff, sizeof buf);
    RC(H5Sselect_hyperslab(memory, H5S_SELECT_SET, size, NULL, start, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, memory, part, collective(), buf));
    hsize_t six[] = {2, 3};
    RC(H5Sselect_hyperslab(part, H5S_SELECT_SET, start, NULL, six, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, memory, part, collective(), buf));
    show_ints("another place", buf, COUNT(buf));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_BLOCK, H5S_ALL, collective(), buf));
    show_ints("block of all", buf, COUNT(buf));
    end(d);
}

static void on_the_list(void)
{
    int     buf[20] = {0};
    hsize_t start[] = {1, 2}, size[] = {3, 4};
    hid_t   d = base("l.h5", chunked2(4, 4)), dxpl = parallel() ? keep(H5Pcopy(collective())) : plist(H5P_DATASET_XFER);
    RC(H5Pset_dataset_io_hyperslab_selection(dxpl, 2, H5S_SELECT_SET, start, NULL, size, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_BLOCK, H5S_PLIST, dxpl, buf));
    show_ints("by the list", buf, 12);
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_BLOCK, H5S_PLIST, dxpl, buf));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_PLIST, H5S_ALL, dxpl, buf));
    end(d);
}

/* Some ranks have nothing to do in a collective call. */
static void idle_ranks(void)
{
    int   values[10], back[10] = {0}, unwritten = -1;
    hid_t all = space1(10 * (hsize_t)nranks);
    file = make_file("i.h5");
    hid_t lists[] = {plist(H5P_DATASET_CREATE), chunked1(7)};
    for (size_t l = 0; l < COUNT(lists); l++) {
        RC(H5Pset_fill_value(lists[l], H5T_NATIVE_INT, &unwritten));
        hid_t d = ID(H5Dcreate2(file, l ? "chunked" : "contiguous", H5T_NATIVE_INT, all, H5P_DEFAULT, lists[l], H5P_DEFAULT));
        hid_t mine = part1(10 * (hsize_t)nranks, 10 * (hsize_t)rank, rank % 2 ? 0 : 10), from = part1(10, 0, rank % 2 ? 0 : 10);
        for (int i = 0; i < 10; i++)
            values[i] = rank * 100 + i;
        RC(H5Dwrite(d, H5T_NATIVE_INT, from, mine, collective(), rank % 2 ? NULL : values));
        RC(H5Dread(d, H5T_NATIVE_INT, from, mine, collective(), rank % 2 ? NULL : back));
        show_ints("mine", back, 10);
        RC(H5Dwrite(d, H5T_NATIVE_INT, part1(10, 0, 0), part1(10 * (hsize_t)nranks, 0, 0), collective(), NULL));
        read_ints(d, "everybody's");
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

/* A different memory rank than file rank, many dimensions. */
static void dimensions(void)
{
    hsize_t dims[] = {2, 3, 2, 2, 3}, start[] = {1, 0, 0, 1, 0}, count[] = {1, 3, 2, 1, 2}, chunk[] = {1, 2, 2, 1, 2};
    int     values[72], back[12] = {0};
    hid_t   space = keep(H5Screate_simple(5, dims, NULL)), dcpl = plist(H5P_DATASET_CREATE);
    for (int i = 0; i < 72; i++)
        values[i] = i * 2;
    file = make_file("n.h5");
    RC(H5Pset_chunk(dcpl, 5, chunk));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(12), space, collective(), back));
    show_ints("part", back, 12);
    RC(H5Dread(d, H5T_NATIVE_INT, space2(3, 4), space, independent(), back));
    show_ints("part", back, 12);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void out_of_bounds(void)
{
    int     buf[ROWS * COLS] = {0};
    hsize_t start[] = {6, 6}, size[] = {4, 2}, point[] = {8, 0}, ok[] = {2, 2};
    hid_t   d = base("b.h5", H5P_DEFAULT), larger = space2(ROWS + 4, COLS), same = space2(ROWS, COLS);
    RC(H5Sselect_hyperslab(larger, H5S_SELECT_SET, start, NULL, size, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(8), larger, collective(), buf));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(8), larger, collective(), buf));
    RC(H5Sselect_hyperslab(same, H5S_SELECT_SET, start, NULL, size, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(8), same, collective(), buf));
    RC(H5Sselect_elements(same, H5S_SELECT_SET, 1, point));
    RC(H5Sselect_hyperslab(same, H5S_SELECT_SET, start, NULL, ok, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(5), same, collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(4), space1(4), collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(4), keep(H5Screate(H5S_NULL)), collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, keep(H5Screate(H5S_NULL)), same, collective(), buf));
    RC(H5Dread(d, H5T_NATIVE_INT, same, same, collective(), NULL));
    end(d);
}

CASES(selections, {"kinds_contiguous", kinds_contiguous, EVERYWHERE}, {"kinds_chunked", kinds_chunked, EVERYWHERE},
      {"in_memory", in_memory, EVERYWHERE}, {"on_the_list", on_the_list, EVERYWHERE}, {"idle_ranks", idle_ranks, EVERYWHERE},
      {"dimensions", dimensions, EVERYWHERE}, {"out_of_bounds", out_of_bounds, EVERYWHERE})
