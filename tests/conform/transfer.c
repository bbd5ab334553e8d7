/* The transfer list: what it asks for, and what the library writes to it about how the transfer was done. */
#include "conform.h"

enum { N = 40 };

static hid_t mine(void) { return part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N); }

static void show_actual(hid_t dxpl)
{
    H5D_mpio_actual_io_mode_t        io    = H5D_MPIO_NO_COLLECTIVE;
    H5D_mpio_actual_chunk_opt_mode_t chunk = H5D_MPIO_NO_CHUNK_OPTIMIZATION;
    H5FD_mpio_xfer_t                 mode  = H5FD_MPIO_INDEPENDENT;
    uint32_t                         local = 99, global = 99;
    RC(H5Pget_dxpl_mpio(dxpl, &mode));
    RC(H5Pget_mpio_actual_io_mode(dxpl, &io));
    RC(H5Pget_mpio_actual_chunk_opt_mode(dxpl, &chunk));
    RC(H5Pget_mpio_no_collective_cause(dxpl, &local, &global));
    note("how: asked %d, done %d, chunks %d, causes %#x %#x", mode, io, chunk, local, global);
    RC(H5Pget_selection_io(dxpl, (H5D_selection_io_mode_t *)&mode));
    note("selection I/O %d", mode);
#if H5_VERSION_GE(1, 14, 4)
    uint32_t cause = 0, actual = 0;
    RC(H5Pget_no_selection_io_cause(dxpl, &cause));
    RC(H5Pget_actual_selection_io_mode(dxpl, &actual));
    note("how: no selection I/O because %#x, actual %#x", cause, actual);
#endif
}

