/* File drivers: the serial ones, and what can be asked of the MPI one through an open file. */
#include "conform.h"

static void fill_and_check(const char *name, hid_t list)
{
    int    values[100], back[100] = {0};
    char   actual[64] = "";
    hid_t  file = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list));
    hid_t  d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, space1(100), H5P_DEFAULT, chunked1(30), H5P_DEFAULT));
    for (int i = 0; i < 100; i++)
        values[i] = i * 5;
    RC(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    make_attr(d, "a", 1);
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    RC(H5Dclose(d));
    hid_t stored = ID(H5Fget_access_plist(file));
    note("same driver %d", H5Pget_driver(stored) == H5Pget_driver(list));
    RC(H5Pclose(stored));
    NUM(H5Fget_name(file, actual, sizeof actual));
    show_text("name", actual);
    RC(H5Fclose(file));
    RC(H5Fis_accessible(name, list));
    file = ID(H5Fopen(name, H5F_ACC_RDONLY, list));
    if (file >= 0) {
        d = ID(H5Dopen2(file, "d", H5P_DEFAULT));
        RC(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back));
        show_ints("values", back, 100);
        RC(H5Dclose(d));
        RC(H5Fclose(file));
    }
}

static void sec2(void)
{
    hid_t list = plist(H5P_FILE_ACCESS);
    RC(H5Pset_fapl_sec2(list));
    fill_and_check("s.h5", list);
}

static void stdio(void)
{
    hid_t list = plist(H5P_FILE_ACCESS);
    RC(H5Pset_fapl_stdio(list));
    fill_and_check("s.h5", list);
}

static void core(void)
{
    size_t  increment = 0;
    bool    kept = false;
    hid_t   list = plist(H5P_FILE_ACCESS), gone = plist(H5P_FILE_ACCESS);
    RC(H5Pset_fapl_core(list, 1000, true));
    fill_and_check("kept.h5", list);
    RC(H5Pset_fapl_core(gone, 1000, false));
    fill_and_check("gone.h5", gone);
    note("on disk %d", access("gone.h5", F_OK) == 0);
    hid_t file   = ID(H5Fopen("kept.h5", H5F_ACC_RDWR, gone));
    hid_t stored = ID(H5Fget_access_plist(file));
    RC(H5Pget_fapl_core(stored, &increment, &kept));
    note("increment %zu, kept %d", increment, kept);
    RC(H5Pclose(stored));
    RC(H5Gclose(make_group(file, "in memory only")));
    RC(H5Fclose(file));
    RC(H5Fdelete("kept.h5", list));
}

static void split(void)
{
    hid_t list = plist(H5P_FILE_ACCESS);
    RC(H5Pset_fapl_split(list, ".meta", H5P_DEFAULT, ".raw", H5P_DEFAULT));
    fill_and_check("s", list);
    note("files %d %d", access("s.meta", F_OK) == 0, access("s.raw", F_OK) == 0);
}

static void family(void)
{
    hsize_t size = 0;
    hid_t   list = plist(H5P_FILE_ACCESS), member = H5I_INVALID_HID;
    RC(H5Pset_fapl_family(list, 1000, H5P_DEFAULT));
    fill_and_check("f%02d.h5", list);
    hid_t file   = ID(H5Fopen("f%02d.h5", H5F_ACC_RDONLY, list));
    hid_t stored = ID(H5Fget_access_plist(file));
    RC(H5Pget_fapl_family(stored, &size, &member));
    note("members of %llu bytes", (unsigned long long)size);
    RC(H5Pclose(member));
    RC(H5Pclose(stored));
    RC(H5Fclose(file));
    ID(H5Fopen("f00.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
}

static void log_driver(void)
{
    hid_t list = plist(H5P_FILE_ACCESS);
    RC(H5Pset_fapl_log(list, "/dev/null", H5FD_LOG_LOC_WRITE, 0));
    fill_and_check("l.h5", list);
}

static void serial_handle(void)
{
    void *handle = NULL;
    hid_t file = make_file("h.h5");
    RC(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle));
    note("a descriptor %d", handle && *(int *)handle > 2);
    RC(H5Fget_vfd_handle(file, H5P_DEFAULT, NULL));
    RC(H5Fclose(file));
}

static void mpi_through_the_file(void)
{
    void    *handle = NULL;
    MPI_Comm comm   = MPI_COMM_NULL;
    MPI_Info info   = MPI_INFO_NULL;
    int      size   = 0, same = MPI_UNEQUAL;
    hbool_t  atomic = true;
    MPI_Offset bytes = 0;
    hid_t    file = make_file("m.h5"), list = ID(H5Fget_access_plist(file));
    RC(H5Pget_fapl_mpio(list, &comm, &info));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
        MPI_Comm_free(&comm);
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    note("communicator of %d, congruent %d", size, same == MPI_CONGRUENT);
    RC(H5Fflush(file, H5F_SCOPE_GLOBAL));
    RC(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle));
    if (handle) {
        MPI_File_get_size(*(MPI_File *)handle, &bytes);
        note("MPI says %d", bytes > 0);
    }
    RC(H5Fget_mpi_atomicity(file, &atomic));
    note("atomic %d", atomic);
    RC(H5Fset_mpi_atomicity(file, true));
    RC(H5Fget_mpi_atomicity(file, &atomic));
    note("atomic %d", atomic);
    hid_t d = make_ints(file, "d", 30, 2);
    read_ints(d, "written atomically");
    RC(H5Dclose(d));
    RC(H5Fset_mpi_atomicity(file, false));
    RC(H5Pclose(list));
    RC(H5Fclose(file));
}

