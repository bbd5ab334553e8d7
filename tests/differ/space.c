/* Space of the file that becomes free and is used again: values of the old must not come over the new. */
#include "differ.h"

/* A dataset whose chunks are filled at once, where there was perhaps another just before. */
void refill(Random *r, File *file)
{
    program.op++;
    now("fill in %s", file->name);
    Set *set = new_set(r, file, (Wish){.filled = true});
    if (!set)
        return;
    cover("refill");
    if (chance(r, 50))
        read_set(r, set, set->handle[0]);
}

/* A dataset is deleted that another follows in the file. */
static void make_hole(Random *r, File *file)
{
    Set *old = new_set(r, file, (Wish){.large = true});
    if (chance(r, 50))
        write_over(r, old, old->handle[0], false);
    new_set(r, file, (Wish){.filled = chance(r, 50)});
    if (chance(r, 50))
        sync_file(file);
    close_handles(old);
    unlink_set(old);
}

/* Much is written by all ranks, and at once HDF5 fills chunks, some of which lie before it and some behind. */
void op_hole(Random *r, File *file)
{
    if (rooms(file) < 4)
        return;
    now("chunks around new data in %s", file->name);
    cover(file->bare ? "hole.without_groups" : "hole");
    make_hole(r, file);
    Set *set = new_set(r, file, (Wish){.large = true});
    write_over(r, set, set->handle[0], false);
    refill(r, file);
    if (chance(r, 60))
        read_set(r, set, set->handle[0]);
}
