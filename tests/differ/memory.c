/* Where a transfer finds its elements in memory: as the file has them, in a row, with gaps, in other orders. */
#include "differ.h"

static Memory laid_out(int ndims, const hsize_t *dims, Selection s)
{
    Memory m = {.space = select_space(&s, ndims, dims, NULL), .elements = volume(ndims, dims), .index = s.index};
    s.index  = NULL;
    select_free(&s);
    return m;
}

Memory memory_row(size_t count, bool block)
{
    hsize_t dims[] = {count ? (hsize_t)count : 1};
    if (count == 0)
        return laid_out(1, dims, select_none());
    Memory m = laid_out(1, dims, select_all(1, dims));
    if (block) {
        H5Sclose(m.space);
        m.space = H5S_BLOCK;
    }
    return m;
}

static Memory with_gaps(Random *r, size_t count)
{
    hsize_t start = (hsize_t)below(r, 5), stride = (hsize_t)between(r, 1, 3);
    hsize_t dims[] = {start + stride * (hsize_t)count + (hsize_t)below(r, 4)};
    Slab    slab   = {.start = {start}, .stride = {stride}, .count = {(hsize_t)count}, .block = {1}};
    return laid_out(1, dims, select_slab(1, dims, slab));
}

/* A block in the middle of a larger array, as codes with guard cells have it. */
static Memory with_guards(Random *r, size_t count)
{
    hsize_t rows = 1;
    for (hsize_t k = (hsize_t)between(r, 2, 9); k > 1; k--)
        if (count % k == 0) {
            rows = k;
            break;
        }
    hsize_t guard = (hsize_t)between(r, 1, 2), cols = (hsize_t)count / rows;
    hsize_t dims[] = {rows + 2 * guard, cols + 2 * guard};
    Slab    slab   = {.start = {guard, guard}, .stride = {rows, cols}, .count = {1, 1}, .block = {rows, cols}};
    return laid_out(2, dims, select_slab(2, dims, slab));
}

static Memory two_pieces(Random *r, size_t count)
{
    hsize_t first = (hsize_t)between(r, 1, (int)count - 1), gap = (hsize_t)between(r, 1, 6);
    hsize_t dims[] = {(hsize_t)count + gap + 2};
    Selection s    = select_slab(1, dims, (Slab){{0}, {1}, {dims[0]}, {1}});
    s.slabs        = 2;
    s.slab[0]      = (Slab){{1}, {first}, {1}, {first}};
    s.slab[1]      = (Slab){{1 + first + gap}, {(hsize_t)count - first}, {1}, {(hsize_t)count - first}};
    s.op[1]        = H5S_SELECT_OR;
    s.count        = count;
    for (size_t i = 0; i < count; i++)
        s.index[i] = 1 + i + (i < first ? 0 : (size_t)gap);
    return laid_out(1, dims, s);
}

static Memory shuffled(Random *r, size_t count)
{
    hsize_t   dims[] = {(hsize_t)count + 3};
    Selection s      = {.kind = POINTS, .count = count};
    s.point          = malloc(count * sizeof *s.point);
    s.index          = malloc(count * sizeof *s.index);
    for (size_t i = 0; i < count; i++)
        s.index[i] = i + 1;
    for (size_t i = count - 1; i > 0; i--) {
        size_t k   = (size_t)below(r, (int)i + 1), swap = s.index[i];
        s.index[i] = s.index[k];
        s.index[k] = swap;
    }
    for (size_t i = 0; i < count; i++)
        s.point[i] = s.index[i];
    return laid_out(1, dims, s);
}

/* Memory that looks as the dataset does, with the same elements selected. */
static Memory like_the_file(const Selection *file, size_t elements)
{
    Memory m = {.space = H5S_ALL, .elements = elements, .index = malloc((file->count + 1) * sizeof *m.index)};
    if (file->count)
        memcpy(m.index, file->index, file->count * sizeof *m.index);
    return m;
}

Memory memory_draw(Random *r, const Selection *file, size_t elements, hid_t *file_space)
{
    int what = below(r, 100);
    if (file->kind == ALL && chance(r, 50)) {
        H5Sclose(*file_space);
        *file_space = H5S_ALL;
    }
    if (what < 20 || (file->kind == ALL && what < 40)) {
        cover("memory.all");
        return like_the_file(file, elements);
    }
    if (file->count < 2 || what < 45) {
        bool block = file->count && chance(r, 40);
        cover(block ? "memory.block" : file->count ? "memory.row" : "memory.none");
        return memory_row(file->count, block);
    }
    if (what < 60) {
        cover("memory.gaps");
        return with_gaps(r, file->count);
    }
    if (what < 75) {
        cover("memory.guards");
        return with_guards(r, file->count);
    }
    if (what < 87 || file->count > 300) {
        cover("memory.pieces");
        return two_pieces(r, file->count);
    }
    cover("memory.points");
    return shuffled(r, file->count);
}

void memory_free(Memory *m)
{
    if (m->space != H5S_ALL && m->space != H5S_BLOCK)
        H5Sclose(m->space);
    free(m->index);
}
