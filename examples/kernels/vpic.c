/* VPIC-IO: plasma particles in H5Part's layout. Eight variables of each particle, a dataset each in the group
 * of the step; created, written and closed one after the other; each rank's particles are one run of each. */
#include "kernel.h"

static void step(Run *r, hid_t group)
{
    static const char *const names[] = {"x", "y", "z", "px", "py", "pz", "id1", "id2"};
    hsize_t mine = (hsize_t) r->opt.size / 4, start, total;
    if (!mine) mine = 1;
    total = mine * (hsize_t) r->ranks;
    start = mine * (hsize_t) r->rank;
    double time = 0.25 * r->step;
    attribute(r, group, "TimeValue", H5T_NATIVE_DOUBLE, 1, &time);
    for (int i = 0; i < 8; i++)
        field_block(r, group, names[i], i < 6 ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT, 1, &total, &start, &mine,
                    buffer(r, i, mine * 4));
}

const Kernel vpic = {.name = "vpic",
                     .help = "VPIC-IO, 8 variables of particles in H5Part's layout",
                     .step = step,
                     .grouped = 1};
