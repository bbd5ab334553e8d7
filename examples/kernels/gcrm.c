/* GCRM-IO: a climate model on a geodesic grid, strong scaling: --size is of the whole mesh, however many
 * ranks. The sphere is ten panels; a rank owns a part of each, so it writes ten runs of cells with all their
 * layers. Cells, edges and corners have a variable each. Parts differ by a cell where the panels do not
 * divide evenly, and can be empty. */
#include "kernel.h"

enum { PANELS = 10, LAYERS = 26 };

static void step(Run *r, hid_t location)
{
    static const struct {
        const char *name;
        hsize_t per_cell;
    } table[] = {
        {"temperature", 1},
        {"pressure", 1},
        {"wind", 3},
        {"vorticity", 2},
    };
    hsize_t cells = (hsize_t) r->opt.size / (PANELS * LAYERS * sizeof(float)), start, mine;
    if (!cells) cells = 1;
    share(r, cells, &start, &mine);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        hsize_t k = table[i].per_cell;
        field_block(r, location, table[i].name, H5T_NATIVE_FLOAT, 3, (hsize_t[]){PANELS, cells * k, LAYERS},
                    (hsize_t[]){0, start * k, 0}, (hsize_t[]){PANELS, mine * k, LAYERS},
                    buffer(r, (int) i, (PANELS * mine * k * LAYERS + 1) * sizeof(float)));
    }
}

const Kernel gcrm = {
    .name = "gcrm", .help = "GCRM-IO, ten panels of a geodesic grid, strong scaling", .step = step};
