/* Writing: the buffers, the calls, and what the model knows afterwards. */
#include "differ.h"

static uint64_t stamp(const Transfer *t, int q, size_t element, int leaf)
{
    uint64_t who = t->same ? 99 : (uint64_t)q;
    return mix(mix(program.seed, (uint64_t)program.op), mix((uint64_t)t->set->id * 128 + who, element * LEAVES_MAX + (size_t)leaf));
}

int number_of(const Transfer *t, int q, size_t element, int leaf)
{
    return leaf_number(&t->set->file.slot[leaf].rep, stamp(t, q, element, leaf));
}

static void fill_buffer(const Transfer *t, const Side *side, int q)
{
    const Layout    *look = &t->layout[q];
    const Selection *part = &t->part[q];
    int              less = t->transform[q] ? TRANSFORMED_BY : 0;
    for (size_t i = 0; i < part->count; i++)
        for (int k = 0; k < look->slots; k++) {
            const Slot *slot = &look->slot[k];
            char       *at   = side->buffer + side->memory.index[i] * look->size + slot->offset;
            leaf_put(&slot->rep, number_of(t, q, part->index[i], slot->leaf) - less, at, t->handle);
        }
}

/* What several ranks have written, but not all, is nobody's until a flush. */
static int writer_of(const Transfer *t, unsigned ranks, int q)
{
    if (!t->same || ranks == 1u << q)
        return q;
    return ranks == t->set->home->members ? EVERYBODY : NOBODY;
}

void remember(const Transfer *t, unsigned ranks)
{
    Set *set = t->set;
    for (int q = 0; q < nranks; q++)
        for (size_t i = 0; (ranks >> q & 1) && i < t->part[q].count; i++) {
            size_t element = t->part[q].index[i];
            for (int k = 0; k < t->layout[q].slots; k++) {
                int leaf = t->layout[q].slot[k].leaf;
                set->value[element * (size_t)set->type->leaves + (size_t)leaf] = number_of(t, q, element, leaf);
            }
            set->writer[element] = (int8_t)writer_of(t, ranks, q);
        }
}

/* One call on this rank. What was lent to HDF5 is spoiled afterwards: nobody may look at it any more. */
static void call_write(Random *r, Transfer *t, int count, hid_t dxpl)
{
    Side  side[AT_ONCE];
    hid_t set[AT_ONCE], type[AT_ONCE], space[AT_ONCE], memory[AT_ONCE];
    const void *buffer[AT_ONCE];
    if (t[0].transform[rank])
        OK(H5Pset_data_transform(dxpl, TRANSFORM));
    for (int i = 0; i < count; i++) {
        side[i] = side_draw(r, &t[i], count == 1 && !t[i].open ? dxpl : H5P_DEFAULT);
        fill_buffer(&t[i], &side[i], rank);
        set[i]    = t[i].handle;
        type[i]   = t[i].layout[rank].type;
        space[i]  = side[i].space;
        memory[i] = side[i].memory.space;
        buffer[i] = side[i].buffer;
    }
    if (count == 1)
        OK(H5Dwrite(set[0], type[0], memory[0], space[0], dxpl, buffer[0]));
    else
        OK(H5Dwrite_multi((size_t)count, set, type, memory, space, dxpl, buffer));
    for (int i = 0; i < count; i++) {
        memset(side[i].buffer, 0x5a, side[i].memory.elements * t[i].layout[rank].size);
        side_free(&side[i]);
    }
}

static unsigned some_of(Random *r, unsigned ranks)
{
    unsigned some = (unsigned)next(r) & ranks;
    return some ? some : ranks & -ranks;
}

/* Filtered data is written collectively only, and so is what HDF5 counts as metadata. Where metadata is read
 * collectively, no rank can look for its chunks alone. */
static bool must_be_collective(const Set *set)
{
    return set->filtered || set->storage == COMPACT || (set->home->all_collective && set->storage == CHUNKED);
}

