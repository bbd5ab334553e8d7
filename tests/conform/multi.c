/* Several datasets in one call: equal and different layouts, types and spaces, empty lists, mistakes in one of them. */
#include "conform.h"

enum { SETS = 5, N = 24 };

static hid_t mine(void) { return part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N); }

typedef struct {
    hid_t file, d[SETS], types[SETS], memories[SETS], files[SETS];
    int   values[SETS][N], back[SETS][N];
    const void *out[SETS];
    void       *in[SETS];
} Multi;

static void begin(Multi *m, bool mixed)
{
    int unwritten = -1; /* not every case writes all of them */
    memset(m, 0, sizeof *m);
    m->file = make_file("m.h5");
    for (int s = 0; s < SETS; s++) {
        char  name[8];
        hid_t dcpl = mixed && s % 2 ? chunked1(10) : plist(H5P_DATASET_CREATE);
        hid_t type = mixed && s == 2 ? H5T_IEEE_F64BE : H5T_NATIVE_INT;
        if (mixed && s == 4)
            RC(H5Pset_layout(dcpl, H5D_COMPACT));
        RC(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &unwritten));
        snprintf(name, sizeof name, "d%d", s);
        m->d[s]        = ID(H5Dcreate2(m->file, name, type, mine(), H5P_DEFAULT, dcpl, H5P_DEFAULT));
        m->types[s]    = H5T_NATIVE_INT;
        m->memories[s] = space1(N);
        m->files[s]    = mine();
        m->out[s]      = m->values[s];
        m->in[s]       = m->back[s];
        for (int i = 0; i < N; i++)
            m->values[s][i] = s * 10000 + rank * 100 + i;
    }
}

static void end(Multi *m)
{
    for (int s = 0; s < SETS; s++)
        RC(H5Dclose(m->d[s]));
    RC(H5Fclose(m->file));
}

static void round_trip(bool mixed, hid_t dxpl)
{
    Multi m;
    begin(&m, mixed);
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, dxpl, m.out));
    RC(H5Dread_multi(SETS, m.d, m.types, m.memories, m.files, dxpl, m.in));
    for (int s = 0; s < SETS; s++)
        show_ints("read", m.back[s], N);
    RC(H5Dread(m.d[3], H5T_NATIVE_INT, m.memories[3], m.files[3], dxpl, m.back[0]));
    show_ints("alone", m.back[0], N);
    end(&m);
}

static void equal_collective(void) { round_trip(false, collective()); }
static void equal_independent(void) { round_trip(false, independent()); }
static void mixed_collective(void) { round_trip(true, collective()); }
static void mixed_independent(void) { round_trip(true, independent()); }

static void edge_cases(void)
{
    Multi m;
    begin(&m, false);
    RC(H5Dwrite_multi(0, m.d, m.types, m.memories, m.files, collective(), m.out));
    RC(H5Dwrite_multi(1, m.d, m.types, m.memories, m.files, collective(), m.out));
    hid_t all[SETS] = {H5S_ALL, H5S_ALL, H5S_ALL, H5S_ALL, H5S_ALL};
    if (nranks == 1)
        RC(H5Dwrite_multi(SETS, m.d, m.types, all, all, collective(), m.out));
    RC(H5Sselect_none(m.memories[1]));
    RC(H5Sselect_none(m.files[1]));
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, collective(), m.out));
    /* The same dataset twice, different parts. */
    hid_t twice[] = {m.d[0], m.d[0]}, parts[2], few[] = {space1(N / 2), space1(N / 2)};
    parts[0] = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N / 2);
    parts[1] = part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank + N / 2, N / 2);
    RC(H5Dwrite_multi(2, twice, m.types, few, parts, collective(), m.out));
    RC(H5Dread(m.d[0], H5T_NATIVE_INT, m.memories[0], m.files[0], collective(), m.back[0]));
    show_ints("first", m.back[0], N);
    end(&m);
}

static void mistakes(void)
{
    Multi m;
    begin(&m, false);
    hid_t saved = m.d[2];
    m.d[2]      = m.file;
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, collective(), m.out));
    m.d[2] = H5I_INVALID_HID;
    RC(H5Dread_multi(SETS, m.d, m.types, m.memories, m.files, collective(), m.in));
    m.d[2]        = saved;
    saved         = m.memories[3];
    m.memories[3] = space1(N + 1);
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, collective(), m.out));
    m.memories[3] = saved;
    saved         = m.types[1];
    m.types[1]    = H5T_C_S1;
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, independent(), m.out));
    m.types[1] = saved;
    RC(H5Dwrite_multi(SETS, NULL, m.types, m.memories, m.files, collective(), m.out));
    m.out[4] = NULL;
    RC(H5Dwrite_multi(SETS, m.d, m.types, m.memories, m.files, collective(), m.out));
    end(&m);
}

/* Datasets of two files in one call. */
static void two_files(void)
{
    Multi m;
    begin(&m, false);
    hid_t other = make_file("other.h5");
    hid_t d     = ID(H5Dcreate2(other, "d", H5T_NATIVE_INT, mine(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t pair[] = {m.d[0], d};
    RC(H5Dwrite_multi(2, pair, m.types, m.memories, m.files, collective(), m.out));
    RC(H5Dread_multi(2, pair, m.types, m.memories, m.files, collective(), m.in));
    show_ints("first", m.back[0], N);
    show_ints("second", m.back[1], N);
    RC(H5Dclose(d));
    RC(H5Fclose(other));
    end(&m);
}

CASES(multi, {"equal_collective", equal_collective, EVERYWHERE}, {"equal_independent", equal_independent, BOTH_PARALLEL},
      {"mixed_collective", mixed_collective, EVERYWHERE}, {"mixed_independent", mixed_independent, BOTH_PARALLEL},
      {"edge_cases", edge_cases, EVERYWHERE}, {"mistakes", mistakes, EVERYWHERE}, {"two_files", two_files, EVERYWHERE})
