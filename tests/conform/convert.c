/* Type conversion on the way to and from the file. */
#include "conform.h"

enum { N = 24 };

static void numbers(void)
{
    struct {
        const char *name;
        hid_t       type;
    } types[]     = {{"i8", H5T_STD_I8LE},   {"u8", H5T_STD_U8BE},    {"i16be", H5T_STD_I16BE}, {"u32be", H5T_STD_U32BE},
                     {"i64", H5T_STD_I64LE}, {"f32be", H5T_IEEE_F32BE}, {"f64", H5T_IEEE_F64LE}};
    int    ints[N], int_back[N];
    double reals[N], real_back[N];
    hid_t  file = make_file("n.h5"), space = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N);
    for (int i = 0; i < N; i++)
        ints[i] = (i - N / 2) * 37 * (i % 3 ? 1 : 1000), reals[i] = (i - N / 2) * 1234.56789 * (i % 5 ? 1 : 1e6);
    for (size_t t = 0; t < COUNT(types); t++) {
        note("%s", types[t].name);
        hid_t d = ID(H5Dcreate2(file, types[t].name, types[t].type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_INT, space1(N), space, collective(), ints));
        memset(real_back, 0, sizeof real_back);
        RC(H5Dread(d, H5T_NATIVE_DOUBLE, space1(N), space, collective(), real_back));
        show_doubles("as reals", real_back, N);
        RC(H5Dwrite(d, H5T_NATIVE_DOUBLE, space1(N), space, independent(), reals));
        memset(int_back, 0, sizeof int_back);
        RC(H5Dread(d, H5T_NATIVE_INT, space1(N), space, independent(), int_back));
        show_ints("as ints", int_back, N);
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

/* A buffer of a few elements makes the library convert in many strips. */
static void in_strips(void)
{
    enum { LONG = 5000 };
    short *values = malloc(LONG * sizeof *values);
    float *back   = calloc(LONG, sizeof *back);
    char   work[64], background[64];
    void  *tconv = NULL, *bkg = NULL;
    hid_t  file = make_file("s.h5"), dxpl = parallel() ? keep(H5Pcopy(independent())) : plist(H5P_DATASET_XFER);
    for (int i = 0; i < LONG; i++)
        values[i] = (short)(i * 7);
    RC(H5Pset_buffer(dxpl, sizeof work, work, background));
    NUM(H5Pget_buffer(dxpl, &tconv, &bkg));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_IEEE_F64BE, space1(LONG), H5P_DEFAULT, chunked1(333), H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, dxpl, values));
    MPI_Barrier(MPI_COMM_WORLD);
    RC(H5Dread(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, dxpl, back));
    show_bytes("floats", back, LONG * sizeof *back);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    free(values);
    free(back);
}

/* Values that do not fit: the program's callback sees each, and decides. */
static H5T_conv_ret_t on_exception(H5T_conv_except_t what, hid_t from, hid_t to, void *src, void *dst, void *data)
{
    int *calls = data;
    note("exception %d, from class %d to class %d", what, H5Tget_class(from), H5Tget_class(to));
    (void)src;
    if (++*calls == 3)
        return H5T_CONV_ABORT;
    if (*calls % 2)
        return H5T_CONV_UNHANDLED;
    *(signed char *)dst = 77;
    return H5T_CONV_HANDLED;
}

static void exceptions(void)
{
    int   values[] = {1, 1000, -3, 100000, 5, -129, 7, 128}, calls = 0;
    hid_t file = make_file("e.h5"), dxpl = plist(H5P_DATASET_XFER);
    hid_t d = ID(H5Dcreate2(file, "d", H5T_STD_I8LE, space1(8), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    read_ints(d, "clipped");
    RC(H5Pset_type_conv_cb(dxpl, on_exception, &calls));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, values));
    calls = -10;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, values));
    read_ints(d, "decided");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void text_and_enum(void)
{
    char  words[2][4] = {"abc", "de"}, longer[2][10];
    int   codes[] = {2, 0, 1, 7}, back[4];
    hid_t file = make_file("t.h5"), three = text_type(4), ten = text_type(10), spaced = text_type(6);
    hid_t narrow = keep(H5Tenum_create(H5T_STD_U8LE)), wide = keep(H5Tenum_create(H5T_NATIVE_INT));
    for (int i = 0; i < 3; i++) {
        const char *names[] = {"red", "green", "blue"};
        unsigned char small = (unsigned char)(10 - i);
        RC(H5Tenum_insert(narrow, names[i], &small));
        RC(H5Tenum_insert(wide, names[i], &i));
    }
    RC(H5Tset_strpad(spaced, H5T_STR_SPACEPAD));
    hid_t w = ID(H5Dcreate2(file, "words", spaced, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(w, three, H5S_ALL, H5S_ALL, collective(), words));
    memset(longer, 'x', sizeof longer);
    RC(H5Dread(w, ten, H5S_ALL, H5S_ALL, collective(), longer));
    show_bytes("words", longer, sizeof longer);
    hid_t e = ID(H5Dcreate2(file, "colours", narrow, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(e, wide, H5S_ALL, H5S_ALL, collective(), codes));
    RC(H5Dread(e, wide, H5S_ALL, H5S_ALL, collective(), back));
    show_ints("colours", back, 4);
    RC(H5Dread(e, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), back));
    show_ints("as numbers", back, 4);
    RC(H5Dread(w, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), back));
    RC(H5Dclose(w));
    RC(H5Dclose(e));
    RC(H5Fclose(file));
}

static void arrays(void)
{
    hsize_t three = 3;
    int     values[4][3];
    double  back[4][3];
    hid_t   file = make_file("a.h5"), ints = keep(H5Tarray_create2(H5T_STD_I16BE, 1, &three));
    hid_t   memory = keep(H5Tarray_create2(H5T_NATIVE_INT, 1, &three)), reals = keep(H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three));
    for (int i = 0; i < 12; i++)
        values[i / 3][i % 3] = i * 11;
    hid_t d = ID(H5Dcreate2(file, "d", ints, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, memory, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dread(d, reals, H5S_ALL, H5S_ALL, collective(), back));
    show_doubles("reals", &back[0][0], 12);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Half precision and complex numbers came with later versions. */
static void newer_types(void)
{
#if H5_VERSION_GE(2, 0, 0)
    double values[] = {1.5, -2.25, 1e-3, 65504}, back[4];
    hid_t  file = make_file("h.h5"), complex = keep(H5Tcomplex_create(H5T_NATIVE_DOUBLE));
    hid_t  h = ID(H5Dcreate2(file, "half", H5T_IEEE_F16LE, space1(4), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(h, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dread(h, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, collective(), back));
    show_doubles("half", back, 4);
    hid_t c = ID(H5Dcreate2(file, "complex", complex, space1(2), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(c, complex, H5S_ALL, H5S_ALL, collective(), values));
    RC(H5Dread(c, complex, H5S_ALL, H5S_ALL, collective(), back));
    show_doubles("complex", back, 4);
    RC(H5Dclose(h));
    RC(H5Dclose(c));
    RC(H5Fclose(file));
#else
    skip("complex numbers need HDF5 2.0");
#endif
}

CASES(convert, {"numbers", numbers, EVERYWHERE}, {"in_strips", in_strips, SERIAL | PARALLEL},
      {"exceptions", exceptions, BOTH_SERIAL}, {"text_and_enum", text_and_enum, EVERYWHERE},
      {"arrays", arrays, EVERYWHERE}, {"newer_types", newer_types, EVERYWHERE})
