/* Whole chunks, written and read past all selections. HDF5 does not promise this with several ranks; it works where every chunk has
 * its place already and keeps it: without filters, and not where metadata is read collectively. */
#include "differ.h"

enum { BEYOND = -1 };

static bool has_chunks(const Set *set)
{
    return set->storage == CHUNKED && !set->filtered && !set->home->all_collective && can_be_written(set);
}

static int chunk_count(const Set *set)
{
    int count = 1;
    for (int d = 0; d < set->ndims; d++)
        count *= (int)((set->dims[d] + set->chunk[d] - 1) / set->chunk[d]);
    return count;
}

/* Where a chunk begins. */
static void chunk_start(const Set *set, int number, hsize_t *start)
{
    for (int d = set->ndims - 1; d >= 0; d--) {
        int along = (int)((set->dims[d] + set->chunk[d] - 1) / set->chunk[d]);
        start[d]  = (hsize_t)(number % along) * set->chunk[d];
        number /= along;
    }
}

/* Which element of the dataset is at a place in the chunk. */
static int64_t element_at(const Set *set, const hsize_t *start, size_t place)
{
    hsize_t at[DIMS_MAX];
    int64_t element = 0;
    for (int d = set->ndims - 1; d >= 0; d--) {
        at[d] = start[d] + place % set->chunk[d];
        place /= set->chunk[d];
        if (at[d] >= set->dims[d])
            return BEYOND;
    }
    for (int d = 0; d < set->ndims; d++)
        element = element * (int64_t)set->dims[d] + (int64_t)at[d];
    return element;
}

static size_t chunk_bytes(const Set *set) { return volume(set->ndims, set->chunk) * set->file.size; }

/* What lies beyond the end is the fill value: the dataset may grow. */
static void write_chunk(const Transfer *t, int number)
{
    const Set *set = t->set;
    hsize_t    start[DIMS_MAX];
    char      *buffer = calloc(1, chunk_bytes(set));
    chunk_start(set, number, start);
    for (size_t place = 0; place < volume(set->ndims, set->chunk); place++) {
        int64_t element = element_at(set, start, place);
        for (int k = 0; k < set->file.slots; k++) {
            const Slot *slot  = &set->file.slot[k];
            int         value = element == BEYOND ? set->fill_value[slot->leaf] : number_of(t, rank, (size_t)element, slot->leaf);
            leaf_put(&slot->rep, value, buffer + place * set->file.size + slot->offset, t->handle);
        }
    }
    OK(H5Dwrite_chunk(t->handle, H5P_DEFAULT, 0, start, chunk_bytes(set), buffer));
    memset(buffer, 0x5a, chunk_bytes(set));
    free(buffer);
}

/* The elements of a chunk go to a rank; whether a flush must come first. */
static bool give_chunk(Transfer *t, int number, int q)
{
    const Set *set  = t->set;
    Selection *part = &t->part[q];
    size_t     more = volume(set->ndims, set->chunk);
    bool       sync = false;
    hsize_t    start[DIMS_MAX];
    chunk_start(set, number, start);
    part->index = realloc(part->index, (part->count + more) * sizeof *part->index);
    for (size_t place = 0; place < more; place++) {
        int64_t element = element_at(set, start, place);
        if (element == BEYOND)
            continue;
        sync = sync || (set->writer[element] != SYNCED && set->writer[element] != q);
        part->index[part->count++] = (size_t)element;
    }
    return sync;
}

