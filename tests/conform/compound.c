/* Compound data: reordered members, subsets, nesting, each written in parts by all ranks. */
#include "conform.h"

typedef struct {
    int    id;
    double x[3];
    float  mass;
    char   tag[8];
} Particle;

enum { N = 20 };

static hid_t vector_of(hid_t base)
{
    hsize_t three = 3;
    return keep(H5Tarray_create2(base, 1, &three));
}

static hid_t particle_in_memory(void)
{
    hid_t type = keep(H5Tcreate(H5T_COMPOUND, sizeof(Particle)));
    RC(H5Tinsert(type, "id", HOFFSET(Particle, id), H5T_NATIVE_INT));
    RC(H5Tinsert(type, "x", HOFFSET(Particle, x), vector_of(H5T_NATIVE_DOUBLE)));
    RC(H5Tinsert(type, "mass", HOFFSET(Particle, mass), H5T_NATIVE_FLOAT));
    RC(H5Tinsert(type, "tag", HOFFSET(Particle, tag), text_type(8)));
    return type;
}

/* Packed, big-endian, members in another order. */
static hid_t particle_in_file(void)
{
    hid_t type = keep(H5Tcreate(H5T_COMPOUND, 8 + 4 + 24 + 4));
    RC(H5Tinsert(type, "tag", 0, text_type(8)));
    RC(H5Tinsert(type, "mass", 8, H5T_IEEE_F32BE));
    RC(H5Tinsert(type, "x", 12, vector_of(H5T_IEEE_F64BE)));
    RC(H5Tinsert(type, "id", 36, H5T_STD_I32BE));
    return type;
}

static void fill_particles(Particle *p)
{
    memset(p, 0, N * sizeof *p);
    for (int i = 0; i < N; i++) {
        p[i].id   = rank * 100 + i;
        p[i].mass = (float)i / 4;
        for (int k = 0; k < 3; k++)
            p[i].x[k] = i + k * 0.1;
        snprintf(p[i].tag, sizeof p[i].tag, "p%d", i % 1000);
    }
}

static hid_t mine(void) { return part1((hsize_t)N * (hsize_t)nranks, (hsize_t)N * (hsize_t)rank, N); }

