/* Contiguous datasets: every rank writes its rows, reads its own and another's. */
#include "conform.h"

enum { ROWS = 6, COLS = 10 };

static void fill_rows(int *values, int seed)
{
    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = seed + rank * 1000 + i;
}

static void write_and_read(hid_t dxpl, const char *name)
{
    int   mine[ROWS * COLS], back[ROWS * COLS];
    hid_t file = make_file(name), rows = my_rows(ROWS, COLS), memory = space2(ROWS, COLS);
    hid_t d = ID(H5Dcreate2(file, "rows", H5T_STD_I32LE, rows, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    fill_rows(mine, 7);
    RC(H5Dwrite(d, H5T_NATIVE_INT, memory, rows, dxpl, mine));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, H5T_NATIVE_INT, memory, rows, dxpl, back));
    show_ints("own rows", back, COUNT(back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));

    file          = open_file(name, H5F_ACC_RDONLY);
    d             = ID(H5Dopen2(file, "rows", H5P_DEFAULT));
    hid_t   space = keep(H5Dget_space(d));
    hsize_t start[] = {(hsize_t)((rank + 1) % nranks) * ROWS, 0}, count[] = {ROWS, COLS};
    show_space("space", space);
    RC(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    RC(H5Dread(d, H5T_NATIVE_INT, memory, space, dxpl, back));
    show_ints("the next rank's rows", back, COUNT(back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void collectively(void) { write_and_read(collective(), "c.h5"); }
static void independently(void) { write_and_read(independent(), "i.h5"); }

static void strided(void)
{
    int     values[64], back[64];
    hid_t   file = make_file("s.h5"), all = space1(64 * (hsize_t)nranks), memory = space1(64);
    hid_t   d       = ID(H5Dcreate2(file, "cyclic", H5T_NATIVE_INT, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hsize_t start   = (hsize_t)rank * 2, stride = 2 * (hsize_t)nranks, count = 32, block = 2;
    for (int i = 0; i < 64; i++)
        values[i] = rank * 100 + i;
    RC(H5Sselect_hyperslab(all, H5S_SELECT_SET, &start, &stride, &count, &block));
    RC(H5Dwrite(d, H5T_NATIVE_INT, memory, all, collective(), values));
    RC(H5Dread(d, H5T_NATIVE_INT, memory, all, collective(), back));
    show_ints("mine", back, 64);
    for (int i = 0; i < 64; i++)
        values[i] = -values[i];
    RC(H5Dwrite(d, H5T_NATIVE_INT, memory, all, independent(), values));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
    read_ints(d, "everybody's");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Memory and file selections of different shape but equal count. */
static void scattered_memory(void)
{
    int     values[40], back[40];
    hid_t   file = make_file("m.h5"), all = part1(20 * (hsize_t)nranks, 20 * (hsize_t)rank, 20), memory = space1(40);
    hid_t   d     = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hsize_t start = 1, stride = 2, count = 20;
    for (int i = 0; i < 40; i++)
        values[i] = rank * 100 + i, back[i] = -1;
    RC(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &start, &stride, &count, NULL));
    RC(H5Dwrite(d, H5T_NATIVE_INT, memory, all, collective(), values));
    RC(H5Dread(d, H5T_NATIVE_INT, memory, all, independent(), back));
    show_ints("every second", back, 40);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void empty_spaces(void)
{
    int   value = 42;
    hid_t file = make_file("e.h5"), null = keep(H5Screate(H5S_NULL));
    hid_t s = ID(H5Dcreate2(file, "scalar", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t n = ID(H5Dcreate2(file, "null", H5T_NATIVE_INT, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t z = ID(H5Dcreate2(file, "zero", H5T_NATIVE_INT, space1(0), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t sets[] = {s, n, z};
    RC(H5Dwrite(s, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value));
    RC(H5Dwrite(n, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value));
    RC(H5Dwrite(z, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value));
    for (size_t i = 0; i < COUNT(sets); i++) {
        hid_t space = keep(H5Dget_space(sets[i]));
        value       = -5;
        show_space("space", space);
        NUM(H5Dget_storage_size(sets[i]));
        RC(H5Dread(sets[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value));
        show_ints("value", &value, 1);
        RC(H5Dclose(sets[i]));
    }
    RC(H5Fclose(file));
}

static void every_atomic_type(void)
{
    struct {
        const char *name;
        hid_t       type;
    } types[] = {{"i8", H5T_NATIVE_INT8},   {"u8", H5T_NATIVE_UINT8},   {"i16", H5T_STD_I16BE},
                 {"u16", H5T_STD_U16LE},    {"i32", H5T_STD_I32BE},     {"u32", H5T_STD_U32LE},
                 {"i64", H5T_STD_I64BE},    {"u64", H5T_NATIVE_UINT64}, {"f32", H5T_IEEE_F32LE},
                 {"f64", H5T_IEEE_F64BE},   {"ld", H5T_NATIVE_LDOUBLE}, {"b32", H5T_STD_B32LE},
                 {"hbool", H5T_NATIVE_HBOOL}, {"char", H5T_NATIVE_CHAR}};
    unsigned char data[16 * 16], back[16 * 16];
    hid_t         file = make_file("t.h5");
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 % 100);
    for (size_t i = 0; i < COUNT(types); i++) {
        note("%s", types[i].name);
        hid_t d = ID(H5Dcreate2(file, types[i].name, types[i].type, space1(16), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        hid_t type = ID(H5Dget_type(d));
        show_type("stored as", type);
        memset(back, 0, sizeof back);
        RC(H5Dwrite(d, types[i].type, H5S_ALL, H5S_ALL, collective(), data));
        RC(H5Dread(d, type, H5S_ALL, H5S_ALL, collective(), back));
        show_bytes("bytes", back, 16 * H5Tget_size(type));
        RC(H5Tclose(type));
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

/* Larger than any buffer on the way, and of a size that is no power of two. */
static void large(void)
{
    enum { N = 700001 };
    double *values = malloc(N * sizeof *values), *back = calloc(N, sizeof *back);
    hid_t   file = make_file("l.h5"), all = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N);
    hid_t   d = ID(H5Dcreate2(file, "big", H5T_NATIVE_DOUBLE, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < N; i++)
        values[i] = rank + i * 0.5;
    RC(H5Dwrite(d, H5T_NATIVE_DOUBLE, space1(N), all, collective(), values));
    RC(H5Dread(d, H5T_NATIVE_DOUBLE, space1(N), all, independent(), back));
    show_doubles("mine", back, N);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    free(values);
    free(back);
}

/* Many datasets in one file, written, closed and later written again in part. */
static void many_and_again(void)
{
    enum { SETS = 24, N = 32 };
    char  name[16];
    int   values[N];
    hid_t file = make_file("y.h5"), all = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N);
    for (int s = 0; s < SETS; s++) {
        snprintf(name, sizeof name, "set%02d", s);
        for (int i = 0; i < N; i++)
            values[i] = s * 10000 + rank * 100 + i;
        hid_t d = ID(H5Dcreate2(file, name, H5T_NATIVE_INT, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_INT, space1(N), all, collective(), values));
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
    file = open_file("y.h5", H5F_ACC_RDWR);
    for (int s = 0; s < SETS; s += 5) {
        int   few[4] = {-s, -s - 1, -s - 2, -rank};
        hid_t part   = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank + 3, 4);
        snprintf(name, sizeof name, "set%02d", s);
        hid_t d = ID(H5Dopen2(file, name, H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_INT, space1(4), part, independent(), few));
        RC(H5Dread(d, H5T_NATIVE_INT, space1(N), all, collective(), values));
        show_ints(name, values, N);
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

CASES(contiguous, {"collective", collectively, EVERYWHERE}, {"independent", independently, BOTH_PARALLEL},
      {"strided", strided, EVERYWHERE}, {"scattered_memory", scattered_memory, EVERYWHERE},
      {"empty_spaces", empty_spaces, EVERYWHERE}, {"every_atomic_type", every_atomic_type, EVERYWHERE},
      {"large", large, SERIAL | PARALLEL}, {"many_and_again", many_and_again, SERIAL | PARALLEL})
