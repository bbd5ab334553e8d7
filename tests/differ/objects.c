/* What happens to datasets, groups and attributes between the transfers. All of it is collective. */
#include "differ.h"

static Set *room(File *file)
{
    for (int i = 0; i < SETS_MAX; i++)
        if (!file->set[i].alive)
            return &file->set[i];
    return NULL;
}

int rooms(const File *file)
{
    int count = 0;
    for (int i = 0; i < SETS_MAX; i++)
        count += !file->set[i].alive;
    return count;
}

Set *new_set(Random *r, File *file, Wish wish)
{
    Set *set = room(file);
    if (!set)
        return NULL;
    create_set(r, file, set, wish.loose ? file->loose : file->root, wish);
    /* Native HDF5 lets ranks write to a chunked dataset while others still fill it. */
    if (set_plain(set))
        careful_barrier(file);
    else
        barrier(file);
    return set;
}

void op_create(Random *r, File *file)
{
    now("create in %s", file->name);
    Set *set = new_set(r, file, (Wish){0});
    if (set && chance(r, 60))
        write_set(r, set, set->handle[0]);
}

/* Once more, without asking for its name. */
static hid_t open_by_token(hid_t handle)
{
    H5O_info2_t info;
    cover("open.token");
    OK(H5Oget_info3(handle, &info, H5O_INFO_BASIC));
    return ID(H5Oopen_by_token(handle, info.token));
}

static hid_t open_path(Random *r, hid_t where, const char *path)
{
    bool as_object = chance(r, 35);
    if (as_object)
        cover("open.object");
    return as_object ? ID(H5Oopen(where, path, H5P_DEFAULT)) : ID(H5Dopen2(where, path, H5P_DEFAULT));
}

/* How the dataset is reached: in its own file, through the one that it is mounted on, or as one that is open already. */
static hid_t open_somehow(Random *r, const Set *set)
{
    const File *file    = set->home;
    bool        through = file->parent && chance(r, 70);
    char        path[100];
    if (set_open(set) && (chance(r, 20) || (!set->linked && !set->loose)))
        return open_by_token(any_handle(r, set));
    if (set->loose)
        return open_path(r, file->loose, strchr(set->path, '/') + 1);
    if (!through)
        return open_path(r, file->root, set->path);
    cover("open.mounted");
    snprintf(path, sizeof path, "mnt/%s", set->path);
    return open_path(r, file->parent->root, path);
}

void op_open(Random *r, File *file)
{
    Set *set = any_set(r, file, false);
    int  k   = below(r, HANDLES);
    if (!set || set->handle[k] > 0)
        return;
    now("open %s, handle %d", set->path, k);
    cover(set->handle[1 - k] > 0 ? "open.second" : "open");
    Random mine    = seeded(next(r), 0);
    set->handle[k] = file->member ? open_somehow(&mine, set) : 1;
    barrier(file); /* opening can allocate and fill */
}

void close_handle(Set *set, int k)
{
    if (set->handle[k] > 0 && set->home->member)
        OK(H5Dclose(set->handle[k]));
    set->handle[k] = 0;
}

void close_handles(Set *set)
{
    for (int k = 0; k < HANDLES; k++)
        close_handle(set, k);
}

/* A dataset that no link leads to is gone with its last handle. */
void bury(Set *set)
{
    if (!set->linked && !set->loose && !set_open(set))
        set_forget(set);
}

/* Native HDF5 reads filtered chunks from its cache after collective writes went past it: no handle outlives a transfer. */
void leave_filtered(Set *set)
{
    if (set->filtered) {
        barrier(set->home);
        close_handles(set);
        bury(set);
    }
}

void op_close_set(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set)
        return;
    int k = set->handle[0] > 0 && (set->handle[1] <= 0 || chance(r, 50)) ? 0 : 1;
    now("close %s, handle %d", set->path, k);
    cover("close");
    if (!set->linked)
        careful_barrier(file);
    close_handle(set, k);
    bury(set);
}

/* Writes, opens the dataset anew, and writes again or looks, without a flush between. */
void op_write_again(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    int  k   = set && set->handle[0] > 0 ? 0 : 1;
    if (!set || (!set->linked && !set->loose))
        return;
    now("write %s, open it anew and go on", set->path);
    cover("write.again");
    write_set(r, set, set->handle[k]);
    close_handle(set, k);
    Random mine    = seeded(next(r), 0);
    set->handle[k] = file->member ? open_somehow(&mine, set) : 1;
    program.op++;
    if (chance(r, 70))
        write_set(r, set, set->handle[k]);
    else
        read_set(r, set, set->handle[k]);
}

