/* What H5Dwrite and H5Dread take: lists, spaces and buffers. */
#include "differ.h"

enum { UNTOUCHED = 0xa5 };

hid_t transfer_list(Random *r, bool collective)
{
    hid_t dxpl       = ID(H5Pcreate(H5P_DATASET_XFER));
    bool  individual = collective && chance(r, 10), small = chance(r, 10);
    int   chunks     = collective && chance(r, 15) ? between(r, 1, 2) : 0, selections = chance(r, 15) ? between(r, 1, 2) : 0;
    OK(H5Pset_dxpl_mpio(dxpl, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (individual)
        OK(H5Pset_dxpl_mpio_collective_opt(dxpl, H5FD_MPIO_INDIVIDUAL_IO));
    if (chunks)
        OK(H5Pset_dxpl_mpio_chunk_opt(dxpl, chunks == 1 ? H5FD_MPIO_CHUNK_ONE_IO : H5FD_MPIO_CHUNK_MULTI_IO));
    if (small)
        OK(H5Pset_buffer(dxpl, 4096, NULL, NULL));
    if (selections)
        OK(H5Pset_selection_io(dxpl, selections == 1 ? H5D_SELECTION_IO_MODE_OFF : H5D_SELECTION_IO_MODE_ON));
    if (individual || chunks || small || selections)
        say("  transfer:%s%s%s%s", individual ? " individual" : "", small ? " small-buffer" : "",
            chunks == 0 ? "" : chunks == 1 ? " chunks-at-once" : " chunk-by-chunk",
            selections == 0 ? "" : selections == 1 ? " no-selections" : " selections");
    return dxpl;
}

hid_t any_handle(Random *r, const Set *set)
{
    int k = below(r, HANDLES);
    return set->handle[k] > 0 ? set->handle[k] : set->handle[1 - k];
}

int draw_sets(Random *r, File *file, int want, bool (*allowed)(const Set *), Set **sets, hid_t *handles)
{
    int count = 0;
    for (int i = 0; i < 4 * want && count < want; i++) {
        Set *set = any_set(r, file, true);
        bool new = set && allowed(set);
        for (int k = 0; k < count; k++)
            new = new && sets[k] != set && goes_with_others(set) && goes_with_others(sets[k]);
        if (!new)
            continue;
        handles[count] = any_handle(r, set);
        sets[count++]  = set;
    }
    return count;
}

static void describe(const Selection *s, int ndims)
{
    static const char *const kinds[] = {"all", "none", "slabs", "points"};
    say("    %s, %zu elements", kinds[s->kind], s->count);
    for (int i = 0; s->kind == SLABS && i < s->slabs; i++)
        for (int d = 0; d < ndims; d++) {
            const Slab *k = &s->slab[i];
            say("      op %d, dimension %d: start %llu, stride %llu, count %llu, block %llu", (int)s->op[i], d, (unsigned long long)k->start[d],
                (unsigned long long)k->stride[d], (unsigned long long)k->count[d], (unsigned long long)k->block[d]);
        }
}

Side side_draw(Random *r, const Transfer *t, hid_t dxpl)
{
    static const char *const kinds[] = {"file.all", "file.none", "file.slabs", "file.points"};
    const Set       *set  = t->set;
    const Selection *part = &t->part[rank];
    const Layout    *look = &t->layout[rank];
    Side             side;
    describe(part, set->ndims);
    cover(part->kind == SLABS && part->slabs > 1 ? "file.union" : kinds[part->kind]);
    side.space = select_space(part, set->ndims, set->dims, set->max);
    if (type_is_variable(set->type))
        side.memory = memory_row(part->count, false);
    else
        side.memory = memory_draw(r, part, volume(set->ndims, set->dims), &side.space);
    if (part->kind == SLABS && part->slabs == 1 && side.memory.space != H5S_ALL && dxpl != H5P_DEFAULT && chance(r, 15)) {
        const Slab *s = &part->slab[0];
        OK(H5Pset_dataset_io_hyperslab_selection(dxpl, (unsigned)set->ndims, H5S_SELECT_SET, s->start, s->stride, s->count, s->block));
        H5Sclose(side.space);
        side.space = H5S_PLIST;
        cover("file.plist");
    }
    say("    memory: %s, %zu of %zu elements, type of %zu bytes%s", side.memory.space == H5S_ALL ? "as the file" : side.memory.space == H5S_BLOCK ? "block" : "space",
        part->count, side.memory.elements, look->size, t->transform[rank] ? ", transform" : "");
    side.buffer = malloc(side.memory.elements * look->size + 1);
    memset(side.buffer, UNTOUCHED, side.memory.elements * look->size + 1);
    return side;
}

void side_free(Side *side)
{
    if (side->space != H5S_ALL && side->space != H5S_PLIST)
        H5Sclose(side->space);
    memory_free(&side->memory);
    free(side->buffer);
}
