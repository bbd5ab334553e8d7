/* Selections: drawn, told to HDF5, and worked out here without it, element by element in the order of transfer. */
#include "differ.h"

enum { POINTS_MAX = 40 };

size_t volume(int ndims, const hsize_t *dims)
{
    size_t n = 1;
    for (int d = 0; d < ndims; d++)
        n *= (size_t)dims[d];
    return n;
}

void select_free(Selection *s)
{
    free(s->point);
    free(s->index);
    memset(s, 0, sizeof *s);
}

Selection select_none(void)
{
    Selection s = {.kind = NONE};
    return s;
}

Selection select_all(int ndims, const hsize_t *dims)
{
    Selection s = {.kind = ALL, .count = volume(ndims, dims)};
    if (s.count == 0)
        return select_none(); /* native HDF5 stumbles over all of nothing */
    s.index     = malloc((s.count + 1) * sizeof *s.index);
    for (size_t i = 0; i < s.count; i++)
        s.index[i] = i;
    return s;
}

static bool in_slab(const Slab *slab, int ndims, const hsize_t *at)
{
    for (int d = 0; d < ndims; d++) {
        if (at[d] < slab->start[d])
            return false;
        hsize_t off = at[d] - slab->start[d];
        if (off / slab->stride[d] >= slab->count[d] || off % slab->stride[d] >= slab->block[d])
            return false;
    }
    return true;
}

static bool in_slabs(const Selection *s, int ndims, const hsize_t *at)
{
    bool in = false;
    for (int i = 0; i < s->slabs; i++) {
        bool also = in_slab(&s->slab[i], ndims, at);
        switch (s->op[i]) {
            case H5S_SELECT_OR: in = in || also; break;
            case H5S_SELECT_AND: in = in && also; break;
            case H5S_SELECT_XOR: in = in != also; break;
            case H5S_SELECT_NOTB: in = in && !also; break;
            default: in = also;
        }
    }
    return in;
}

/* The elements of hyperslabs, in the order of the dataset. */
static void work_out(Selection *s, int ndims, const hsize_t *dims)
{
    size_t n = volume(ndims, dims);
    s->index = malloc((n + 1) * sizeof *s->index);
    s->count = 0;
    for (size_t i = 0; i < n; i++) {
        hsize_t at[DIMS_MAX];
        size_t  left = i;
        for (int d = ndims - 1; d >= 0; d--) {
            at[d] = left % dims[d];
            left /= dims[d];
        }
        if (in_slabs(s, ndims, at))
            s->index[s->count++] = i;
    }
}

Selection select_slab(int ndims, const hsize_t *dims, Slab slab)
{
    Selection s = {.kind = SLABS, .slabs = 1, .slab = {slab}, .op = {H5S_SELECT_SET}};
    for (int d = 0; d < ndims; d++)
        if (slab.count[d] == 0 || slab.block[d] == 0)
            return select_none();
    work_out(&s, ndims, dims);
    return s;
}

static Slab draw_slab(Random *r, int ndims, const hsize_t *dims)
{
    Slab slab;
    for (int d = 0; d < ndims; d++) {
        int size      = (int)dims[d];
        int start     = chance(r, 30) ? 0 : below(r, size);
        int room      = size - start;
        int block     = chance(r, 60) ? between(r, 1, room < 4 ? room : 4) : between(r, 1, room);
        int stride    = block + (chance(r, 40) ? 0 : below(r, 4));
        int fit       = (room - block) / stride + 1;
        slab.start[d]  = (hsize_t)start;
        slab.block[d]  = (hsize_t)block;
        slab.stride[d] = (hsize_t)stride;
        slab.count[d]  = (hsize_t)(chance(r, 50) ? fit : between(r, 1, fit));
    }
    return slab;
}

static Selection draw_slabs(Random *r, int ndims, const hsize_t *dims)
{
    static const H5S_seloper_t op[] = {H5S_SELECT_OR, H5S_SELECT_OR, H5S_SELECT_XOR, H5S_SELECT_NOTB, H5S_SELECT_AND};
    Selection                  s    = {.kind = SLABS, .slabs = chance(r, 60) ? 1 : between(r, 2, 4)};
    for (int i = 0; i < s.slabs; i++) {
        s.slab[i] = draw_slab(r, ndims, dims);
        s.op[i]   = i == 0 ? H5S_SELECT_SET : op[below(r, 5)];
    }
    work_out(&s, ndims, dims);
    return s;
}

static bool among(const size_t *index, size_t count, size_t which)
{
    for (size_t i = 0; i < count; i++)
        if (index[i] == which)
            return true;
    return false;
}

static Selection draw_points(Random *r, int ndims, const hsize_t *dims, bool repeated)
{
    Selection s    = {.kind = POINTS};
    size_t    n    = volume(ndims, dims);
    int       want = between(r, 1, n < POINTS_MAX ? (int)n : POINTS_MAX);
    s.point        = malloc((size_t)want * (size_t)ndims * sizeof *s.point);
    s.index        = malloc((size_t)want * sizeof *s.index);
    for (int i = 0; i < want; i++) {
        size_t which = (size_t)below(r, (int)n);
        if (!repeated && among(s.index, s.count, which))
            continue;
        s.index[s.count] = which;
        for (int d = ndims - 1; d >= 0; d--) {
            s.point[s.count * (size_t)ndims + (size_t)d] = which % dims[d];
            which /= dims[d];
        }
        s.count++;
    }
    return s;
}

Selection select_draw(Random *r, int ndims, const hsize_t *dims, bool repeated)
{
    int what = below(r, 100);
    if (what < 8)
        return select_none();
    if (ndims == 0 || what < 20 || volume(ndims, dims) == 0)
        return select_all(ndims, dims);
    return what < 80 ? draw_slabs(r, ndims, dims) : draw_points(r, ndims, dims, repeated);
}

hid_t select_space(const Selection *s, int ndims, const hsize_t *dims, const hsize_t *max)
{
    hid_t space = ndims ? H5Screate_simple(ndims, dims, max) : H5Screate(H5S_SCALAR);
    if (s->kind == NONE)
        OK(H5Sselect_none(space));
    if (s->kind == POINTS)
        OK(H5Sselect_elements(space, H5S_SELECT_SET, s->count, s->point));
    for (int i = 0; s->kind == SLABS && i < s->slabs; i++) {
        const Slab *k = &s->slab[i];
        OK(H5Sselect_hyperslab(space, s->op[i], k->start, k->stride, k->count, k->block));
    }
    return space;
}