static void same_layout(void)
{
    Particle p[N], back[N];
    hid_t    file = make_file("s.h5"), type = particle_in_memory();
    hid_t    d = ID(H5Dcreate2(file, "p", type, mine(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    fill_particles(p);
    RC(H5Dwrite(d, type, space1(N), mine(), collective(), p));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, type, space1(N), mine(), collective(), back));
    show_bytes("particles", back, sizeof back);
    hid_t stored = ID(H5Dget_type(d));
    show_type("stored", stored);
    NUM(H5Tequal(stored, type));
    RC(H5Tclose(stored));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void reordered(void)
{
    Particle p[N], back[N];
    hid_t    file = make_file("r.h5"), memory = particle_in_memory(), stored = particle_in_file();
    hid_t    d = ID(H5Dcreate2(file, "p", stored, mine(), H5P_DEFAULT, chunked1(6), H5P_DEFAULT));
    fill_particles(p);
    RC(H5Dwrite(d, memory, space1(N), mine(), collective(), p));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, memory, space1(N), mine(), independent(), back));
    show_bytes("particles", back, sizeof back);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* One member at a time, as structure-of-arrays programs do: the others must be left as they are. */
static void subset_with(hid_t dxpl, hid_t dcpl)
{
    Particle p[N], back[N];
    int      ids[N];
    double   xs[N][3];
    hid_t    file = make_file("u.h5"), memory = particle_in_memory(), stored = particle_in_file();
    hid_t    only_id = keep(H5Tcreate(H5T_COMPOUND, sizeof(int))), only_x = keep(H5Tcreate(H5T_COMPOUND, 3 * sizeof(double)));
    RC(H5Tinsert(only_id, "id", 0, H5T_NATIVE_INT));
    RC(H5Tinsert(only_x, "x", 0, vector_of(H5T_NATIVE_DOUBLE)));
    hid_t d = ID(H5Dcreate2(file, "p", stored, mine(), H5P_DEFAULT, dcpl, H5P_DEFAULT));
    fill_particles(p);
    RC(H5Dwrite(d, memory, space1(N), mine(), dxpl, p));
    for (int i = 0; i < N; i++) {
        ids[i] = -i - rank * 1000;
        for (int k = 0; k < 3; k++)
            xs[i][k] = -(i + k * 0.25);
    }
    RC(H5Dwrite(d, only_id, space1(N), mine(), dxpl, ids));
    RC(H5Dwrite(d, only_x, space1(N), mine(), dxpl, xs));
    memset(ids, 0, sizeof ids);
    RC(H5Dread(d, only_id, space1(N), mine(), dxpl, ids));
    show_ints("ids", ids, N);
    memset(back, 0, sizeof back);
    RC(H5Dread(d, memory, space1(N), mine(), dxpl, back));
    show_bytes("particles", back, sizeof back);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void subset_collective(void) { subset_with(collective(), H5P_DEFAULT); }
static void subset_independent(void) { subset_with(independent(), H5P_DEFAULT); }
static void subset_chunked(void) { subset_with(collective(), chunked1(7)); }

/* The buffer's other members are kept when the transfer list asks for it, or when only some are read. */
static void preserve(void)
{
    Particle back[N];
    int      kept = -1;
    hid_t    file = make_file("k.h5"), memory = particle_in_memory(), dxpl = plist(H5P_DATASET_XFER);
    hid_t    only_id = keep(H5Tcreate(H5T_COMPOUND, sizeof(Particle)));
    hid_t    d = ID(H5Dcreate2(file, "p", particle_in_file(), mine(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tinsert(only_id, "id", HOFFSET(Particle, id), H5T_NATIVE_INT));
    fill_particles(back);
    RC(H5Dwrite(d, memory, space1(N), mine(), independent(), back));
    memset(back, 0x11, sizeof back);
    RC(H5Pset_preserve(dxpl, true));
    kept = H5Pget_preserve(dxpl);
    note("preserve %d", kept);
    RC(H5Dread(d, only_id, space1(N), mine(), dxpl, back));
    show_bytes("particles", back, sizeof back);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

typedef struct {
    short    kind;
    Particle p;
    int      grid[2][3];
} Cell;

static void nested(void)
{
    hsize_t dims[] = {2, 3};
    Cell    cells[6], back[6];
    int     kinds[6];
    hid_t   file = make_file("n.h5"), type = keep(H5Tcreate(H5T_COMPOUND, sizeof(Cell)));
    hid_t   inner = keep(H5Tcreate(H5T_COMPOUND, sizeof(float))), outer = keep(H5Tcreate(H5T_COMPOUND, sizeof(float)));
    float   masses[6];
    RC(H5Tinsert(type, "kind", HOFFSET(Cell, kind), H5T_NATIVE_SHORT));
    RC(H5Tinsert(type, "p", HOFFSET(Cell, p), particle_in_memory()));
    RC(H5Tinsert(type, "grid", HOFFSET(Cell, grid), keep(H5Tarray_create2(H5T_NATIVE_INT, 2, dims))));
    RC(H5Tinsert(inner, "mass", 0, H5T_NATIVE_FLOAT));
    RC(H5Tinsert(outer, "p", 0, inner));
    memset(cells, 0, sizeof cells);
    for (int i = 0; i < 6; i++) {
        cells[i].kind       = (short)i;
        cells[i].p.mass     = (float)i * 2;
        cells[i].grid[1][2] = i;
    }
    hid_t d = ID(H5Dcreate2(file, "cells", type, space1(6), H5P_DEFAULT, chunked1(4), H5P_DEFAULT));
    RC(H5Dwrite(d, type, H5S_ALL, H5S_ALL, collective(), cells));
    memset(back, 0, sizeof back);
    RC(H5Dread(d, type, H5S_ALL, H5S_ALL, collective(), back));
    show_bytes("cells", back, sizeof back);
    RC(H5Dread(d, outer, H5S_ALL, H5S_ALL, collective(), masses));
    show_bytes("inner masses", masses, sizeof masses);
    hid_t kind = keep(H5Tcreate(H5T_COMPOUND, sizeof(int)));
    RC(H5Tinsert(kind, "kind", 0, H5T_NATIVE_INT));
    RC(H5Dread(d, kind, H5S_ALL, H5S_ALL, collective(), kinds));
    show_ints("kinds", kinds, 6);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* A member that the file does not have, and no member in common. */
static void strangers(void)
{
    struct {
        int id, other;
    } some[N];
    hid_t file = make_file("x.h5"), wider = keep(H5Tcreate(H5T_COMPOUND, sizeof some[0])),
          none = keep(H5Tcreate(H5T_COMPOUND, sizeof(int)));
    hid_t d = ID(H5Dcreate2(file, "p", particle_in_file(), space1(N), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Tinsert(wider, "id", 0, H5T_NATIVE_INT));
    RC(H5Tinsert(wider, "other", 4, H5T_NATIVE_INT));
    RC(H5Tinsert(none, "nobody", 0, H5T_NATIVE_INT));
    memset(some, 0x22, sizeof some);
    RC(H5Dread(d, wider, H5S_ALL, H5S_ALL, collective(), some));
    show_bytes("id only", some, sizeof some);
    RC(H5Dread(d, none, H5S_ALL, H5S_ALL, collective(), some));
    RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), some));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

CASES(compound, {"same_layout", same_layout, EVERYWHERE}, {"reordered", reordered, EVERYWHERE},
      {"subset_collective", subset_collective, EVERYWHERE}, {"subset_independent", subset_independent, BOTH_PARALLEL},
      {"subset_chunked", subset_chunked, EVERYWHERE}, {"preserve", preserve, EVERYWHERE}, {"nested", nested, EVERYWHERE},
      {"strangers", strangers, EVERYWHERE})