static void write_together(Random *r, Set **sets, hid_t *handles, int count)
{
    File    *file       = sets[0]->home;
    bool     collective = chance(r, 60), sync = false;
    unsigned ranks      = file->members;
    Transfer t[AT_ONCE];
    memset(t, 0, sizeof t);
    for (int i = 0; i < count; i++)
        collective = collective || must_be_collective(sets[i]);
    if (!collective)
        ranks = chance(r, 40) ? ranks : some_of(r, ranks);
    now("write %d datasets %s, ranks %x", count, collective ? "collectively" : "independently", ranks);
    cover(count > 1 ? (collective ? "write_multi.collective" : "write_multi.independent") : collective ? "write.collective" : "write.independent");
    for (int i = 0; i < count; i++) {
        if (count > 1 && sets[i]->storage == OUTSIDE)
            cover(collective ? "write_multi.collective.outside" : "write_multi.independent.outside");
        t[i].set    = sets[i];
        t[i].handle = handles[i];
        /* A rank that lags may still be reading. */
        if (!collective && sets[i]->readers && __builtin_popcount(sets[i]->readers | ranks) > 1)
            sync = true;
        plan_write(r, &t[i], ranks, collective, &sync);
        for (int q = 0; q < nranks; q++) /* one list serves the whole call */
            t[i].transform[q] = count == 1 && t[i].transform[q];
    }
    hid_t  dxpl = transfer_list(r, collective); /* ranks that disagree about it would hang */
    Random mine = seeded(next(r), (uint64_t)rank);
    if (file->member) {
        if (sync) {
            OK(H5Fflush(handles[0], H5F_SCOPE_LOCAL));
            barrier(file);
        }
        if (ranks >> rank & 1)
            call_write(&mine, t, count, dxpl);
    }
    if (sync)
        file_synced(file);
    for (int i = 0; i < count; i++) {
        remember(&t[i], ranks);
        transfer_free(&t[i]);
        leave_filtered(sets[i]);
    }
    H5Pclose(dxpl);
    if (file->atomic) {
        barrier(file);
        file_synced(file);
    }
}

/* With nothing to write, native HDF5 stumbles over chunks that are not there. */
bool can_be_written(const Set *set)
{
    return !type_is_serial(set->type) && !set->patchy && volume(set->ndims, set->dims);
}

void write_set(Random *r, Set *set, hid_t handle)
{
    if (can_be_written(set))
        write_together(r, &set, &handle, 1);
}

/* Calls for several datasets are worth more where one of them is never captured. */
static bool some_outside(const File *file)
{
    for (int i = 0; i < SETS_MAX; i++)
        if (set_open(&file->set[i]) && file->set[i].storage == OUTSIDE)
            return true;
    return false;
}

void op_write(Random *r, File *file)
{
    Set  *sets[AT_ONCE];
    hid_t handles[AT_ONCE];
    int   want  = chance(r, some_outside(file) ? 40 : 75) ? 1 : between(r, 2, AT_ONCE);
    int   count = draw_sets(r, file, want, can_be_written, sets, handles);
    if (count)
        write_together(r, sets, handles, count);
}

void write_over(Random *r, Set *set, hid_t handle, bool one)
{
    File    *file = set->home;
    Transfer t    = {.set = set, .handle = handle, .open = true};
    program.op++;
    plan_over(r, &t, one);
    hid_t  dxpl = transfer_list(r, true);
    Random mine = seeded(next(r), (uint64_t)rank);
    if (file->member)
        call_write(&mine, &t, 1, dxpl);
    remember(&t, file->members);
    transfer_free(&t);
    H5Pclose(dxpl);
}

/* All ranks write parts by themselves; in one call with a dataset that is never captured, if one is open. */
static void write_over_alone(Random *r, Set *set, hid_t handle)
{
    File    *file = set->home;
    Transfer t[2] = {{.set = set, .handle = handle, .open = true}, {0}};
    int      count = 1;
    for (int i = 0; i < SETS_MAX && count == 1; i++)
        if (set_open(&file->set[i]) && file->set[i].storage == OUTSIDE)
            t[count++] = (Transfer){.set = &file->set[i], .handle = any_handle(r, &file->set[i])};
    program.op++;
    cover(count > 1 ? "overwrite.alone.outside" : "overwrite.alone");
    for (int i = 0; i < count; i++) {
        plan_over(r, &t[i], false);
        for (int q = 0; q < nranks; q++) /* one list serves the whole call */
            t[i].transform[q] = count == 1 && t[i].transform[q];
    }
    hid_t  dxpl = transfer_list(r, false);
    Random mine = seeded(next(r), (uint64_t)rank);
    barrier(file);
    if (file->member)
        call_write(&mine, t, count, dxpl);
    for (int i = 0; i < count; i++) {
        remember(&t[i], file->members);
        transfer_free(&t[i]);
    }
    H5Pclose(dxpl);
}

