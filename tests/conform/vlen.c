/* Variable-length strings and sequences. In parallel they can be read by all ranks, but written only by one rank. */
#include "conform.h"

static const char *const words[] = {"", "a", "hydrogen", "a rather longer text that does not fit anywhere", NULL, "end"};
enum { WORDS = COUNT(words) };

static void show_words(char **back)
{
    for (size_t i = 0; i < WORDS; i++)
        show_text("word", back[i]);
}

static void strings(void)
{
    char   *back[WORDS];
    hsize_t bytes = 0;
    hid_t   file = make_file("s.h5"), type = text_type(H5T_VARIABLE), space = space1(WORDS);
    RC(H5Tset_cset(type, H5T_CSET_UTF8));
    hid_t d = ID(H5Dcreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    show_words(back);
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words));
    RC(H5Dvlen_get_buf_size(d, type, space, &bytes));
    note("needs %llu bytes", (unsigned long long)bytes);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    show_words(back);
    RC(H5Treclaim(type, space, H5P_DEFAULT, back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Overwriting a string must free or reuse its place in the heap in the same way. */
static void overwrite(void)
{
    char  text[64], *one = text, *back = NULL;
    hid_t file = make_file("o.h5"), type = text_type(H5T_VARIABLE);
    hid_t d = ID(H5Dcreate2(file, "d", type, space1(4), H5P_DEFAULT, chunked1(2), H5P_DEFAULT));
    for (int i = 0; i < 12; i++) {
        snprintf(text, sizeof text, "%.*s", (i * 7) % 50, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        RC(H5Dwrite(d, type, space1(1), part1(4, (hsize_t)i % 4, 1), H5P_DEFAULT, &one));
        RC(H5Dread(d, type, space1(1), part1(4, (hsize_t)i % 4, 1), H5P_DEFAULT, &back));
        show_text("text", back);
        H5free_memory(back);
    }
    NUM(H5Dget_storage_size(d));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void show_sequences(const hvl_t *rows, int count)
{
    for (int i = 0; i < count; i++) {
        note("sequence %d has %zu", i, rows[i].len);
        show_ints("  values", rows[i].p, rows[i].len);
    }
}

static void fill_sequences(hvl_t *rows, int count)
{
    for (int i = 0; i < count; i++) {
        rows[i].len = (size_t)(i * i % 7);
        rows[i].p   = malloc((rows[i].len + 1) * sizeof(int));
        for (size_t k = 0; k < rows[i].len; k++)
            ((int *)rows[i].p)[k] = i * 100 + (int)k;
    }
}

static void sequences(void)
{
    hvl_t   rows[8], back[8];
    hsize_t bytes = 0;
    hid_t   file = make_file("q.h5"), type = keep(H5Tvlen_create(H5T_NATIVE_INT)), stored = keep(H5Tvlen_create(H5T_STD_I16BE));
    fill_sequences(rows, 8);
    hid_t d = ID(H5Dcreate2(file, "rows", stored, space1(8), H5P_DEFAULT, chunked1(3), H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows));
    RC(H5Dvlen_get_buf_size(d, type, space1(8), &bytes));
    note("needs %llu bytes", (unsigned long long)bytes);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    show_sequences(back, 8);
    RC(H5Treclaim(type, space1(8), H5P_DEFAULT, back));
    RC(H5Dread(d, type, space1(2), part1(8, 4, 2), H5P_DEFAULT, back));
    show_sequences(back, 2);
    RC(H5Dvlen_reclaim(type, space1(2), H5P_DEFAULT, back));
    RC(H5Treclaim(type, space1(8), H5P_DEFAULT, rows));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Sequences of sequences, and a compound with text in it. */
static void nested(void)
{
    struct record {
        int   n;
        char *name;
        hvl_t list;
    } records[3], back[3];
    hid_t file = make_file("n.h5"), type = keep(H5Tcreate(H5T_COMPOUND, sizeof records[0]));
    hid_t inner = keep(H5Tvlen_create(H5T_NATIVE_INT)), outer = keep(H5Tvlen_create(inner));
    RC(H5Tinsert(type, "n", HOFFSET(struct record, n), H5T_NATIVE_INT));
    RC(H5Tinsert(type, "name", HOFFSET(struct record, name), text_type(H5T_VARIABLE)));
    RC(H5Tinsert(type, "list", HOFFSET(struct record, list), outer));
    for (int i = 0; i < 3; i++) {
        hvl_t *rows     = malloc((size_t)(i + 1) * sizeof *rows);
        records[i].n    = i;
        records[i].name = strdup(i == 1 ? "" : "name");
        fill_sequences(rows, i + 1);
        records[i].list = (hvl_t){(size_t)i + 1, rows};
    }
    hid_t d = ID(H5Dcreate2(file, "records", type, space1(3), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
    for (int i = 0; i < 3; i++) {
        show_text("name", back[i].name);
        show_sequences(back[i].list.p, (int)back[i].list.len);
    }
    RC(H5Treclaim(type, space1(3), H5P_DEFAULT, back));
    RC(H5Treclaim(type, space1(3), H5P_DEFAULT, records));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* --- the program's own memory for what is read --------------------------------------------------------------------- */

static int allocations, frees;

static void *own_alloc(size_t size, void *info)
{
    ++*(int *)info;
    return malloc(size);
}

static void own_free(void *memory, void *info)
{
    ++*(int *)info;
    free(memory);
}

static void own_memory(void)
{
    hvl_t rows[5], back[5];
    hid_t file = make_file("m.h5"), type = keep(H5Tvlen_create(H5T_NATIVE_INT)), dxpl = plist(H5P_DATASET_XFER);
    allocations = frees = 0;
    fill_sequences(rows, 5);
    RC(H5Pset_vlen_mem_manager(dxpl, own_alloc, &allocations, own_free, &frees));
    hid_t d = ID(H5Dcreate2(file, "rows", type, space1(5), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows));
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, dxpl, back));
    show_sequences(back, 5);
    RC(H5Treclaim(type, space1(5), dxpl, back));
    note("%d allocations, %d frees", allocations, frees);
    RC(H5Treclaim(type, space1(5), H5P_DEFAULT, rows));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void in_attributes(void)
{
    char       *back[WORDS];
    const char *other = "other";
    hid_t       file = make_file("a.h5"), type = text_type(H5T_VARIABLE), space = space1(WORDS);
    hid_t       a = ID(H5Acreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(a, type, words));
    NUM(H5Aget_storage_size(a));
    RC(H5Aread(a, type, back));
    show_words(back);
    RC(H5Treclaim(type, space, H5P_DEFAULT, back));
    hid_t s = ID(H5Acreate2(file, "one", type, scalar(), H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Awrite(s, type, &other));
    RC(H5Aclose(s));
    RC(H5Aclose(a));
    RC(H5Fclose(file));
    file = open_file("a.h5", H5F_ACC_RDONLY);
    s    = ID(H5Aopen(file, "one", H5P_DEFAULT));
    RC(H5Aread(s, type, back));
    show_text("one", back[0]);
    H5free_memory(back[0]);
    RC(H5Aclose(s));
    RC(H5Fclose(file));
}

/* Rank 0 writes serially, then all read with the MPI driver; writing with several ranks is refused. */
static void read_by_all(void)
{
    char *back[WORDS];
    hid_t type = text_type(H5T_VARIABLE), space = space1(WORDS);
    if (solo_begin()) {
        hid_t file = ID(H5Fcreate("r.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
        hid_t d    = ID(H5Dcreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words));
        RC(H5Dclose(d));
        RC(H5Fclose(file));
    }
    solo_end();
    hid_t file = open_file("r.h5", H5F_ACC_RDONLY);
    hid_t d    = ID(H5Dopen2(file, "words", H5P_DEFAULT));
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, collective(), back));
    show_words(back);
    RC(H5Treclaim(type, space, H5P_DEFAULT, back));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    file = make_file("w.h5");
    d    = ID(H5Dcreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, independent(), words));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(vlen, {"strings", strings, BOTH_SERIAL | PARALLEL, 1, 1}, {"overwrite", overwrite, BOTH_SERIAL | PARALLEL, 1, 1},
      {"sequences", sequences, BOTH_SERIAL | PARALLEL, 1, 1}, {"nested", nested, BOTH_SERIAL | PARALLEL, 1, 1},
      {"own_memory", own_memory, BOTH_SERIAL}, {"in_attributes", in_attributes, BOTH_SERIAL | PARALLEL, 1, 1},
      {"read_by_all", read_by_all, PARALLEL, 2, 4})
