/* Datasets and groups without a name: they are gone when they are closed, unless they get one before. */
#include "differ.h"

static void name_set(Set *set)
{
    File *file   = set->home;
    hid_t handle = set->handle[0] > 0 ? set->handle[0] : set->handle[1];
    char  path[32];
    snprintf(path, sizeof path, "d%d", file->names++);
    now("link %s as %s", set->path, path);
    if (file->member)
        OK(H5Olink(handle, file->root, path, H5P_DEFAULT, H5P_DEFAULT));
    snprintf(set->path, sizeof set->path, "%s", path);
    set->linked = true;
}

/* Its space is free again, and may be the next dataset's. */
static void close_unnamed(Random *r, Set *set)
{
    File *file = set->home;
    now("close %s, which has no name", set->path);
    careful_barrier(file);
    close_handles(set);
    bury(set);
    if (chance(r, 60))
        refill(r, file);
}

void op_unnamed(Random *r, File *file)
{
    now("create without a name in %s", file->name);
    Set *set = new_set(r, file, (Wish){.unnamed = true, .large = chance(r, 30)});
    if (!set)
        return;
    cover("unnamed");
    if (chance(r, 80))
        write_set(r, set, set->handle[0]);
    if (!set->alive)
        return; /* filtered ones are closed after each transfer */
    int what = below(r, 3);
    if (what == 0)
        close_unnamed(r, set);
    else if (what == 1)
        name_set(set);
    cover(what == 0 ? "unnamed.closed" : what == 1 ? "unnamed.linked" : "unnamed.kept");
}

/* A name for what has none, or none any more. */
void op_link(Random *r, File *file)
{
    Set *set = NULL;
    for (int i = 0; i < 8 && (!set || set->linked || set->loose); i++)
        set = any_set(r, file, true);
    if (!set || set->linked || set->loose)
        return;
    cover("link");
    name_set(set);
    if (chance(r, 50))
        write_set(r, set, any_handle(r, set));
}

static void new_loose(File *file)
{
    file->loose_name = file->names++;
    now("group without a name in %s", file->name);
    cover("loose");
    file->loose = file->member ? ID(H5Gcreate_anon(file->root, H5P_DEFAULT, H5P_DEFAULT)) : 1;
}

/* The datasets in it have a path from now on, or no link any more. */
static void leave_loose(File *file, bool linked)
{
    if (file->member)
        OK(H5Gclose(file->loose));
    file->loose = 0;
    for (int i = 0; i < SETS_MAX; i++) {
        Set *set = &file->set[i];
        if (!set->loose)
            continue;
        set->loose  = false;
        set->linked = linked;
        bury(set);
    }
}

static void name_loose(File *file)
{
    char path[16];
    snprintf(path, sizeof path, "u%d", file->loose_name);
    now("link the group as %s", path);
    cover("loose.linked");
    if (file->member)
        OK(H5Olink(file->loose, file->root, path, H5P_DEFAULT, H5P_DEFAULT));
    leave_loose(file, true);
}

void close_loose(File *file)
{
    if (!file->loose)
        return;
    now("close the group without a name");
    cover("loose.closed");
    careful_barrier(file);
    leave_loose(file, false);
}

void op_loose(Random *r, File *file)
{
    int what = below(r, 3);
    if (!file->loose)
        new_loose(file);
    else if (what == 0) {
        name_loose(file);
        return;
    } else if (what == 1) {
        close_loose(file);
        refill(r, file);
        return;
    }
    for (int i = 0, n = between(r, 1, 2); i < n; i++) {
        Set *set = new_set(r, file, (Wish){.loose = true});
        if (set && chance(r, 80))
            write_set(r, set, set->handle[0]);
    }
    if (chance(r, 35))
        name_loose(file);
}
