/* Direct chunk access: chunks as they are stored, where they are, and which filters were skipped. */
#include "conform.h"

static int on_chunk(const hsize_t *offset, unsigned mask, haddr_t at, hsize_t size, void *data)
{
    int *left = data;
    note("chunk %llu %llu: mask %u, at %llu, %llu bytes", (unsigned long long)offset[0], (unsigned long long)offset[1], mask,
         (unsigned long long)at, (unsigned long long)size);
    return --*left == 0 ? H5_ITER_STOP : H5_ITER_CONT;
}

static int on_chunk_fail(const hsize_t *offset, unsigned mask, haddr_t at, hsize_t size, void *data)
{
    (void)offset, (void)mask, (void)at, (void)size, (void)data;
    return H5_ITER_ERROR;
}

static void ask(hid_t d)
{
    hsize_t  count = 99, offset[2] = {9, 9}, size = 0, first[] = {0, 0}, inside[] = {1, 1};
    unsigned mask = 77;
    haddr_t  at   = 0;
    int      all = -1, two = 2;
    RC(H5Dget_num_chunks(d, H5S_ALL, &count));
    note("%llu chunks", (unsigned long long)count);
    for (hsize_t i = 0; i < count + 1; i += 2) {
        RC(H5Dget_chunk_info(d, H5S_ALL, i, offset, &mask, &at, &size));
        note("chunk at %llu %llu: mask %u, address %llu, %llu bytes", (unsigned long long)offset[0], (unsigned long long)offset[1],
             mask, (unsigned long long)at, (unsigned long long)size);
    }
    RC(H5Dget_chunk_info_by_coord(d, first, &mask, &at, &size));
    note("first: mask %u, known %d, %llu bytes", mask, at != HADDR_UNDEF, (unsigned long long)size);
    RC(H5Dget_chunk_storage_size(d, first, &size));
    note("stored in %llu", (unsigned long long)size);
    RC(H5Dget_chunk_storage_size(d, inside, &size));
    RC(H5Dchunk_iter(d, H5P_DEFAULT, on_chunk, &all));
    RC(H5Dchunk_iter(d, H5P_DEFAULT, on_chunk, &two));
    RC(H5Dchunk_iter(d, H5P_DEFAULT, on_chunk_fail, NULL));
}

static herr_t read_raw(hid_t d, const hsize_t *offset, uint32_t *mask, void *buf, size_t size)
{
#if H5_VERSION_GE(2, 0, 0)
    return H5Dread_chunk2(d, H5P_DEFAULT, offset, mask, buf, &size);
#else
    (void)size;
    return H5Dread_chunk(d, H5P_DEFAULT, offset, mask, buf);
#endif
}

static void plain(void)
{
    int      chunk[5 * 5], back[5 * 5], all[10 * 15];
    hsize_t  at[] = {0, 0};
    uint32_t mask = 9;
    hid_t    file = make_file("p.h5");
    hid_t    d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(10, 15), H5P_DEFAULT, chunked2(5, 5), H5P_DEFAULT));
    for (int n = 0; n < 4; n++) {
        at[0] = (hsize_t)(n / 3) * 5, at[1] = (hsize_t)(n % 3) * 5;
        for (int i = 0; i < 25; i++)
            chunk[i] = n * 100 + i;
        RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, at, sizeof chunk, chunk));
        memset(back, 0, sizeof back);
        RC(read_raw(d, at, &mask, back, sizeof back));
        note("mask %u", mask);
        show_ints("chunk", back, 25);
    }
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    show_ints("all", all, COUNT(all));
    ask(d);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void filtered(void)
{
    int      chunk[25], back[64], all[10 * 15];
    hsize_t  at[] = {5, 10};
    uint32_t mask = 9;
    hid_t    file = make_file("f.h5"), dcpl = chunked2(5, 5);
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pset_fletcher32(dcpl));
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(10, 15), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    for (int i = 0; i < 150; i++)
        all[i] = i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), all));
    for (int i = 0; i < 25; i++)
        chunk[i] = -i;
    if (!parallel()) {
        RC(H5Dwrite_chunk(d, H5P_DEFAULT, 3, at, sizeof chunk, chunk));
        memset(back, 0, sizeof back);
        RC(read_raw(d, at, &mask, back, sizeof back));
        note("mask %u", mask);
        show_bytes("unfiltered chunk", back, 100);
        at[0] = at[1] = 0;
        memset(back, 0, sizeof back);
        RC(read_raw(d, at, &mask, back, sizeof back));
        note("mask %u", mask);
        show_bytes("filtered chunk", back, 104);
    }
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), all));
    show_ints("all", all, COUNT(all));
    ask(d);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void mistakes(void)
{
    int      chunk[25] = {0};
    hsize_t  good[] = {0, 0}, inside[] = {1, 0}, beyond[] = {100, 0}, count = 0;
    uint32_t mask = 0;
    haddr_t  address;
    unsigned filters;
    hsize_t  size;
    hid_t    file = make_file("m.h5"), c = make_ints(file, "contiguous", 25, 0);
    hid_t    d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space2(10, 15), H5P_DEFAULT, chunked2(5, 5), H5P_DEFAULT));
    RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, inside, sizeof chunk, chunk));
    RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, beyond, sizeof chunk, chunk));
    RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, good, sizeof chunk, NULL));
    RC(H5Dwrite_chunk(d, H5P_DEFAULT, 0, good, 0, chunk));
    RC(H5Dwrite_chunk(c, H5P_DEFAULT, 0, good, sizeof chunk, chunk));
    RC(H5Dwrite_chunk(file, H5P_DEFAULT, 0, good, sizeof chunk, chunk));
    RC(read_raw(d, beyond, &mask, chunk, sizeof chunk));
    RC(read_raw(c, good, &mask, chunk, sizeof chunk));
    if (!parallel())
        RC(read_raw(d, good, &mask, chunk, sizeof chunk));
#if H5_VERSION_GE(2, 0, 0)
    size_t small = 10;
    RC(H5Dread_chunk2(d, H5P_DEFAULT, good, &mask, chunk, &small));
    note("needs %zu bytes", small);
    RC(H5Dread_chunk2(d, H5P_DEFAULT, good, &mask, NULL, &small));
    note("needs %zu bytes", small);
#endif
    RC(H5Dget_num_chunks(c, H5S_ALL, &count));
    RC(H5Dget_chunk_info(c, H5S_ALL, 0, good, &filters, &address, &size));
    RC(H5Dget_chunk_info_by_coord(c, good, &filters, &address, &size));
    RC(H5Dget_chunk_info(d, H5S_ALL, 0, NULL, NULL, NULL, NULL));
    RC(H5Dchunk_iter(c, H5P_DEFAULT, on_chunk, NULL));
    RC(H5Dchunk_iter(d, H5P_DEFAULT, NULL, NULL));
    RC(H5Dclose(c));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(chunk_io, {"plain", plain, BOTH_SERIAL | PARALLEL, 1, 1}, {"filtered", filtered, EVERYWHERE}, {"mistakes", mistakes, EVERYWHERE})
