/* Chunked datasets: regular and ragged chunks, every chunk index, the chunk cache, partial and unallocated chunks. */
#include "conform.h"

enum { ROWS = 7, COLS = 13 };

static void write_rows(hid_t d, hid_t rows, hid_t dxpl, int seed)
{
    int values[ROWS * COLS], back[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = seed + rank * 1000 + i;
    memset(back, 0, sizeof back);
    RC(H5Dwrite(d, H5T_NATIVE_INT, space2(ROWS, COLS), rows, dxpl, values));
    RC(H5Dread(d, H5T_NATIVE_INT, space2(ROWS, COLS), rows, dxpl, back));
    show_ints("rows", back, COUNT(back));
}

static void ragged_with(hid_t dxpl)
{
    hid_t file = make_file("r.h5"), rows = my_rows(ROWS, COLS);
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, rows, H5P_DEFAULT, chunked2(4, 5), H5P_DEFAULT));
    write_rows(d, rows, dxpl, 1);
    NUM(H5Dget_storage_size(d));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = open_file("r.h5", H5F_ACC_RDWR);
    d    = ID(H5Dopen2(file, "d", H5P_DEFAULT));
    write_rows(d, rows, dxpl, 500000);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void ragged_collective(void) { ragged_with(collective()); }
static void ragged_independent(void) { ragged_with(independent()); }

/* The newest format has a chunk index per kind of dataset: single, implicit, fixed array, extensible array, B-tree 2. */
static void every_index(void)
{
    hsize_t inf = H5S_UNLIMITED, n = 40;
    struct {
        const char      *name;
        hsize_t          dims[2], max[2], chunk[2];
        H5D_alloc_time_t when;
    } kinds[] = {
        {"single", {8, 5}, {8, 5}, {8, 5}, H5D_ALLOC_TIME_DEFAULT},
        {"implicit", {n, 5}, {n, 5}, {8, 5}, H5D_ALLOC_TIME_EARLY},
        {"fixed", {n, 5}, {n, 5}, {8, 5}, H5D_ALLOC_TIME_DEFAULT},
        {"fixed_bounded", {n, 5}, {2 * n, 5}, {8, 5}, H5D_ALLOC_TIME_DEFAULT},
        {"extensible", {n, 5}, {inf, 5}, {8, 5}, H5D_ALLOC_TIME_DEFAULT},
        {"tree", {n, 5}, {inf, inf}, {8, 5}, H5D_ALLOC_TIME_DEFAULT},
    };
    int   values[200], back[200];
    hid_t file = make_file("x.h5");
    for (int i = 0; i < 200; i++)
        values[i] = i * 3;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        hid_t             dcpl = chunked2(kinds[k].chunk[0], kinds[k].chunk[1]);
        hid_t             space = keep(H5Screate_simple(2, kinds[k].dims, kinds[k].max));
        H5D_chunk_index_t index = H5D_CHUNK_IDX_BTREE;
        note("%s", kinds[k].name);
        RC(H5Pset_alloc_time(dcpl, kinds[k].when));
        hid_t d = ID(H5Dcreate2(file, kinds[k].name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values));
        RC(H5Dget_chunk_index_type(d, &index));
        note("index %d", index);
        memset(back, 0, sizeof back);
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), back));
        show_ints("values", back, (size_t)(kinds[k].dims[0] * kinds[k].dims[1]));
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

/* Chunks that nobody wrote: serially they stay unallocated, in parallel they are filled at creation. */
static void holes(void)
{
    int                values[8], all[64 * 4];
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    hid_t              file = make_file("h.h5"), space = part1(64 * (hsize_t)nranks, 64 * (hsize_t)rank + 20, 8);
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, chunked1(16), H5P_DEFAULT));
    RC(H5Dget_space_status(d, &status));
    note("space %d", status);
    for (int i = 0; i < 8; i++)
        values[i] = 10 * rank + i + 1;
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(8), space, collective(), values));
    RC(H5Dget_space_status(d, &status));
    note("space %d", status);
    NUM(H5Dget_storage_size(d));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), all));
    show_ints("all", all, 64 * (size_t)nranks);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* The cache is set per dataset, and must be found again on the opened dataset's access list. */
