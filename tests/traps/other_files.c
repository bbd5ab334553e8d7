/* A dataset can belong to another file than the one that it was opened through. */
#include "../cases/cases.h"

enum { EACH = 100 };

/* Two files with a dataset of the same name at the same place; only their content differs. */
static hid_t twin(const char *name)
{
    hid_t file = make_file(name), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 0, collective());
    OK(H5Dclose(d));
    return file;
}

CASE(external_link)
{
    hid_t other = twin("other.h5");
    OK(H5Fclose(other));
    barrier();
    hid_t file = twin("here.h5"), mine = open_ints(file, "d");
    OK(H5Lcreate_external("other.h5", "/d", file, "there", H5P_DEFAULT, H5P_DEFAULT));
    hid_t theirs = open_ints(file, "there");
    write_ints(theirs, (hsize_t)(EACH * rank), EACH, 5000, collective());
    write_ints(mine, (hsize_t)(EACH * rank), EACH, 7000, collective());
    if (rank == nranks - 1)
        write_ints(theirs, (hsize_t)(EACH * rank), EACH / 2, 6000, independent());
    expect_ints(theirs, (hsize_t)(EACH * rank + EACH / 2), EACH / 2, 5000, independent(), "through the link");
    expect_ints(mine, (hsize_t)(EACH * rank), EACH, 7000, independent(), "beside the link");
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    OK(H5Dclose(theirs));
    OK(H5Dclose(mine));
    OK(H5Fclose(file));
    expect_in_file("here.h5", "d", 0, (hsize_t)(EACH * nranks), 7000);
    expect_in_file("other.h5", "d", 0, (hsize_t)(EACH * (nranks - 1)), 5000);
    expect_in_file("other.h5", "d", (hsize_t)(EACH * (nranks - 1)), EACH / 2, 6000);
    expect_in_file("other.h5", "d", (hsize_t)(EACH * (nranks - 1) + EACH / 2), EACH / 2, 5000);
}

CASE(mount)
{
    hid_t parent = twin("parent.h5"), child = twin("child.h5");
    OK(H5Gclose(ID(H5Gcreate2(parent, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    OK(H5Fmount(parent, "m", child, H5P_DEFAULT));
    hid_t inner = open_ints(parent, "m/d"), outer = open_ints(parent, "d"), new = make_ints(parent, "m/new", (hsize_t)nranks, H5P_DEFAULT);
    write_ints(inner, (hsize_t)(EACH * rank), EACH, 5000, collective());
    write_ints(outer, (hsize_t)(EACH * rank), EACH, 7000, independent());
    write_ints(new, (hsize_t)rank, 1, 100, collective());
    expect_ints(inner, (hsize_t)(EACH * rank), EACH, 5000, collective(), "in the mounted file");
    OK(H5Fflush(parent, H5F_SCOPE_GLOBAL));
    barrier();
    expect_ints(inner, 0, (hsize_t)(EACH * nranks), 5000, independent(), "after a flush of both");
    write_ints(new, (hsize_t)rank, 1, 200, collective());
    OK(H5Funmount(parent, "m"));
    expect_ints(new, (hsize_t)rank, 1, 200, independent(), "after it was unmounted");
    OK(H5Dclose(new));
    OK(H5Dclose(inner));
    OK(H5Dclose(outer));
    OK(H5Fclose(parent));
    OK(H5Fclose(child));
    expect_in_file("parent.h5", "d", 0, (hsize_t)(EACH * nranks), 7000);
    expect_in_file("child.h5", "d", 0, (hsize_t)(EACH * nranks), 5000);
    expect_in_file("child.h5", "new", 0, (hsize_t)nranks, 200);
}

CASE(two_files)
{
    hid_t a = make_file("a.h5"), b = make_file("b.h5");
    hid_t da = make_ints(a, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT), db = make_ints(b, "d", (hsize_t)(EACH * nranks), in_chunks(30));
    for (int step = 0; step < 5; step++) {
        write_ints(da, (hsize_t)(EACH * rank), EACH, 1000 * step, step % 2 ? collective() : independent());
        write_ints(db, (hsize_t)(EACH * rank), EACH, 1000 * step + 7, step % 2 ? independent() : collective());
    }
    OK(H5Fflush(a, H5F_SCOPE_LOCAL));
    barrier();
    expect_ints(da, 0, (hsize_t)(EACH * nranks), 4000, independent(), "the file that was flushed");
    expect_ints(db, (hsize_t)(EACH * rank), EACH, 4007, independent(), "the rank's own part of the other");
    OK(H5Dclose(da));
    OK(H5Fclose(a));
    write_ints(db, (hsize_t)(EACH * rank), EACH / 2, 9000, collective());
    OK(H5Dclose(db));
    OK(H5Fclose(b));
    expect_in_file("a.h5", "d", 0, (hsize_t)(EACH * nranks), 4000);
    expect_in_file("b.h5", "d", 0, EACH / 2, 9000);
    expect_in_file("b.h5", "d", EACH / 2, EACH / 2, 4007);
}

/* One rank looks at the file with a serial driver while all have it open. */
CASE(serial_beside)
{
    hid_t file = twin("f.h5"), d = open_ints(file, "d");
    write_ints(d, (hsize_t)(EACH * rank), EACH, 3000, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    barrier();
    if (rank == 0) {
        hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS));
        OK(H5Pset_file_locking(fapl, false, true));
        hid_t again = ID(H5Fopen("f.h5", H5F_ACC_RDONLY, fapl)), e = open_ints(again, "d");
        expect_ints(e, 0, (hsize_t)(EACH * nranks), 3000, H5P_DEFAULT, "with a serial driver");
        OK(H5Dclose(e));
        OK(H5Fclose(again));
        H5Pclose(fapl);
    }
    write_ints(d, (hsize_t)(EACH * rank), EACH, 4000, collective());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 4000);
}
