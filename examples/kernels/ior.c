/* IOR's pattern: many calls of --transfer bytes each on one dataset. Segmented: a rank's transfers follow
 * each other in the file. Strided: the transfers of all ranks alternate. */
#include "kernel.h"

static void step(Run *r, hid_t location)
{
    int strided = !strcmp(r->opt.form, "strided");
    if (*r->opt.form && !strided && strcmp(r->opt.form, "segmented"))
        fail("ior: --form is segmented or strided", __FILE__, __LINE__);
    hsize_t transfer = (hsize_t) r->opt.transfer / 8, calls, rank = (hsize_t) r->rank,
            ranks = (hsize_t) r->ranks, zero = 0;
    if (!transfer) transfer = 1;
    calls = (hsize_t) r->opt.size / 8 / transfer;
    if (!calls) calls = 1;
    hsize_t total = transfer * calls * ranks;
    char *data = buffer(r, 0, transfer * calls * 8);
    Field f = field_begin(r, location, "data", H5T_NATIVE_INT64, 1, &total);
    for (hsize_t i = 0; i < calls; i++) {
        hsize_t start = transfer * (strided ? i * ranks + rank : rank * calls + i);
        move(r, &f, H5T_NATIVE_INT64, block_space(1, &transfer, &zero, &transfer),
             block_space(1, &total, &start, &transfer), data + i * transfer * 8);
    }
    field_close(r, &f);
}

const Kernel ior = {
    .name = "ior", .help = "IOR, many transfers; --form segmented, strided; --transfer", .step = step};