void unlink_set(Set *set)
{
    File *file = set->home;
    careful_barrier(file);
    if (file->member)
        OK(H5Ldelete(file->root, set->path, H5P_DEFAULT));
    set->linked = false;
    for (int i = 0; i < ATTRS_MAX; i++)
        if (file->attr[i].on == set - file->set)
            file->attr[i].alive = false;
    bury(set);
}

void op_delete(Random *r, File *file)
{
    Set *set = any_set(r, file, false);
    if (!set || !set->linked)
        return;
    now("delete %s%s", set->path, set_open(set) ? ", which is open" : "");
    cover(set_open(set) ? "delete.open" : file->bare ? "delete.without_groups" : "delete");
    unlink_set(set);
}

void op_move(Random *r, File *file)
{
    Set *set = any_set(r, file, false);
    if (!set || !set->linked)
        return;
    char to[80];
    snprintf(to, sizeof to, "d%d", file->names++);
    now("move %s to %s", set->path, to);
    cover("move");
    if (file->member)
        OK(H5Lmove(file->root, set->path, file->root, to, H5P_DEFAULT, H5P_DEFAULT));
    memcpy(set->path, to, sizeof to);
}

/* The attributes go with the copy; the model forgets that. Copies of what is outside would share it. */
void op_copy(Random *r, File *file)
{
    Set  *from = any_set(r, file, false), *to;
    File *into = chance(r, 30) ? any_open_file(r) : file;
    if (!from || !from->linked || type_is_reference(from->type) || from->filtered || from->storage == OUTSIDE || into->members != file->members || !(to = room(into)))
        return;
    char path[80];
    snprintf(path, sizeof path, "d%d", into->names++);
    now("copy %s of %s to %s of %s", from->path, file->name, path, into->name);
    cover(into == file ? "copy" : "copy.across");
    sync_file(file); /* every rank reads all of it */
    if (file->member)
        OK(H5Ocopy(file->root, from->path, into->root, path, H5P_DEFAULT, H5P_DEFAULT));
    size_t elements = volume(from->ndims, from->dims), values = elements * (size_t)from->type->leaves;
    *to        = *from;
    to->home   = into;
    to->id     = program.op * 16 + (int)(to - into->set);
    to->handle[0] = to->handle[1] = 0;
    memcpy(to->path, path, sizeof path);
    to->file.type = H5Tcopy(from->file.type);
    to->type      = type_copy(from->type);
    to->value     = malloc((values + 1) * sizeof *to->value);
    to->writer    = malloc(elements + 1);
    memcpy(to->value, from->value, values * sizeof *to->value);
    memset(to->writer, SYNCED, elements);
    sync_file(into); /* every rank wrote all of it */
}

void op_extent(Random *r, File *file)
{
    Set *set = NULL;
    for (int i = 0; i < 8 && (!set || !set->extendible); i++)
        set = any_set(r, file, true);
    if (!set || !set->extendible)
        return;
    hsize_t dims[DIMS_MAX] = {0};
    bool    shrinks = false;
    for (int d = 0; d < set->ndims; d++) {
        int most = set->max[d] == H5S_UNLIMITED ? (int)set->dims[d] + 12 : (int)set->max[d];
        if (set->ndims == 1 && set->max[d] == H5S_UNLIMITED)
            most += 100;
        dims[d] = chance(r, 40) ? set->dims[d] : (hsize_t)between(r, chance(r, 10) ? 0 : 1, most);
        if (dims[d] < set->dims[d]) /* a chunk that loses a part is filled in native HDF5's cache, where later writes do not go */
            dims[d] -= dims[d] % set->chunk[d];
        shrinks = shrinks || dims[d] < set->dims[d];
    }
    hid_t handle = any_handle(r, set);
    now("extent of %s: %llu %llu %llu", set->path, (unsigned long long)dims[0], (unsigned long long)dims[1], (unsigned long long)dims[2]);
    cover(shrinks ? "extent.shrinks" : "extent.grows");
    if (shrinks || set->filtered)
        sync_file(file); /* every rank rewrites the chunks at the edge */
    if (file->member)
        OK(H5Dset_extent(handle, dims));
    if (shrinks || set->filtered)
        barrier(file);
    else
        careful_barrier(file);
    set_resize(set, dims);
}

