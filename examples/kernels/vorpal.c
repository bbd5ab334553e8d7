/* VORPAL-IO: fields on a 3-D grid in H5Block's layout, each rank one block of it. Vectors are three datasets
 * in a group of their own. */
#include "grid.h"

static void vector(Run *r, hid_t blocks, const char *name, const Grid *g, int slot)
{
    char component[32];
    hid_t group = group_begin(r, blocks, name);
    for (int i = 0; i < 3; i++) {
        snprintf(component, sizeof component, "%d", i);
        field_block(r, group, component, H5T_NATIVE_DOUBLE, 3, g->dims, g->start, g->count,
                    buffer(r, slot + i, grid_elements(g) * 8));
    }
    group_close(r, group);
}

static void step(Run *r, hid_t location)
{
    static const char *const names[] = {"E", "B", "J"};
    int vectors = r->opt.vars ? (int) r->opt.vars : 1;
    hsize_t run = r->opt.run ? (hsize_t) r->opt.run / 8 : 64;
    Grid g = grid_of(r, 3, (hsize_t) r->opt.size / 8 ? (hsize_t) r->opt.size / 8 : 1, run ? run : 1);
    hid_t blocks = group_begin(r, location, "Block");
    for (int i = 0; i < vectors && i < 3; i++) vector(r, blocks, names[i], &g, 3 * i);
    group_close(r, blocks);
}

const Kernel vorpal = {
    .name = "vorpal", .help = "VORPAL-IO, 3-D blocks in H5Block's layout; --run", .step = step, .grouped = 1};
