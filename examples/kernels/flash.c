/* FLASH I/O: the files of an adaptive-mesh hydrodynamics code.
 *   checkpoint  24 unknowns in double precision; blocks have guard cells in memory, which stay there
 *   plot        4 of them in single precision, at cell centres
 *   corners     the same, at cell corners
 * In memory the variable is the slowest index, or the fastest, as in FLASH itself. All files carry the tree,
 * the coordinates, the header that rank 0 writes, and each unknown its range as attributes. */
#include "kernel.h"

enum { UNKNOWNS = 24, PLOTTED = 4 };

static const char *const names[UNKNOWNS] = {
    "dens", "velx", "vely", "velz", "pres", "ener", "temp", "eint", "gamc", "game", "enuc", "gpot",
    "he4 ", "c12 ", "o16 ", "ne20", "mg24", "si28", "s32 ", "ar36", "ca40", "ti44", "cr48", "fe52",
};

typedef struct {
    hsize_t mine, start, total, cells, guard;
} Blocks;

static void header(Run *r, hid_t location, const Blocks *b, int variables)
{
    struct {
        int32_t blocks, steps;
        double time, timestep;
    } parameters = {(int32_t) b->total, r->step, 0.1 * r->step, 1e-3};
    hid_t type = (hid_t) OK(H5Tcreate(H5T_COMPOUND, sizeof parameters));
    OK(H5Tinsert(type, "total blocks", 0, H5T_NATIVE_INT32));
    OK(H5Tinsert(type, "number of steps", 4, H5T_NATIVE_INT32));
    OK(H5Tinsert(type, "time", 8, H5T_NATIVE_DOUBLE));
    OK(H5Tinsert(type, "timestep", 16, H5T_NATIVE_DOUBLE));
    root_dataset(r, location, "simulation parameters", type, 1, (hsize_t[]){1}, &parameters);
    H5Tclose(type);

    char text[UNKNOWNS][4];
    for (int i = 0; i < variables; i++) memcpy(text[i], names[i], 4);
    hid_t name = (hid_t) OK(H5Tcopy(H5T_C_S1));
    OK(H5Tset_size(name, 4));
    OK(H5Tset_strpad(name, H5T_STR_NULLPAD));
    root_dataset(r, location, "unknown names", name, 2, (hsize_t[]){(hsize_t) variables, 1}, text);
    H5Tclose(name);

    int32_t version = 7;
    root_dataset(r, location, "file format version", H5T_NATIVE_INT32, 1, (hsize_t[]){1}, &version);
}

/* The datasets of the mesh: rows for blocks, some columns. */
static void mesh(Run *r, hid_t location, const Blocks *b)
{
    static const struct {
        const char *name;
        int real, dims_count;
        hsize_t columns[2];
    } table[] = {
        {"refine level", 0, 1, {1, 1}},     {"node type", 0, 1, {1, 1}},   {"gid", 0, 2, {15, 1}},
        {"processor number", 0, 1, {1, 1}}, {"coordinates", 1, 2, {3, 1}}, {"block size", 1, 2, {3, 1}},
        {"bounding box", 1, 3, {3, 2}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        hsize_t columns = table[i].columns[0] * table[i].columns[1];
        hsize_t dims[] = {b->total, table[i].columns[0], table[i].columns[1]};
        hsize_t start[] = {b->start, 0, 0}, count[] = {b->mine, table[i].columns[0], table[i].columns[1]};
        field_block(r, location, table[i].name, table[i].real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32,
                    table[i].dims_count, dims, start, count,
                    buffer(r, UNKNOWNS + (int) i, b->mine * columns * 8));
    }
}

static void range(Run *r, const Field *f, int variable)
{
    double low = -variable, high = variable + 0.5;
    attribute(r, f->id, "minimum", H5T_NATIVE_DOUBLE, 1, &low);
    attribute(r, f->id, "maximum", H5T_NATIVE_DOUBLE, 1, &high);
}

static hid_t unknown_in_memory(const Blocks *b, int fastest, hsize_t variable)
{
    hsize_t n = b->cells, g = b->guard, edge = n + 2 * g;
    if (fastest)
        return block_space(5, (hsize_t[]){b->mine, edge, edge, edge, UNKNOWNS},
                           (hsize_t[]){0, g, g, g, variable}, (hsize_t[]){b->mine, n, n, n, 1});
    return block_space(5, (hsize_t[]){UNKNOWNS, b->mine, edge, edge, edge}, (hsize_t[]){variable, 0, g, g, g},
                       (hsize_t[]){1, b->mine, n, n, n});
}

static void checkpoint(Run *r, hid_t location, const Blocks *b)
{
    int fastest = !strcmp(r->opt.memory, "fastest");
    hsize_t n = b->cells, edge = n + 2 * b->guard, dims[] = {b->total, n, n, n};
    void *unknowns = buffer(r, 0, UNKNOWNS * b->mine * edge * edge * edge * sizeof(double));
    for (int i = 0; i < UNKNOWNS; i++) {
        Field f = field_begin(r, location, names[i], H5T_NATIVE_DOUBLE, 4, dims);
        if (f.id >= 0) range(r, &f, i);
        move(r, &f, H5T_NATIVE_DOUBLE, unknown_in_memory(b, fastest, (hsize_t) i),
             block_space(4, dims, (hsize_t[]){b->start, 0, 0, 0}, (hsize_t[]){b->mine, n, n, n}), unknowns);
        field_close(r, &f);
    }
}

static void plot(Run *r, hid_t location, const Blocks *b, hsize_t edge)
{
    hsize_t dims[] = {b->total, edge, edge, edge}, start[] = {b->start, 0, 0, 0},
            count[] = {b->mine, edge, edge, edge};
    for (int i = 0; i < PLOTTED; i++)
        field_block(r, location, names[i], H5T_NATIVE_FLOAT, 4, dims, start, count,
                    buffer(r, i, b->mine * edge * edge * edge * sizeof(float)));
}

static void step(Run *r, hid_t location)
{
    const char *form = r->opt.form;
    Blocks b = {.cells = (hsize_t) r->opt.cells, .guard = r->opt.guard < 0 ? 4 : (hsize_t) r->opt.guard};
    b.mine = (hsize_t) r->opt.size / (b.cells * b.cells * b.cells * sizeof(double));
    if (!b.mine) b.mine = 1;
    b.total = b.mine * (hsize_t) r->ranks;
    b.start = b.mine * (hsize_t) r->rank;
    int full = !*form || !strcmp(form, "checkpoint");
    header(r, location, &b, full ? UNKNOWNS : PLOTTED);
    mesh(r, location, &b);
    if (full) checkpoint(r, location, &b);
    else if (!strcmp(form, "plot")) plot(r, location, &b, b.cells);
    else if (!strcmp(form, "corners")) plot(r, location, &b, b.cells + 1);
    else fail("flash: --form is checkpoint, plot or corners", __FILE__, __LINE__);
}

const Kernel flash = {
    .name = "flash", .help = "FLASH I/O, blocks of cells; --form checkpoint, plot, corners", .step = step};
