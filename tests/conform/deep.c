/* Volume: deep trees, many objects open at once, many cycles; what leaks or grows shows up here. */
#include "conform.h"

static void deep_tree(void)
{
    enum { DEPTH = 40 };
    char  name[256] = "";
    hid_t file = make_file("d.h5"), g[DEPTH + 1];
    g[0] = file;
    for (int i = 1; i <= DEPTH; i++)
        g[i] = H5Gcreate2(g[i - 1], i % 2 ? "l" : "r", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    NUM(H5Iget_name(g[DEPTH], name, sizeof name));
    show_text("deepest", name);
    hid_t d = make_ints(g[DEPTH], "d", 3, 1);
    NUM(H5Fget_obj_count(file, H5F_OBJ_ALL));
    for (int i = 1; i <= DEPTH; i++)
        H5Gclose(g[i]);
    read_ints(d, "data");
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

static void many_open(void)
{
    enum { MANY = 40 };
    hid_t file = make_file("m.h5"), d[MANY], s = space1(4);
    int   bad = 0, values[4], sum = 0;
    for (int i = 0; i < MANY; i++) {
        char name[16];
        int  data[] = {i, i + 1, i + 2, i + 3};
        snprintf(name, sizeof name, "d%03d", i);
        d[i] = H5Dcreate2(file, name, H5T_NATIVE_INT, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        bad += d[i] < 0 || H5Dwrite(d[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), data) < 0;
    }
    NUM(H5Fget_obj_count(file, H5F_OBJ_DATASET));
    for (int i = MANY - 1; i >= 0; i--) {
        bad += H5Dread(d[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), values) < 0;
        sum += values[3];
        bad += H5Dclose(d[i]) < 0;
    }
    note("%d failures, sum %d", bad, sum);
    RC(H5Fclose(file));
}

static void cycles(void)
{
    int bad = 0;
    for (int i = 0; i < 20; i++) {
        hid_t file = i ? H5Fopen("c.h5", H5F_ACC_RDWR, fapl()) : H5Fcreate("c.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl());
        char  name[16];
        int   value = i;
        snprintf(name, sizeof name, "g%d", i);
        hid_t g = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t a = H5Acreate2(g, "a", H5T_NATIVE_INT, scalar(), H5P_DEFAULT, H5P_DEFAULT);
        bad += file < 0 || g < 0 || a < 0 || H5Awrite(a, H5T_NATIVE_INT, &value) < 0;
        bad += H5Aclose(a) < 0 || H5Gclose(g) < 0 || H5Fclose(file) < 0;
    }
    note("%d failures", bad);
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
}

/* Files open together, objects of all of them used in turn. */
static void many_files(void)
{
    enum { FILES = 8 };
    hid_t file[FILES], d[FILES];
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d.h5", i);
        file[i] = make_file(name);
        d[i]    = make_ints(file[i], "d", 6, i * 6);
    }
    for (int i = 0; i < FILES; i++) {
        read_ints(d[(i * 3) % FILES], "data");
        RC(H5Ocopy(file[i], "d", file[(i + 1) % FILES], "from_left", H5P_DEFAULT, H5P_DEFAULT));
    }
    NUM(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    for (int i = 0; i < FILES; i++) {
        RC(H5Dclose(d[i]));
        RC(H5Fclose(file[i]));
    }
}

CASES(deep, {"deep_tree", deep_tree, EVERYWHERE}, {"many_open", many_open, SERIAL | PARALLEL}, {"cycles", cycles, SERIAL | PARALLEL, 1, 2},
      {"many_files", many_files, SERIAL | PARALLEL, 1, 2})
