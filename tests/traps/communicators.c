/* Files live on communicators of all kinds, which the program may free as soon as the file is open. */
#include "../cases/cases.h"

enum { EACH = 64 };

/* Writes and checks a file on some ranks, which it knows by their order in COMM. */
static void use(const char *name, MPI_Comm comm, bool freed)
{
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    MPI_Comm given;
    MPI_Comm_dup(comm, &given);
    hid_t fapl = on(given);
    hid_t file = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    H5Pclose(fapl);
    if (freed)
        MPI_Comm_free(&given);
    hid_t d = make_ints(file, "d", (hsize_t)(EACH * all), H5P_DEFAULT), c = make_ints(file, "c", (hsize_t)(EACH * all), in_chunks(50));
    write_ints(d, (hsize_t)(EACH * me), EACH, 10, collective());
    write_ints(c, (hsize_t)(EACH * me), EACH, 20, collective());
    if (me == all / 2)
        write_ints(d, (hsize_t)(EACH * me), EACH / 2, 30, independent());
    expect_ints(c, 0, (hsize_t)(EACH * all), 20, collective(), name);
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    MPI_Barrier(comm);
    expect_ints(d, (hsize_t)(EACH * (all / 2)), EACH / 2, 30, independent(), name);
    OK(H5Dclose(d));
    OK(H5Dclose(c));
    OK(H5Fclose(file));
    if (!freed)
        MPI_Comm_free(&given);
}

CASE(duplicated_communicator)
{
    use("f.h5", MPI_COMM_WORLD, true);
    use("f.h5", MPI_COMM_WORLD, false);
    expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), 20);
}

/* Two groups of ranks work at two files at the same time. */
CASE(split_communicator)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 3; i++)
        use(rank % 2 ? "odd.h5" : "even.h5", half, i % 2);
    MPI_Comm_free(&half);
    expect_in_file("even.h5", "c", 0, (hsize_t)(EACH * ((nranks + 1) / 2)), 20);
}

/* A file on all ranks and one on a part of them are open at once. */
CASE(part_beside_all)
{
    hid_t    file = make_file("all.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank < (nranks + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &some);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 40, collective());
    if (some != MPI_COMM_NULL) {
        use("some.h5", some, true);
        MPI_Comm_free(&some);
    }
    write_ints(d, (hsize_t)(EACH * rank), EACH / 4, 50, independent());
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("all.h5", "d", 0, EACH / 4, 50);
    expect_in_file("all.h5", "d", EACH / 4, EACH - EACH / 4, 40);
}

CASE(reversed_communicator)
{
    MPI_Comm back;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
    use("f.h5", back, true);
    MPI_Comm_free(&back);
    expect_in_file("f.h5", "c", 0, (hsize_t)(EACH * nranks), 20);
}

CASE(file_per_rank)
{
    char name[32];
    snprintf(name, sizeof name, "f%d.h5", rank);
    use(name, MPI_COMM_SELF, true);
    expect_in_file("f0.h5", "c", 0, EACH, 20);
}

/* The last rank's connector, whichever it is, has other options than that of the others. */
static void choose_options(hid_t fapl, const char *options)
{
    hid_t connector;
    void *info;
    if (!getenv("HDF5_VOL_CONNECTOR") || rank < nranks - 1)
        return;
    OK(H5Pget_vol_id(fapl, &connector));
    OK(H5VLconnector_str_to_info(options, connector, &info));
    OK(H5Pset_vol(fapl, connector, info));
    OK(H5VLfree_connector_info(connector, info));
    OK(H5VLclose(connector));
}

static void use_with_options(const char *options)
{
    hid_t fapl = on_all();
    choose_options(fapl, options);
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    H5Pclose(fapl);
    hid_t d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 70, collective());
    OK(H5Fflush(file, H5F_SCOPE_LOCAL));
    expect_ints(d, 0, (hsize_t)(EACH * nranks), 70, collective(), options);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 70);
}

CASE(ranks_with_different_options)
{
    use_with_options("mode=off");
    use_with_options("mode=immediate window=64KiB");
    use("f.h5", MPI_COMM_WORLD, true);
}

/* Options that one rank cannot read: nobody opens the file, and nobody waits for it. */
CASE(options_unread_on_one_rank)
{
    hid_t fapl = on_all();
    choose_options(fapl, "no_such_option=1");
    hid_t file = H5I_INVALID_HID;
    H5E_BEGIN_TRY { file = H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl); }
    H5E_END_TRY;
    if (getenv("HDF5_VOL_CONNECTOR"))
        EXPECT(file < 0, "the file is open");
    else
        OK(H5Fclose(file));
    H5Pclose(fapl);
    use("f.h5", MPI_COMM_WORLD, true);
}

/* Some ranks remove a link from a file of their own; that is nothing to the others, who have another file open with them. */
CASE(part_removes_beside_all)
{
    hid_t    file = make_file("all.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 0, rank, &some);
    write_ints(d, (hsize_t)(EACH * rank), EACH, 80, collective());
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    if (some != MPI_COMM_NULL) {
        hid_t fapl = on(some);
        hid_t part = ID(H5Fcreate("part.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
        hid_t gone = make_ints(part, "gone", EACH, H5P_DEFAULT);
        OK(H5Ldelete(part, "gone", H5P_DEFAULT));
        write_ints(gone, 0, rank ? 0 : EACH, 90, collective());
        OK(H5Dclose(gone));
        OK(H5Fclose(part));
        H5Pclose(fapl);
        MPI_Comm_free(&some);
    }
    hid_t e = make_ints(file, "e", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    write_ints(e, (hsize_t)(EACH * rank), EACH, 100, collective());
    expect_ints(d, 0, (hsize_t)(EACH * nranks), 80, collective(), "d");
    OK(H5Dclose(d));
    OK(H5Dclose(e));
    OK(H5Fclose(file));
    expect_in_file("all.h5", "e", 0, (hsize_t)(EACH * nranks), 100);
}

/* A message that is under way needs its receiver to serve MPI, also while that one waits for the sender in HDF5. */
CASE(message_across_calls)
{
    enum { LONG = 16 << 20 };
    hid_t       file = make_file("f.h5"), d = make_ints(file, "d", (hsize_t)(EACH * nranks), H5P_DEFAULT);
    char       *message = calloc(1, LONG);
    int         to = (rank + 1) % nranks, from = (rank + nranks - 1) % nranks;
    MPI_Request coming;
    for (int turn = 0; turn < 2; turn++) {
        write_ints(d, (hsize_t)(EACH * rank), EACH, 110 + turn, collective());
        bool sends = rank % 2 == turn && to != rank && to % 2 != turn, takes = rank % 2 != turn && from % 2 == turn;
        if (takes)
            MPI_Irecv(message, LONG, MPI_BYTE, from, 7, MPI_COMM_WORLD, &coming);
        if (sends)
            MPI_Send(message, LONG, MPI_BYTE, to, 7, MPI_COMM_WORLD);
        OK(H5Fflush(file, H5F_SCOPE_LOCAL));
        if (takes)
            MPI_Wait(&coming, MPI_STATUS_IGNORE);
    }
    free(message);
    OK(H5Dclose(d));
    OK(H5Fclose(file));
    expect_in_file("f.h5", "d", 0, (hsize_t)(EACH * nranks), 111);
}
