/* Tile I/O: 2-D arrays in tiles, one for each rank. With --overlap a tile includes ghost elements of its
 * neighbours, which write them too, with the same values. */
#include "grid.h"

static void step(Run *r, hid_t location)
{
    int vars = r->opt.vars ? (int) r->opt.vars : 1;
    hsize_t run = r->opt.run >= 8 ? (hsize_t) r->opt.run / 8 : 512, ghost = (hsize_t) r->opt.overlap;
    Grid g = grid_of(r, 2, (hsize_t) r->opt.size / 8 ? (hsize_t) r->opt.size / 8 : 1, run);
    for (int i = 0; i < 2; i++) {
        hsize_t end = g.start[i] + g.count[i] + ghost;
        g.start[i] -= g.start[i] < ghost ? g.start[i] : ghost;
        g.count[i] = (end > g.dims[i] ? g.dims[i] : end) - g.start[i];
    }
    for (int i = 0; i < vars; i++) {
        char name[32];
        snprintf(name, sizeof name, "tile%02d", i);
        field_block(r, location, name, H5T_NATIVE_DOUBLE, 2, g.dims, g.start, g.count,
                    buffer(r, i, grid_elements(&g) * 8));
    }
}

const Kernel tile = {.name = "tile", .help = "tile I/O, 2-D tiles; --run, --vars, --overlap", .step = step};
