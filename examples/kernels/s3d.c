/* S3D-IO: the restart file of a combustion code. 4-D arrays (species or component, z, y, x) and 3-D ones,
 * split over the ranks in z, y and x, so that a rank's part is a 4-D sub-array; with guard cells in memory if
 * wanted. */
#include "grid.h"

static void array(Run *r, hid_t location, const char *name, hsize_t components, const Grid *g, int slot)
{
    hsize_t guard = r->opt.guard < 0 ? 0 : (hsize_t) r->opt.guard, elements = components;
    hsize_t dims[4] = {components}, start[4] = {0}, count[4] = {components}, extent[4] = {components},
            inner[4] = {0};
    for (int i = 0; i < 3; i++) {
        dims[i + 1] = g->dims[i];
        start[i + 1] = g->start[i];
        count[i + 1] = g->count[i];
        extent[i + 1] = g->count[i] + 2 * guard;
        inner[i + 1] = guard;
        elements *= extent[i + 1];
    }
    int skip = components == 1; /* a scalar has no component dimension */
    Field f = field_begin(r, location, name, H5T_NATIVE_DOUBLE, 4 - skip, dims + skip);
    move(r, &f, H5T_NATIVE_DOUBLE, block_space(4, extent, inner, count),
         block_space(4 - skip, dims + skip, start + skip, count + skip), buffer(r, slot, elements * 8));
    field_close(r, &f);
}

static void step(Run *r, hid_t location)
{
    hsize_t elements = (hsize_t) r->opt.size / 8 ? (hsize_t) r->opt.size / 8 : 1, run = 1;
    while ((run + 1) * (run + 1) * (run + 1) <= elements) run++;
    if (r->opt.run >= 8) run = (hsize_t) r->opt.run / 8;
    Grid g = grid_of(r, 3, elements, run);
    array(r, location, "yspecies", 11, &g, 0);
    array(r, location, "u", 3, &g, 1);
    array(r, location, "pressure", 1, &g, 2);
    array(r, location, "temp", 1, &g, 3);
}

const Kernel s3d = {
    .name = "s3d", .help = "S3D-IO, a restart file of 4-D sub-arrays; --run, --guard", .step = step};