void op_group(Random *r, File *file)
{
    (void)r;
    char path[32];
    if (file->groups >= 3)
        return;
    snprintf(path, sizeof path, "g%d", file->groups++);
    now("group %s in %s", path, file->name);
    cover("group");
    if (file->member)
        OK(H5Gclose(ID(H5Gcreate2(file->root, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
}

static void new_attribute(Attr *attr, hid_t on, const char *name)
{
    hsize_t four = 4;
    hid_t   space = H5Screate_simple(1, &four, NULL);
    hid_t   id    = ID(H5Acreate2(on, name, H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT));
    OK(H5Awrite(id, H5T_NATIVE_INT, attr->value));
    OK(H5Aclose(id));
    H5Sclose(space);
}

static void check_attribute(const Attr *attr, hid_t on, const char *name)
{
    int   value[4] = {0};
    hid_t id       = ID(H5Aopen(on, name, H5P_DEFAULT));
    OK(H5Aread(id, H5T_NATIVE_INT, value));
    OK(H5Aclose(id));
    say("  attribute %s: %d %d %d %d", name, value[0], value[1], value[2], value[3]);
    if (memcmp(value, attr->value, sizeof value) != 0)
        wrong("attribute %s is %d ..., not %d ...", name, value[0], attr->value[0]);
}

void op_attribute(Random *r, File *file)
{
    int   k    = below(r, ATTRS_MAX);
    Attr *attr = &file->attr[k];
    char  name[16];
    if (!attr->alive) {
        Set *set   = chance(r, 60) ? any_set(r, file, true) : NULL;
        attr->on   = set && set->linked ? (int)(set - file->set) : -1;
        attr->name = file->names++;
    }
    Set *set = attr->on >= 0 ? &file->set[attr->on] : NULL;
    if (set && !set_open(set))
        return;
    hid_t on = set ? any_handle(r, set) : file->root;
    snprintf(name, sizeof name, "a%d", attr->name);
    int  what = below(r, 3);
    bool new  = !attr->alive;
    for (int i = 0; i < 4; i++)
        attr->value[i] = new || what == 0 ? below(r, 1000) : attr->value[i];
    now("attribute %s %s", name, new ? "new" : what == 0 ? "written anew" : what == 1 ? "read" : "deleted");
    cover("attribute");
    attr->alive = new || what != 2;
    if (!file->member)
        return;
    if (!new && what != 1)
        OK(H5Adelete(on, name));
    if (new || what == 0)
        new_attribute(attr, on, name);
    else if (what == 1)
        check_attribute(attr, on, name);
}

void op_refresh(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set || (set->handle[0] > 0 && set->handle[1] > 0) || !set->linked)
        return;
    hid_t handle = any_handle(r, set);
    now("refresh %s", set->path);
    cover("refresh");
    sync_file(file);
    if (file->member)
        OK(H5Drefresh(handle));
    barrier(file);
}

void op_flush_set(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set)
        return;
    hid_t handle = any_handle(r, set);
    now("flush %s", set->path);
    cover("flush.dataset");
    if (file->member)
        FAILS(H5Dflush(handle)); /* the MPI driver has no flush of single objects */
}

/* What programs ask a dataset. */
void op_look(Random *r, File *file)
{
    Set *set = any_set(r, file, true);
    if (!set)
        return;
    hid_t handle = any_handle(r, set);
    now("look at %s", set->path);
    cover("look");
    if (!file->member)
        return;
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    hsize_t            dims[DIMS_MAX] = {0}, max[DIMS_MAX] = {0};
    hid_t              space = ID(H5Dget_space(handle)), type = ID(H5Dget_type(handle)), dcpl = ID(H5Dget_create_plist(handle));
    OK(H5Dget_space_status(handle, &status));
    H5Sget_simple_extent_dims(space, dims, max);
    say("  status %d, storage %llu, layout %d, size %zu, dims %llu %llu %llu", (int)status,
        (unsigned long long)H5Dget_storage_size(handle), (int)H5Pget_layout(dcpl), H5Tget_size(type), (unsigned long long)dims[0],
        (unsigned long long)dims[1], (unsigned long long)dims[2]);
    for (int d = 0; d < set->ndims; d++)
        if (dims[d] != set->dims[d])
            wrong("dimension %d of %s is %llu, not %llu", d, set->path, (unsigned long long)dims[d], (unsigned long long)set->dims[d]);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
}
