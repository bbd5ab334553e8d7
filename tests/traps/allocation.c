/* Where a dataset's bytes are is not always known, nor always theirs. */
#include "../cases/cases.h"

#include <fcntl.h>
#include <unistd.h>

enum { EACH = 120 };

CASE(user_block)
{
    static const char text[] = "what precedes the HDF5 file belongs to the program";
    hid_t             fcpl = ID(H5Pcreate(H5P_FILE_CREATE)), fapl = on_all();
    OK(H5Pset_userblock(fcpl, 2048));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, fcpl, fapl)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    hid_t c = make_ints(file, "c", (hsize_t)(EACH * nranks), in_chunks(70));
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    write_ints(c, (hsize_t)(EACH * rank), EACH, 2, independent());
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    barrier();
    if (rank == 0) {
        int raw = open("f.h5", O_RDWR);
        EXPECT(raw >= 0 && pwrite(raw, text, sizeof text, 0) == sizeof text, "the user block cannot be written");
        close(raw);
    }
    barrier();
    file = open_file("f.h5");
    d    = open_ints(file, "d");
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 3, collective());
    expect_ints(d, (hsize_t)(EACH * rank), EACH / 2, 3, collective(), "behind a user block");
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Pclose(fcpl);
    H5Pclose(fapl);
    barrier();
    char found[sizeof text] = "";
    int  raw                = open("f.h5", O_RDONLY);
    EXPECT(raw >= 0 && pread(raw, found, sizeof found, 0) == sizeof found && memcmp(found, text, sizeof text) == 0, "the user block has changed");
    close(raw);
    expect_in_file("f.h5", "d", 0, EACH / 2, 3);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 1);
    expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), 2);
}

/* A serial program has left most chunks of a dataset, and all of another, without a place in the file. */
CASE(partly_allocated)
{
    hsize_t total = (hsize_t)(EACH * nranks);
    if (rank == 0) {
        hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
        hid_t dcpl = in_chunks(40), late = in_chunks(0);
        int   fill = -5;
        OK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
        OK(H5Pset_alloc_time(late, H5D_ALLOC_TIME_LATE));
        hid_t c = make_ints(file, "c", total, dcpl), d = make_ints(file, "d", total, late);
        write_ints(c, 50, 10, 1, H5P_DEFAULT);
        OK(H5Dclose(c));
        OK(H5Dclose(d));
        OK(H5Fclose(file));
        H5Pclose(dcpl);
        H5Pclose(late);
    }
    barrier();
    hid_t file = open_file("f.h5"), c = open_ints(file, "c"), d = open_ints(file, "d");
    write_ints(c, 40, rank == 0 ? 10 : 0, 2, collective()); /* native HDF5 loses what goes to chunks without a place */
    write_ints(d, (hsize_t)(EACH * rank), EACH, 3, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    expect_ints(c, 50, 10, 1, independent(), "what the serial program wrote");
    expect_ints(d, 0, total, 3, independent(), "what had no place");
    if (rank == nranks - 1) /* a chunk that has its place */
        write_ints(c, 60, 20, 4, independent());
    OK(H5Dclose(c));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "c", 40, 10, 2);
    expect_in_file("f.h5", "c", 60, 20, 4);
    expect_in_file("f.h5", "c", 50, 10, 1);
    expect_in_file("f.h5", "d", 0, total, 3);
}

/* Variable-length strings have the same class as fixed ones; beside them is what can be captured. */
CASE(variable_strings)
{
    hid_t   type = ID(H5Tcopy(H5T_C_S1));
    hsize_t four = 4;
    OK(H5Tset_size(type, H5T_VARIABLE));
    const char *words[] = {"one", "", "three and a long one", "four"};
    if (rank == 0) {
        hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), space = H5Screate_simple(1, &four, NULL);
        hid_t s = ID(H5Dcreate2(file, "s", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        OK(H5Dwrite(s, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words));
        OK(H5Dclose(s));
        OK(H5Fclose(file));
        H5Sclose(space);
    }
    barrier();
    hid_t file = open_file("f.h5"), s = ID(H5Dopen2(file, "s", H5P_DEFAULT)), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    char *found[4] = {NULL};
    write_ints(d, (hsize_t)(EACH * rank), EACH, 1, collective());
    EXPECT(H5Dwrite(s, type, H5S_ALL, H5S_ALL, collective(), words) < 0, "HDF5 does not write these with MPI");
    write_ints(d, (hsize_t)(EACH * rank), EACH / 2, 2, collective());
    OK(H5Dread(s, type, H5S_ALL, H5S_ALL, independent(), found));
    for (int i = 0; i < 4; i++) {
        EXPECT(found[i] && strcmp(found[i], words[i]) == 0, "string %d is %s", i, found[i] ? found[i] : "missing");
        H5free_memory(found[i]);
    }
    OK(H5Dclose(s));
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    H5Tclose(type);
    expect_in_file("f.h5", "d", 0, EACH / 2, 2);
    expect_in_file("f.h5", "d", EACH / 2, EACH / 2, 1);
}

/* Some ranks may write to a new dataset while others still fill it. */
CASE(fill_race)
{
    enum { ROUNDS = 25, CHUNK = 16, CHUNKS = 24 };
    hid_t file = make_file("f.h5"), dcpl = in_chunks(CHUNK);
    int   fill = -1;
    OK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    OK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC));
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        hid_t d = make_ints(file, name, (hsize_t)(CHUNK * CHUNKS * nranks), dcpl);
        if (gentle)
            barrier();
        /* Every rank writes the chunks that others have filled. */
        int from = (rank + 1) % nranks;
        write_ints(d, (hsize_t)(CHUNK * CHUNKS * from), CHUNK * CHUNKS, i, i % 2 ? independent() : collective());
        OK(H5Dclose(d));
    }
    OK(H5Fclose(file));
    H5Pclose(dcpl);
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        expect_in_file("f.h5", name, 0, (hsize_t)(CHUNK * CHUNKS * nranks), i);
    }
}

/* Space that a deleted dataset leaves is used again: nothing of the old one may arrive later. */
CASE(space_used_again)
{
    hid_t file = make_file("f.h5");
    for (int i = 0; i < 6; i++) {
        hid_t old = make_ints(file, "old", (hsize_t)(EACH * nranks), i % 2 ? in_chunks(30) : H5P_DEFAULT);
        write_ints(old, (hsize_t)(EACH * rank), EACH, 77777, collective());
        write_ints(old, (hsize_t)(EACH * rank), EACH / 3, 88888, independent());
        OK(H5Dclose(old));
        barrier();
        OK(H5Ldelete(file, "old", H5P_DEFAULT));
        char name[16];
        snprintf(name, sizeof name, "new%d", i);
        hid_t new = make_ints(file, name, (hsize_t)(EACH * nranks), H5P_DEFAULT);
        write_ints(new, (hsize_t)(EACH * rank), EACH, i, collective());
        OK(H5Dclose(new));
    }
    OK(H5Fclose(file));
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "new%d", i);
        expect_in_file("f.h5", name, 0, (hsize_t)(EACH * nranks), i);
    }
}