void flush_and_meet(File *file, hid_t handle)
{
    if (file->member) {
        OK(H5Fflush(handle, H5F_SCOPE_LOCAL));
        barrier(file);
    }
    file_synced(file);
}

bool can_be_overwritten(const Set *set)
{
    return can_be_written(set) && set_plain(set) && type_is_numeric(set->type) && !set->home->atomic;
}

/* One rank writes all of a dataset, then all ranks write parts of it, without a flush between, collectively or by themselves: the
 * later call counts, also if some look at their parts at once. */
void op_overwrite(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set || !can_be_overwritten(set))
        return;
    hid_t handle = any_handle(r, set);
    now("one rank writes all of %s, then all their parts", set->path);
    cover("overwrite");
    flush_and_meet(file, handle);
    write_over(r, set, handle, true);
    if (chance(r, 40) && !must_be_collective(set))
        write_over_alone(r, set, handle);
    else {
        write_over(r, set, handle, false);
        if (chance(r, 30))
            write_over(r, set, handle, false);
    }
    if (chance(r, 70))
        read_set(r, set, handle);
    flush_and_meet(file, handle);
}

/* Calls that HDF5 refuses: no byte of them may arrive. */
void op_refused(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set || set->ndims == 0 || volume(set->ndims, set->dims) < 2)
        return;
    int   what   = type_is_serial(set->type) ? 0 : between(r, 1, 3);
    hid_t handle = any_handle(r, set), dxpl = transfer_list(r, true);
    now("a write to %s that is refused, %d", set->path, what);
    cover("refused");
    Selection all   = select_all(set->ndims, set->dims);
    hid_t     space = select_space(&all, set->ndims, set->dims, NULL);
    hsize_t   one[DIMS_MAX] = {1, 1, 1};
    hid_t     single = H5Screate_simple(1, one, NULL);
    char     *buffer = calloc(all.count, set->file.size + sizeof(hvl_t));
    if (what == 3) /* beyond the end */
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, set->dims, NULL, one, NULL));
    if (!file->member)
        say("  refused");
    else if (what == 0) /* not with MPI */
        FAILS(H5Dwrite(handle, set->file.type, H5S_ALL, H5S_ALL, dxpl, buffer));
    else if (what == 1) /* no such conversion */
        FAILS(H5Dwrite(handle, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, dxpl, buffer));
    else /* other numbers of elements in memory and in the file, or elements that are not there */
        FAILS(H5Dwrite(handle, set->file.type, single, space, dxpl, buffer));
    free(buffer);
    H5Sclose(space);
    H5Sclose(single);
    H5Pclose(dxpl);
    select_free(&all);
}

/* By rank 0 alone, in a file that it has opened without MPI; all of it, or a part. */
void write_serially(Random *r, Set *set, hid_t handle)
{
    Transfer t = {.set = set, .handle = handle};
    bool     all = type_is_variable(set->type) || chance(r, 40);
    uint64_t salt = next(r);
    Random   mine = seeded(salt, 0);
    t.part[0]     = all ? select_all(set->ndims, set->dims) : select_draw(&mine, set->ndims, set->dims, false);
    t.layout[0]   = layout_of(set->type, EXACT, false, mine, &set->file);
    if (rank == 0) {
        Side side = side_draw(&mine, &t, H5P_DEFAULT);
        fill_buffer(&t, &side, 0);
        OK(H5Dwrite(handle, t.layout[0].type, side.memory.space, side.space, H5P_DEFAULT, side.buffer));
        if (type_is_variable(set->type) && t.part[0].count)
            OK(H5Treclaim(t.layout[0].type, side.memory.space, H5P_DEFAULT, side.buffer));
        side_free(&side);
    }
    remember(&t, 1);
    transfer_free(&t);
}