static void cache(void)
{
    size_t slots = 0, bytes = 0;
    double policy = 0;
    int    back[4096];
    hid_t  dapl = plist(H5P_DATASET_ACCESS), file = make_file("c.h5");
    RC(H5Pset_chunk_cache(dapl, 101, 4096, 0.25));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(4096), H5P_DEFAULT, chunked1(100), dapl));
    for (int i = 0; i < 4096; i++)
        back[i] = i ^ 0x55;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), back));
    hid_t list = ID(H5Dget_access_plist(d));
    RC(H5Pget_chunk_cache(list, &slots, &bytes, &policy));
    note("cache %zu slots, %zu bytes, policy %g", slots, bytes, policy);
    RC(H5Pclose(list));
    for (hsize_t at = 0; at < 4096; at += 512) {
        hid_t part = part1(4096, at, 3);
        RC(H5Dread(d, H5T_NATIVE_INT, space1(3), part, independent(), back));
        show_ints("three", back, 3);
    }
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void one_rank_writes(void)
{
    int   values[50];
    hid_t file = make_file("o.h5");
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(50), H5P_DEFAULT, chunked1(7), H5P_DEFAULT));
    for (int i = 0; i < 50; i++)
        values[i] = 50 - i;
    if (rank == nranks - 1)
        RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent(), values));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
    read_ints(d, "all");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* All ranks' cells interleave in every chunk. */
static void interleaved(void)
{
    int     values[30], back[30];
    hid_t   file = make_file("i.h5"), space = space2(30, (hsize_t)nranks);
    hid_t   d       = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, chunked2(8, (hsize_t)nranks), H5P_DEFAULT));
    hsize_t start[] = {0, (hsize_t)rank}, count[] = {30, 1};
    for (int i = 0; i < 30; i++)
        values[i] = rank * 100 + i;
    RC(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(30), space, collective(), values));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(30), space, collective(), back));
    show_ints("column", back, 30);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* How a chunked collective transfer is done can be asked for; the result must be the same. */
static void io_options(void)
{
    int   values[ROWS * COLS], back[ROWS * COLS];
    hid_t file = make_file("p.h5"), rows = my_rows(ROWS, COLS);
    for (int option = 0; option < 3; option++) {
        char  name[16];
        hid_t dxpl = keep(H5Pcopy(collective()));
        snprintf(name, sizeof name, "d%d", option);
        if (option < 2)
            RC(H5Pset_dxpl_mpio_chunk_opt(dxpl, option ? H5FD_MPIO_CHUNK_MULTI_IO : H5FD_MPIO_CHUNK_ONE_IO));
        else
            RC(H5Pset_dxpl_mpio_collective_opt(dxpl, H5FD_MPIO_INDIVIDUAL_IO));
        for (int i = 0; i < ROWS * COLS; i++)
            values[i] = option * 100000 + rank * 1000 + i;
        hid_t d = ID(H5Dcreate2(file, name, H5T_NATIVE_INT, rows, H5P_DEFAULT, chunked2(3, 6), H5P_DEFAULT));
        RC(H5Dwrite(d, H5T_NATIVE_INT, space2(ROWS, COLS), rows, dxpl, values));
        RC(H5Dread(d, H5T_NATIVE_INT, space2(ROWS, COLS), rows, dxpl, back));
        show_ints(name, back, COUNT(back));
        RC(H5Dclose(d));
    }
    RC(H5Fclose(file));
}

CASES(chunked, {"ragged_collective", ragged_collective, EVERYWHERE}, {"ragged_independent", ragged_independent, BOTH_PARALLEL},
      {"every_index", every_index, EVERYWHERE}, {"holes", holes, EVERYWHERE}, {"cache", cache, EVERYWHERE},
      {"one_rank_writes", one_rank_writes, BOTH_PARALLEL}, {"interleaved", interleaved, EVERYWHERE},
      {"io_options", io_options, BOTH_PARALLEL})
