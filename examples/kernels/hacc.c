/* HACC-IO: cosmology particles of 38 bytes in 9 variables, in the ways in which codes lay them out:
 *   soa      a dataset for each variable
 *   packed   an array of packed records, from packed records in memory
 *   padded   the same from C structs with padding: HDF5 converts
 *   members  the same from one array for each variable: nine writes of one member each
 *   columns  a 2-D array of floats, particle by variable, written column by column */
#include "kernel.h"
#include <stddef.h>

enum { VARIABLES = 9 };

typedef struct {
    float xx, yy, zz, vx, vy, vz, phi;
    int64_t pid;
    uint16_t mask;
} Particle;

static const struct {
    const char *name;
    size_t bytes, packed, padded;
} member[VARIABLES] = {
    {"xx", 4, 0, offsetof(Particle, xx)},      {"yy", 4, 4, offsetof(Particle, yy)},
    {"zz", 4, 8, offsetof(Particle, zz)},      {"vx", 4, 12, offsetof(Particle, vx)},
    {"vy", 4, 16, offsetof(Particle, vy)},     {"vz", 4, 20, offsetof(Particle, vz)},
    {"phi", 4, 24, offsetof(Particle, phi)},   {"pid", 8, 28, offsetof(Particle, pid)},
    {"mask", 2, 36, offsetof(Particle, mask)},
};

static hid_t type_of(int i)
{
    return member[i].bytes == 8   ? H5T_NATIVE_INT64
           : member[i].bytes == 2 ? H5T_NATIVE_UINT16
                                  : H5T_NATIVE_FLOAT;
}

static hid_t record_type(int padded)
{
    hid_t type = (hid_t) OK(H5Tcreate(H5T_COMPOUND, padded ? sizeof(Particle) : 38));
    for (int i = 0; i < VARIABLES; i++)
        OK(H5Tinsert(type, member[i].name, padded ? member[i].padded : member[i].packed, type_of(i)));
    return type;
}

static hid_t member_type(int i)
{
    hid_t type = (hid_t) OK(H5Tcreate(H5T_COMPOUND, member[i].bytes));
    OK(H5Tinsert(type, member[i].name, 0, type_of(i)));
    return type;
}

typedef struct {
    hsize_t mine, start, total;
} Particles;

static hid_t all_mine(Particles p)
{
    hsize_t zero = 0;
    return block_space(1, &p.mine, &zero, &p.mine);
}

static void soa(Run *r, hid_t location, Particles p)
{
    for (int i = 0; i < VARIABLES; i++)
        field_block(r, location, member[i].name, type_of(i), 1, &p.total, &p.start, &p.mine,
                    buffer(r, i, p.mine * member[i].bytes));
}

static void records(Run *r, hid_t location, Particles p, int padded)
{
    hid_t in_file = record_type(0), in_memory = record_type(padded);
    Field f = field_begin(r, location, "particles", in_file, 1, &p.total);
    move(r, &f, in_memory, all_mine(p), block_space(1, &p.total, &p.start, &p.mine),
         buffer(r, 0, p.mine * H5Tget_size(in_memory)));
    field_close(r, &f);
    H5Tclose(in_file);
    H5Tclose(in_memory);
}

static void members(Run *r, hid_t location, Particles p)
{
    hid_t in_file = record_type(0);
    Field f = field_begin(r, location, "particles", in_file, 1, &p.total);
    for (int i = 0; i < VARIABLES; i++) {
        hid_t type = member_type(i);
        move(r, &f, type, all_mine(p), block_space(1, &p.total, &p.start, &p.mine),
             buffer(r, i, p.mine * member[i].bytes));
        H5Tclose(type);
    }
    field_close(r, &f);
    H5Tclose(in_file);
}

static void columns(Run *r, hid_t location, Particles p)
{
    hsize_t dims[2] = {p.total, VARIABLES};
    Field f = field_begin(r, location, "particles", H5T_NATIVE_FLOAT, 2, dims);
    for (hsize_t i = 0; i < VARIABLES; i++)
        move(r, &f, H5T_NATIVE_FLOAT, all_mine(p),
             block_space(2, dims, (hsize_t[]){p.start, i}, (hsize_t[]){p.mine, 1}),
             buffer(r, (int) i, p.mine * 4));
    field_close(r, &f);
}

static void step(Run *r, hid_t location)
{
    Particles p = {.mine = (hsize_t) r->opt.size / 4};
    if (!p.mine) p.mine = 1;
    p.total = p.mine * (hsize_t) r->ranks;
    p.start = p.mine * (hsize_t) r->rank;
    const char *form = r->opt.form;
    if (!*form || !strcmp(form, "soa")) soa(r, location, p);
    else if (!strcmp(form, "packed")) records(r, location, p, 0);
    else if (!strcmp(form, "padded")) records(r, location, p, 1);
    else if (!strcmp(form, "members")) members(r, location, p);
    else if (!strcmp(form, "columns")) columns(r, location, p);
    else fail("hacc: --form is soa, packed, padded, members or columns", __FILE__, __LINE__);
}

const Kernel hacc = {
    .name = "hacc", .help = "HACC-IO, particles; --form soa, packed, padded, members, columns", .step = step};
