/* New datasets of all kinds. */
#include "differ.h"

#include <unistd.h>

/* What all ranks can write. */
static Type *plain_type(Random *r)
{
    Type *type = type_draw(r, false);
    while (type_is_serial(type)) {
        type_free(type);
        type = type_draw(r, false);
    }
    return type;
}

static void draw_shape(Random *r, Set *set, Wish wish)
{
    set->ndims = wish.large ? 1 : chance(r, 5) && !wish.filled ? 0 : between(r, 1, 3);
    static const int most[] = {0, 400, 30, 9};
    for (int d = 0; d < set->ndims; d++)
        set->dims[d] = (hsize_t)between(r, 1, most[set->ndims]);
    if (wish.large || (set->ndims == 1 && chance(r, 15)))
        set->dims[0] = (hsize_t)between(r, 1000, 6000);
    int what     = below(r, 100);
    set->storage = set->ndims == 0 || what < 40 ? CONTIGUOUS : what < 92 ? CHUNKED : COMPACT;
    if (set->ndims == 0 && chance(r, 20))
        set->storage = COMPACT;
    if (volume(set->ndims, set->dims) * set->file.size > 30000 && set->storage == COMPACT)
        set->storage = CONTIGUOUS;
    if ((type_is_variable(set->type) && !wish.serial) || wish.large)
        set->storage = CONTIGUOUS;
    if (wish.filled)
        set->storage = CHUNKED;
    if (set->storage == CONTIGUOUS && chance(r, 15) && !wish.serial && !wish.large && !type_is_serial(set->type))
        set->storage = OUTSIDE;
    for (int d = 0; d < set->ndims; d++) {
        int least     = (int)set->dims[d] / (set->ndims == 1 ? 12 : 5) + 1;
        set->chunk[d] = (hsize_t)between(r, least, (int)set->dims[d] + (chance(r, 20) ? 3 : 0));
        set->max[d]   = set->dims[d];
    }
    if (set->storage != CHUNKED)
        return;
    set->extendible = chance(r, 55);
    for (int d = 0; set->extendible && d < set->ndims; d++) {
        set->max[d] = chance(r, 60) ? H5S_UNLIMITED : set->dims[d] + 20;
        if (set->chunk[d] > set->max[d])
            set->chunk[d] = set->max[d];
    }
    for (int d = 0; !set->extendible && d < set->ndims; d++)
        if (set->chunk[d] > set->dims[d])
            set->chunk[d] = set->dims[d];
    if (set->extendible && chance(r, 10))
        set->dims[below(r, set->ndims)] = 0;
}

/* Native HDF5 loses data of filtered datasets that are extendible, or have fill values or allocation times of their own. */
static void set_filters(Random *r, Set *set, hid_t dcpl, Wish wish)
{
    set->filtered = set->storage == CHUNKED && !set->extendible && chance(r, 40) && !type_is_variable(set->type) && !wish.filled;
    int which     = between(r, 1, 7);
    if (!set->filtered)
        return;
    say("    filters %d", which);
    if (which & 1)
        OK(H5Pset_shuffle(dcpl));
    if (which & 2)
        OK(H5Pset_deflate(dcpl, 1));
    if (which & 4)
        OK(H5Pset_fletcher32(dcpl));
}

static void set_fill(Random *r, Set *set, hid_t dcpl, Wish wish)
{
    set->fill = type_is_serial(set->type) ? FILL_ZERO : set->filtered || set->storage == OUTSIDE ? FILL_DEFAULT : (int)below(r, 4);
    if (wish.filled)
        set->fill = chance(r, 70) ? FILL_USER : FILL_ZERO;
    if (set->fill == FILL_NEVER)
        OK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER));
    if (set->fill == FILL_ZERO || (set->fill == FILL_USER && chance(r, 50)))
        OK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC));
    uint64_t salt = next(r);
    if (set->fill != FILL_USER)
        return;
    char *value = calloc(1, set->file.size);
    for (int k = 0; k < set->file.slots; k++) {
        const Slot *slot    = &set->file.slot[k];
        set->fill_value[k] = leaf_number(&slot->rep, mix(salt, (uint64_t)k));
        leaf_put(&slot->rep, set->fill_value[k], value + slot->offset, H5I_INVALID_HID);
    }
    OK(H5Pset_fill_value(dcpl, set->file.type, value));
    free(value);
}