/* One dataset of one kind, written and read with lists of its own, so that each shows only its own transfer. */
static void observe(hid_t file, const char *name, hid_t dcpl, hid_t memory_type, H5FD_mpio_xfer_t mode)
{
    char  values[N * 8] = {0};
    note("%s, mode %d", name, mode);
    hid_t out = plist(H5P_DATASET_XFER), in = plist(H5P_DATASET_XFER);
    RC(H5Pset_dxpl_mpio(out, mode));
    RC(H5Pset_dxpl_mpio(in, mode));
    hid_t d = ID(H5Dcreate2(file, name, H5T_NATIVE_INT, mine(), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < N * 8; i++)
        values[i] = (char)i;
    RC(H5Dwrite(d, memory_type, space1(N), mine(), out, values));
    show_actual(out);
    RC(H5Dread(d, memory_type, space1(N), mine(), in, values));
    show_actual(in);
    show_bytes("values", values, N * H5Tget_size(memory_type));
    RC(H5Dclose(d));
}

static void actual_modes(void)
{
    hid_t compact = plist(H5P_DATASET_CREATE), file = make_file("a.h5"), filtered = chunked1(16);
    RC(H5Pset_layout(compact, H5D_COMPACT));
    RC(H5Pset_fletcher32(filtered));
    for (int mode = 0; mode < 2; mode++) {
        char suffix[4][24];
        snprintf(suffix[0], sizeof suffix[0], "contiguous%d", mode);
        snprintf(suffix[1], sizeof suffix[1], "chunked%d", mode);
        snprintf(suffix[2], sizeof suffix[2], "converted%d", mode);
        snprintf(suffix[3], sizeof suffix[3], "compact%d", mode);
        observe(file, suffix[0], H5P_DEFAULT, H5T_NATIVE_INT, mode ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        observe(file, suffix[1], chunked1(16), H5T_NATIVE_INT, mode ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        observe(file, suffix[2], H5P_DEFAULT, H5T_NATIVE_SHORT, mode ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        observe(file, suffix[3], compact, H5T_NATIVE_INT, mode ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    }
    observe(file, "filtered", filtered, H5T_NATIVE_INT, H5FD_MPIO_COLLECTIVE);
    RC(H5Fclose(file));
}

/* A transfer list used again and again, also for a dataset of another file. */
static void reused_list(void)
{
    int   values[N] = {0};
    hid_t a = make_file("a.h5"), b = make_file("b.h5"), dxpl = plist(H5P_DATASET_XFER);
    RC(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE));
    hid_t c = ID(H5Dcreate2(a, "c", H5T_NATIVE_INT, mine(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t k = ID(H5Dcreate2(b, "k", H5T_NATIVE_INT, mine(), H5P_DEFAULT, chunked1(16), H5P_DEFAULT));
    for (int i = 0; i < 3; i++) {
        RC(H5Dwrite(c, H5T_NATIVE_INT, space1(N), mine(), dxpl, values));
        show_actual(dxpl);
        RC(H5Dwrite(k, H5T_NATIVE_INT, space1(N), mine(), dxpl, values));
        show_actual(dxpl);
        RC(H5Dread(c, H5T_NATIVE_LONG, space1(N / 2), part1((hsize_t)N * (hsize_t)nranks, 0, N / 2), dxpl, values));
        show_actual(dxpl);
    }
    RC(H5Dclose(c));
    RC(H5Dclose(k));
    RC(H5Fclose(a));
    RC(H5Fclose(b));
}

static void transform(void)
{
    int   values[N], back[N] = {0};
    char  expression[32] = "";
    hid_t file = make_file("t.h5"), out = plist(H5P_DATASET_XFER), in = plist(H5P_DATASET_XFER);
    if (parallel()) {
        RC(H5Pset_dxpl_mpio(out, H5FD_MPIO_COLLECTIVE));
        RC(H5Pset_dxpl_mpio(in, H5FD_MPIO_COLLECTIVE));
    }
    RC(H5Pset_data_transform(out, "2*x+1"));
    RC(H5Pset_data_transform(in, "(x-1)*10"));
    NUM(H5Pget_data_transform(out, expression, sizeof expression));
    show_text("transform", expression);
    for (int i = 0; i < N; i++)
        values[i] = rank * 100 + i;
    hid_t d = ID(H5Dcreate2(file, "d", H5T_STD_I64BE, mine(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(N), mine(), out, values));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(N), mine(), collective(), back));
    show_ints("stored", back, N);
    RC(H5Dread(d, H5T_NATIVE_INT, space1(N), mine(), in, back));
    show_ints("transformed back", back, N);
    show_ints("the program's own buffer", values, N);
    RC(H5Pset_data_transform(in, "2*+x"));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void checks_and_limits(void)
{
    H5Z_EDC_t check = H5Z_ERROR_EDC;
    double    left, middle, right;
    size_t    vectors = 0;
    int       values[N];
    hid_t     file = make_file("c.h5"), dcpl = chunked1(10), dxpl = parallel() ? keep(H5Pcopy(collective())) : plist(H5P_DATASET_XFER);
    RC(H5Pset_fletcher32(dcpl));
    RC(H5Pset_edc_check(dxpl, H5Z_DISABLE_EDC));
    RC(H5Pset_btree_ratios(dxpl, 0.2, 0.5, 0.8));
    RC(H5Pset_hyper_vector_size(dxpl, 3));
    check = H5Pget_edc_check(dxpl);
    RC(H5Pget_btree_ratios(dxpl, &left, &middle, &right));
    RC(H5Pget_hyper_vector_size(dxpl, &vectors));
    note("check %d, ratios %g %g %g, vectors %zu", check, left, middle, right, vectors);
    for (int i = 0; i < N; i++)
        values[i] = i;
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(N), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, values));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, values));
    show_ints("values", values, N);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void selection_io(void)
{
    H5D_selection_io_mode_t modes[] = {H5D_SELECTION_IO_MODE_OFF, H5D_SELECTION_IO_MODE_ON, H5D_SELECTION_IO_MODE_DEFAULT};
    bool                    modify  = false;
    hid_t                   file = make_file("s.h5");
    for (size_t m = 0; m < COUNT(modes); m++) {
        char  name[8];
        short values[N];
        hid_t dxpl = plist(H5P_DATASET_XFER);
        snprintf(name, sizeof name, "d%zu", m);
        RC(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE));
        RC(H5Pset_selection_io(dxpl, modes[m]));
        RC(H5Pset_modify_write_buf(dxpl, true));
        RC(H5Pget_modify_write_buf(dxpl, &modify));
        for (int i = 0; i < N; i++)
            values[i] = (short)(i - 20);
        hid_t d = ID(H5Dcreate2(file, name, H5T_STD_I32BE, mine(), H5P_DEFAULT, chunked1(9), H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_SHORT, space1(N), mine(), dxpl, values));
        show_actual(dxpl);
        memset(values, 0, sizeof values);
        RC(H5Dread(d, H5T_NATIVE_SHORT, space1(N), mine(), dxpl, values));
        show_actual(dxpl);
        show_bytes("values", values, sizeof values);
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

CASES(transfer, {"actual_modes", actual_modes, BOTH_PARALLEL}, {"reused_list", reused_list, BOTH_PARALLEL},
      {"transform", transform, EVERYWHERE}, {"checks_and_limits", checks_and_limits, EVERYWHERE},
      {"selection_io", selection_io, BOTH_PARALLEL})