/* Each rank writes chunks of its own. What others wrote before is flushed first, unless it MAY be written over as it is. */
static void write_chunks(Random *r, Set *set, hid_t handle, bool may)
{
    File    *file  = set->home;
    Transfer t     = {.set = set, .handle = handle};
    int      count = chunk_count(set), *owner = malloc((size_t)count * sizeof *owner);
    unsigned ranks = 0;
    bool     sync  = false;
    now("write chunks of %s directly", set->path);
    cover("chunks.written");
    for (int i = 0; i < count; i++) {
        int q    = below(r, nranks);
        owner[i] = chance(r, 60) && (file->members >> q & 1) ? q : -1;
        if (owner[i] < 0)
            continue;
        ranks |= 1u << q;
        sync = give_chunk(&t, i, q) || sync;
    }
    for (int q = 0; q < nranks; q++)
        t.layout[q] = layout_of(set->type, EXACT, false, *r, &set->file);
    /* A rank that lags may still be reading. */
    if ((sync && !may) || (set->readers && __builtin_popcount(set->readers | ranks) > 1))
        sync_file(file);
    for (int i = 0; i < count; i++)
        if (owner[i] == rank)
            write_chunk(&t, i);
    remember(&t, ranks);
    transfer_free(&t);
    free(owner);
    if (file->atomic) {
        barrier(file);
        file_synced(file);
    }
}

static herr_t call_read_chunk(hid_t handle, const hsize_t *start, void *buffer, size_t bytes)
{
    uint32_t filters = 0;
#if H5_VERSION_GE(2, 0, 0)
    return H5Dread_chunk2(handle, H5P_DEFAULT, start, &filters, buffer, &bytes);
#else
    (void)bytes;
    return H5Dread_chunk(handle, H5P_DEFAULT, start, &filters, buffer);
#endif
}

static void read_chunk(Transfer *t, int number)
{
    const Set *set    = t->set;
    size_t     places = volume(set->ndims, set->chunk);
    Selection *part   = &t->part[rank];
    Side       side   = {.buffer = calloc(1, chunk_bytes(set))};
    hsize_t    start[DIMS_MAX];
    side.memory.index = malloc(places * sizeof *side.memory.index);
    part->index       = malloc(places * sizeof *part->index);
    part->count       = 0;
    chunk_start(set, number, start);
    for (size_t place = 0; place < places; place++) {
        int64_t element = element_at(set, start, place);
        if (element == BEYOND)
            continue;
        side.memory.index[part->count] = place;
        part->index[part->count++]     = (size_t)element;
    }
    OK(call_read_chunk(t->handle, start, side.buffer, chunk_bytes(set)));
    say("  chunk %d: %zu elements, %016llx", number, part->count, (unsigned long long)check_values(t, &side, part, false));
    select_free(part);
    free(side.memory.index);
    free(side.buffer);
}

static void read_chunks(Random *r, Set *set, hid_t handle)
{
    File    *file  = set->home;
    Transfer t     = {.set = set, .handle = handle};
    unsigned ranks = file->members & (chance(r, 50) ? ~0u : (unsigned)next(r));
    Random   mine  = seeded(next(r), (uint64_t)rank);
    now("read chunks of %s directly, ranks %x", set->path, ranks);
    cover("chunks.read");
    set->readers |= ranks;
    t.layout[rank] = layout_of(set->type, EXACT, false, *r, &set->file);
    for (int i = 0, n = between(&mine, 1, 3); i < n && (ranks >> rank & 1); i++)
        read_chunk(&t, below(&mine, chunk_count(set)));
    transfer_free(&t);
}

/* One rank writes all, collectively; then others count where they write chunks. */
static void chunks_after_all(Random *r, Set *set, hid_t handle)
{
    File *file = set->home;
    cover("chunks.after_all");
    flush_and_meet(file, handle);
    write_over(r, set, handle, true);
    barrier(file);
    program.op++;
    write_chunks(r, set, handle, true);
    if (chance(r, 60))
        read_set(r, set, handle);
    flush_and_meet(file, handle);
}

void op_chunks(Random *r, File *file)
{
    Set *set = NULL;
    for (int i = 0; i < 8 && (!set || !has_chunks(set)); i++)
        set = any_set(r, file, true);
    if (!set || !has_chunks(set))
        return;
    hid_t handle = any_handle(r, set);
    bool  write  = chance(r, 65);
    if (write && can_be_overwritten(set) && chance(r, 70))
        chunks_after_all(r, set, handle);
    else if (write)
        write_chunks(r, set, handle, false);
    if (!write || chance(r, 40))
        read_chunks(r, set, handle);
}