/* The first rank makes the file before anybody reads; what nobody wrote is unknown. */
static void set_outside(Random *r, Set *set, hid_t dcpl)
{
    char   name[32];
    size_t from = chance(r, 40) ? 16 : 0, bytes = volume(set->ndims, set->dims) * set->file.size;
    snprintf(name, sizeof name, "f%d.%d.raw", set->home->index, set->home->names);
    OK(H5Pset_external(dcpl, name, (off_t)from, (hsize_t)bytes));
    if ((set->home->members & -set->home->members) != 1u << rank)
        return;
    FILE *raw = fopen(name, "wb");
    if (!raw || ftruncate(fileno(raw), (off_t)(from + bytes)) != 0 || fclose(raw) != 0)
        wrong("%s cannot be made", name);
}

static hid_t creation_list(Random *r, Set *set, Wish wish)
{
    static const H5D_alloc_time_t times[] = {H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR};
    hid_t dcpl = ID(H5Pcreate(H5P_DATASET_CREATE));
    if (set->storage == CHUNKED)
        OK(H5Pset_chunk(dcpl, set->ndims, set->chunk));
    if (set->storage == COMPACT)
        OK(H5Pset_layout(dcpl, H5D_COMPACT));
    if (set->storage == OUTSIDE)
        set_outside(r, set, dcpl);
    set_filters(r, set, dcpl, wish);
    int when = below(r, set->storage == CHUNKED ? 4 : 3);
    if (!wish.serial && chance(r, 50))
        when = 0;
    if (when && set->storage != COMPACT && set->storage != OUTSIDE && !set->filtered)
        OK(H5Pset_alloc_time(dcpl, times[when]));
    set->patchy     = wish.serial && set->storage == CHUNKED && times[when] != H5D_ALLOC_TIME_EARLY;
    set->extendible = set->extendible && !set->patchy;
    set_fill(r, set, dcpl, wish);
    if (chance(r, 20))
        OK(H5Pset_obj_track_times(dcpl, false));
    if (chance(r, 10))
        OK(H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    return dcpl;
}

static const char *kind_of(const Set *set)
{
    if (type_is_variable(set->type))
        return "create.variable";
    if (type_is_reference(set->type))
        return "create.reference";
    if (set->storage == COMPACT)
        return "create.compact";
    if (set->storage == OUTSIDE)
        return "create.outside";
    if (set->filtered)
        return "create.filtered";
    return set->storage == CONTIGUOUS ? "create.contiguous" : set->extendible ? "create.extendible" : "create.chunked";
}

/* Its path, also if that leads nowhere yet; and how it is called where it is made. */
static const char *draw_path(Random *r, const File *file, Set *set, Wish wish, int number)
{
    int group = below(r, file->groups + 1);
    if (wish.loose)
        snprintf(set->path, sizeof set->path, "u%d/d%d", file->loose_name, number);
    else if (group > 0 && !wish.serial && !wish.unnamed)
        snprintf(set->path, sizeof set->path, "g%d/d%d", group - 1, number);
    else
        snprintf(set->path, sizeof set->path, "d%d", number);
    return wish.loose ? strchr(set->path, '/') + 1 : set->path;
}

void create_set(Random *r, File *file, Set *set, hid_t where, Wish wish)
{
    memset(set, 0, sizeof *set);
    set->alive  = true;
    set->linked = !wish.unnamed && !wish.loose;
    set->loose  = wish.loose;
    set->home   = file;
    set->id    = program.op * 16 + (int)(set - file->set);
    set->type  = wish.large || wish.filled ? plain_type(r) : type_draw(r, wish.serial);
    bool padded = chance(r, 20);
    set->file  = layout_of(set->type, IN_FILE, padded, *r, NULL);
    draw_shape(r, set, wish);
    hid_t dcpl  = creation_list(r, set, wish);
    const char *name = draw_path(r, file, set, wish, file->names++);
    hid_t space = set->ndims ? ID(H5Screate_simple(set->ndims, set->dims, set->max)) : ID(H5Screate(H5S_SCALAR));
    bool  mine  = wish.serial ? rank == 0 : file->member;
    cover(kind_of(set));
    if (set->file.slot[0].rep.big)
        cover("create.big_endian");
    static const char *const fills[] = {"default", "user", "never", "zero"};
    say("  %s: %s, %d dimensions, %zu elements of %zu bytes, fill %s", set->path, kind_of(set), set->ndims, volume(set->ndims, set->dims),
        set->file.size, fills[set->fill]);
    for (int d = 0; d < set->ndims; d++)
        say("    dimension %d: %llu up to %lld by %llu", d, (unsigned long long)set->dims[d], (long long)set->max[d], (unsigned long long)set->chunk[d]);
    if (!mine)
        set->handle[0] = 1;
    else if (wish.unnamed)
        set->handle[0] = ID(H5Dcreate_anon(where, set->file.type, space, dcpl, H5P_DEFAULT));
    else
        set->handle[0] = ID(H5Dcreate2(where, name, set->file.type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(dcpl);
    set_model(set);
}
