/* BT-IO: the solution of a block-tridiagonal solver, 5 numbers at each point of a cube, in diagonal
 * multi-partitioning: of q x q x q cells, each of the q x q ranks owns q, no two in the same plane. A rank's
 * part of the file is a union of blocks. Cells have guard points in memory. Ranks beyond the largest square
 * own nothing. */
#include "kernel.h"

static void step(Run *r, hid_t location)
{
    hsize_t q = 1, edge = 1, guard = r->opt.guard < 0 ? 2 : (hsize_t) r->opt.guard;
    while ((q + 1) * (q + 1) <= (hsize_t) r->ranks) q++;
    while ((edge + 1) * (edge + 1) * (edge + 1) * q * 40 <= (hsize_t) r->opt.size) edge++;
    hsize_t n = edge * q, dims[] = {n, n, n, 5}, padded = edge + 2 * guard,
            extent[] = {q, padded, padded, padded, 5};
    hsize_t i = (hsize_t) r->rank / q, j = (hsize_t) r->rank % q;
    int owner = (hsize_t) r->rank < q * q;

    hid_t file = (hid_t) OK(H5Screate_simple(4, dims, NULL));
    OK(H5Sselect_none(file));
    for (hsize_t c = 0; owner && c < q; c++) {
        hsize_t start[] = {c * edge, (i + c) % q * edge, (j + c) % q * edge, 0},
                count[] = {edge, edge, edge, 5};
        OK(H5Sselect_hyperslab(file, H5S_SELECT_OR, start, NULL, count, NULL));
    }
    hid_t memory = block_space(5, extent, (hsize_t[]){0, guard, guard, guard, 0},
                               (hsize_t[]){owner ? q : 0, edge, edge, edge, 5});
    Field f = field_begin(r, location, "u", H5T_NATIVE_DOUBLE, 4, dims);
    move(r, &f, H5T_NATIVE_DOUBLE, memory, file, buffer(r, 0, q * padded * padded * padded * 40));
    field_close(r, &f);
}

const Kernel btio = {
    .name = "btio", .help = "BT-IO, diagonal multi-partitioning of a cube; --guard", .step = step};
