/* Blocks of a regular grid: how ranks and local sizes are spread over dimensions. */
#ifndef GRID_H
#define GRID_H

#include "kernel.h"

typedef struct {
    int dims_count;
    hsize_t dims[DIMS_MAX], start[DIMS_MAX], count[DIMS_MAX]; /* of the grid, and of this rank's block */
} Grid;

/* A block of `elements` for each rank, `run` of them along the last dimension, the rest spread evenly. */
static inline Grid grid_of(const Run *r, int dims_count, hsize_t elements, hsize_t run)
{
    Grid g = {.dims_count = dims_count};
    int ranks[DIMS_MAX] = {0}, rest = r->rank;
    MPI_Dims_create(r->ranks, dims_count, ranks);
    if (run > elements) run = elements;
    hsize_t rows = elements / run ? elements / run : 1;
    for (int i = 0; i < dims_count; i++) {
        hsize_t edge = 1;
        int left = dims_count - 1 - i; /* dimensions that still share the rows, this one included */
        if (left == 1) edge = rows;
        else
            while (left == 2 && (edge + 1) * (edge + 1) <= rows) edge++;
        g.count[i] = left ? edge : run;
        if (left) rows /= edge;
    }
    for (int i = dims_count - 1; i >= 0; rest /= ranks[i], i--) {
        g.dims[i] = g.count[i] * (hsize_t) ranks[i];
        g.start[i] = g.count[i] * (hsize_t) (rest % ranks[i]);
    }
    return g;
}

static inline hsize_t grid_elements(const Grid *g)
{
    hsize_t n = 1;
    for (int i = 0; i < g->dims_count; i++) n *= g->count[i];
    return n;
}

#endif