/* Only some ranks open the file, and with hints. */
static void part_of_the_ranks(void)
{
    MPI_Comm half;
    MPI_Info info;
    int      values[10], back[10] = {0};
    hid_t    list = plist(H5P_FILE_ACCESS);
    char     name[16];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_Info_set(info, "romio_ds_write", "disable");
    RC(H5Pset_fapl_mpio(list, half, info));
    snprintf(name, sizeof name, "half%d.h5", rank % 2);
    hid_t file = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list));
    int   size, me;
    MPI_Comm_size(half, &size);
    MPI_Comm_rank(half, &me);
    hid_t mine = part1(10 * (hsize_t)size, 10 * (hsize_t)me, 10);
    hid_t d    = ID(H5Dcreate2(file, "d", H5T_NATIVE_INT, mine, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < 10; i++)
        values[i] = rank * 10 + i;
    RC(H5Dwrite(d, H5T_NATIVE_INT, space1(10), mine, collective(), values));
    RC(H5Dread(d, H5T_NATIVE_INT, space1(10), mine, collective(), back));
    show_ints("mine", back, 10);
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    MPI_Info_free(&info);
    MPI_Comm_free(&half);
}

/* The program frees its communicator and hints as soon as the file is open. */
static void freed_early(void)
{
    MPI_Comm comm;
    MPI_Info info, back = MPI_INFO_NULL;
    int      keys = 0, found = 0;
    char     value[MPI_MAX_INFO_VAL + 1] = "";
    hid_t    list = H5Pcreate(H5P_FILE_ACCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "of_no_use", "to anybody");
    RC(H5Pset_fapl_mpio(list, comm, info));
    hid_t file = ID(H5Fcreate("f.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list));
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    RC(H5Pclose(list));
    hid_t d = make_ints(file, "d", 16, 3);
    read_ints(d, "data");
    list = ID(H5Fget_access_plist(file));
    RC(H5Pget_fapl_mpio(list, &comm, &back));
    RC(H5Pclose(list));
    RC(H5Dclose(d));
    RC(H5Fclose(file));
    MPI_Info_get_nkeys(back, &keys);
    MPI_Info_get(back, "of_no_use", MPI_MAX_INFO_VAL, value, &found);
    note("%d hints, %s", keys, found ? value : "not kept");
    MPI_Comm_free(&comm);
    MPI_Info_free(&back);
}

/* A file on COMM_SELF per rank, open together with one on all ranks. */
static void alone_and_together(void)
{
    hid_t list = plist(H5P_FILE_ACCESS), together = make_file("all.h5");
    char  name[16];
    snprintf(name, sizeof name, "own%d.h5", rank);
    RC(H5Pset_fapl_mpio(list, MPI_COMM_SELF, MPI_INFO_NULL));
    hid_t own = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list));
    hid_t d = make_ints(own, "d", 8, rank * 8), e = make_ints(together, "e", 8, 1);
    if (rank % 2)
        RC(H5Gclose(make_group(own, "only in odd files")));
    read_ints(d, "own");
    read_ints(e, "all");
    RC(H5Dclose(d));
    RC(H5Dclose(e));
    RC(H5Fclose(own));
    RC(H5Fclose(together));
    /* A serial file per rank, while MPI is there. */
    snprintf(name, sizeof name, "ser%d.h5", rank);
    own = ID(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    RC(H5Gclose(make_group(own, "g")));
    RC(H5Fclose(own));
}

CASES(drivers, {"sec2", sec2, SERIAL}, {"stdio", stdio, SERIAL}, {"core", core, SERIAL}, {"split", split, SERIAL}, {"family", family, SERIAL},
      {"log", log_driver, SERIAL}, {"serial_handle", serial_handle, SERIAL},
      {"mpi_through_the_file", mpi_through_the_file, BOTH_PARALLEL}, {"part_of_the_ranks", part_of_the_ranks, PARALLEL, 2, 4},
      {"alone_and_together", alone_and_together, PARALLEL}, {"freed_early", freed_early, PARALLEL})
