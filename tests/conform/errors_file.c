/* Errors: files that are missing, foreign, damaged, cut short, locked, or already open in another way. */
#include "conform.h"

#include <signal.h>
#include <sys/resource.h>

static void write_text(const char *name, const char *text, size_t size)
{
    if (solo_begin()) {
        FILE *raw = fopen(name, "wb");
        fwrite(text, 1, size, raw);
        fclose(raw);
    }
    solo_end();
}

static void foreign(void)
{
    static const char signature[] = "\211HDF\r\n\032\n and then nothing that makes sense, for quite a while ...............";
    write_text("empty.h5", "", 0);
    write_text("text.h5", "hello", 5);
    write_text("signed.h5", signature, sizeof signature);
    const char *names[] = {"missing.h5", "empty.h5", "text.h5", "signed.h5", ".", "", "no/such/place.h5"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (parallel() && strcmp(names[i], ".") == 0)
            continue; /* what MPI says about a folder is not the same twice */
        show_text("name", names[i]);
        ID(H5Fopen(names[i], H5F_ACC_RDONLY, fapl()));
        hid_t opened = ID(H5Fopen(names[i], H5F_ACC_RDWR, fapl()));
        if (opened >= 0)
            RC(H5Fclose(opened));
    }
    ID(H5Fopen(NULL, H5F_ACC_RDONLY, fapl()));
    ID(H5Fcreate(NULL, H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    ID(H5Fcreate("", H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    ID(H5Fopen("text.h5", H5F_ACC_RDONLY, H5I_INVALID_HID));
    ID(H5Fcreate("x.h5", H5F_ACC_TRUNC, space1(1), fapl()));
}

static void make_sample(const char *name)
{
    hid_t file = make_file(name), g = make_group(file, "g");
    RC(H5Dclose(make_ints(g, "d", 600, 1)));
    for (int i = 0; i < 10; i++) {
        char inner[8];
        snprintf(inner, sizeof inner, "g%d", i);
        RC(H5Gclose(make_group(g, inner)));
    }
    RC(H5Gclose(g));
    RC(H5Fclose(file));
}

/* The file is damaged in a few places that the library reads early or late. */
static void damaged(void)
{
    long places[] = {9, 48, 96, 136, 200, 700, 800, 1100, 1600};
    for (size_t i = 0; i < COUNT(places); i++) {
        note("damage at %ld", places[i]);
        make_sample("d.h5");
        FILE *raw = fopen("d.h5", "r+b");
        fseek(raw, places[i], SEEK_SET);
        fwrite("\xff\xee\xdd\xcc\xbb\xaa\x99\x88", 1, 8, raw);
        fclose(raw);
        hid_t file = open_file("d.h5", H5F_ACC_RDONLY);
        if (file < 0)
            continue;
        hid_t g = ID(H5Gopen2(file, "g", H5P_DEFAULT));
        hid_t d = ID(H5Dopen2(file, "g/d", H5P_DEFAULT));
        H5G_info_t info;
        RC(H5Gget_info_by_name(file, "g", &info, H5P_DEFAULT));
        RC(H5Lexists(file, "g/g7", H5P_DEFAULT));
        if (d >= 0) {
            read_ints(d, "data");
            RC(H5Dclose(d));
        }
        if (g >= 0)
            RC(H5Gclose(g));
        RC(H5Fclose(file));
    }
}

static void cut_short(void)
{
    make_sample("c.h5");
    if (truncate("c.h5", 1500) != 0)
        note("could not cut");
    ID(H5Fopen("c.h5", H5F_ACC_RDONLY, fapl()));
    if (truncate("c.h5", 50) != 0)
        note("could not cut");
    ID(H5Fopen("c.h5", H5F_ACC_RDONLY, fapl()));
}

/* Writing beyond a limit fails as a full disk does: in the transfer, in the flush, and in the close. */
static void no_space(void)
{
    static int    values[30000];
    struct rlimit before, small;
    hid_t         file = make_file("n.h5");
    hid_t d = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(30000), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    getrlimit(RLIMIT_FSIZE, &before);
    small          = before;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    hid_t c = ID(H5Dcreate2(file, "c", H5T_NATIVE_INT, space1(30000), H5P_DEFAULT, chunked1(10000), H5P_DEFAULT));
    RC(H5Dwrite(c, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dflush(c));
    RC(H5Dclose(c));
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    setrlimit(RLIMIT_FSIZE, &before);
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
}

/* Open in one way already, wanted in another. */
static void conflicting(void)
{
    make_sample("o.h5");
    hid_t reader = open_file("o.h5", H5F_ACC_RDONLY);
    ID(H5Fopen("o.h5", H5F_ACC_RDWR, fapl()));
    ID(H5Fcreate("o.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl()));
    hid_t strong = keep(H5Pcopy(fapl()));
    RC(H5Pset_fclose_degree(strong, H5F_CLOSE_STRONG));
    ID(H5Fopen("o.h5", H5F_ACC_RDONLY, strong));
    RC(H5Fclose(reader));
    RC(H5Fdelete("o.h5", fapl()));
}

/* A semi-strong file refuses to close while something in it is open. */
static void close_degrees(void)
{
    H5F_close_degree_t degrees[] = {H5F_CLOSE_WEAK, H5F_CLOSE_SEMI, H5F_CLOSE_STRONG};
    for (size_t i = 0; i < COUNT(degrees); i++) {
        hid_t list = keep(H5Pcopy(fapl()));
        note("degree %d", degrees[i]);
        RC(H5Pset_fclose_degree(list, degrees[i]));
        hid_t file = ID(H5Fcreate("c.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list)), g = make_group(file, "g");
        RC(H5Fclose(file));
        RC(H5Iis_valid(g));
        RC(H5Iis_valid(file));
        if (H5Iis_valid(g) > 0)
            RC(H5Gclose(g));
        if (H5Iis_valid(file) > 0)
            RC(H5Fclose(file));
    }
}

CASES(errors_file, {"foreign", foreign, EVERYWHERE}, {"damaged", damaged, BOTH_SERIAL}, {"cut_short", cut_short, BOTH_SERIAL},
      {"no_space", no_space, BOTH_SERIAL},
      {"conflicting", conflicting, BOTH_SERIAL | PARALLEL}, {"close_degrees", close_degrees, BOTH_SERIAL | PARALLEL})
