/* Reading, and comparing with the model what may be compared. */
#include "differ.h"

static bool same_number(int got, int expected) { return expected == UNKNOWN || got == expected; }

/* Elements of memory that were not to be read must be as they were. */
static void check_untouched(const Transfer *t, const Side *side)
{
    size_t size = t->layout[rank].size;
    bool  *used = calloc(side->memory.elements + 1, 1);
    for (size_t i = 0; i < t->part[rank].count; i++)
        used[side->memory.index[i]] = true;
    for (size_t i = 0; i < side->memory.elements; i++)
        for (size_t k = 0; !used[i] && k < size; k++)
            if ((unsigned char)side->buffer[i * size + k] != 0xa5) {
                wrong("reading %s changed memory beside it, element %zu", t->set->path, i);
                i = side->memory.elements;
                break;
            }
    free(used);
}

/* Compares, and gives a hash of what is certain. */
uint64_t check_values(const Transfer *t, const Side *side, const Selection *part, bool serially)
{
    const Set    *set  = t->set;
    const Layout *look = &t->layout[rank];
    uint64_t      hash = 1;
    int           less = t->transform[rank] ? TRANSFORMED_BY : 0;
    for (size_t i = 0; i < part->count; i++) {
        size_t element = part->index[i];
        if (!serially && !readable(set, element))
            continue;
        for (int k = 0; k < look->slots; k++) {
            const Slot *slot     = &look->slot[k];
            const char *at       = side->buffer + side->memory.index[i] * look->size + slot->offset;
            int         expected = set->value[element * (size_t)set->type->leaves + (size_t)slot->leaf];
            if (expected == UNKNOWN)
                continue;
            int got = leaf_get(&slot->rep, at, t->handle) - less;
            if (!same_number(got, expected))
                wrong("%s of %s: element %zu, leaf %d is %d, not %d (writer %d)", set->path, set->home->name, element, slot->leaf,
                      got, expected, set->writer[element]);
            hash = mix(hash, mix(element, mix((uint64_t)slot->leaf, (uint64_t)got)));
        }
    }
    return hash;
}

static void call_read(Random *r, Transfer *t, int count, hid_t dxpl)
{
    Side  side[AT_ONCE];
    hid_t set[AT_ONCE], type[AT_ONCE], space[AT_ONCE], memory[AT_ONCE];
    void *buffer[AT_ONCE];
    if (t[0].transform[rank])
        OK(H5Pset_data_transform(dxpl, TRANSFORM));
    for (int i = 0; i < count; i++) {
        side[i]   = side_draw(r, &t[i], count == 1 ? dxpl : H5P_DEFAULT);
        set[i]    = t[i].handle;
        type[i]   = t[i].layout[rank].type;
        space[i]  = side[i].space;
        memory[i] = side[i].memory.space;
        buffer[i] = side[i].buffer;
    }
    if (count == 1)
        OK(H5Dread(set[0], type[0], memory[0], space[0], dxpl, buffer[0]));
    else
        OK(H5Dread_multi((size_t)count, set, type, memory, space, dxpl, buffer));
    for (int i = 0; i < count; i++) {
        say("  %s: %zu elements, %016llx", t[i].set->path, t[i].part[rank].count,
            (unsigned long long)check_values(&t[i], &side[i], &t[i].part[rank], false));
        check_untouched(&t[i], &side[i]);
        if (type_is_variable(t[i].set->type) && t[i].part[rank].count)
            OK(H5Treclaim(type[i], memory[i], H5P_DEFAULT, buffer[i]));
        side_free(&side[i]);
    }
}

/* Where metadata is read collectively, no rank can look for its chunks alone. */
static bool needs_all(const Set *set) { return set->home->all_collective && set->storage == CHUNKED; }

/* Native HDF5 hangs in collective reads of what is filtered or of variable length, if ranks read different amounts. */
static bool needs_none(const Set *set) { return set->filtered || type_is_serial(set->type); }

static void read_together(Random *r, Set **sets, hid_t *handles, int count)
{
    File    *file       = sets[0]->home;
    bool     collective = chance(r, 55);
    unsigned ranks      = file->members;
    for (int i = 0; i < count; i++)
        collective = collective || needs_all(sets[i]);
    for (int i = 0; i < count; i++)
        collective = collective && !needs_none(sets[i]);
    if (!collective && chance(r, 60))
        ranks &= (unsigned)next(r);
    now("read %d datasets %s, ranks %x", count, collective ? "collectively" : "independently", ranks);
    cover(count > 1 ? (collective ? "read_multi.collective" : "read_multi.independent") : collective ? "read.collective" : "read.independent");
    Transfer t[AT_ONCE];
    memset(t, 0, sizeof t);
    for (int i = 0; i < count; i++) {
        t[i].set    = sets[i];
        t[i].handle = handles[i];
        sets[i]->readers |= ranks;
        draw_layouts(r, &t[i], 1u << rank, collective);
        t[i].transform[rank] = count == 1 && t[i].transform[rank];
    }
    hid_t  dxpl = transfer_list(r, collective); /* ranks that disagree about it would hang */
    Random mine = seeded(next(r), (uint64_t)rank);
    for (int i = 0; i < count; i++)
        t[i].part[rank] = chance(&mine, 30) ? select_all(sets[i]->ndims, sets[i]->dims) : select_draw(&mine, sets[i]->ndims, sets[i]->dims, !collective); /* MPI refuses overlaps */
    if (file->member && (ranks >> rank & 1))
        call_read(&mine, t, count, dxpl);
    for (int i = 0; i < count; i++) {
        transfer_free(&t[i]);
        leave_filtered(sets[i]);
    }
    H5Pclose(dxpl);
}

static bool can_be_read(const Set *set)
{
    return volume(set->ndims, set->dims) && !(set->home->all_collective && needs_none(set));
}

void read_set(Random *r, Set *set, hid_t handle)
{
    if (can_be_read(set))
        read_together(r, &set, &handle, 1);
}

void op_read(Random *r, File *file)
{
    Set  *sets[AT_ONCE];
    hid_t handles[AT_ONCE];
    int   want  = chance(r, 80) ? 1 : between(r, 2, AT_ONCE);
    int   count = draw_sets(r, file, want, can_be_read, sets, handles);
    if (count)
        read_together(r, sets, handles, count);
}
