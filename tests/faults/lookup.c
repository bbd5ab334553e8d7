/*
 * lookup FILE created|created-chunked|opened|opened-chunked|extended VARIABLE FAULT
 *
 * All ranks come to one dataset in this way, with the environment variable set to the fault: a rank may fail to look the
 * dataset up. Then each writes its part, the first rank clears all, each writes its part again and reads the next rank's, all
 * collectively.
 */
#include "tell.h"

enum { EACH = 50000, CHUNK = 7000 };

static hid_t numbers(hid_t file, hsize_t count, int chunked)
{
    hsize_t chunk = CHUNK, most = H5S_UNLIMITED;
    hid_t   space = H5Screate_simple(1, &count, chunked ? &most : NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    if (chunked)
        H5Pset_chunk(dcpl, 1, &chunk);
    hid_t d = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    return d;
}

/* What is there before: written by one process and HDF5's own connector. */
static void prepare(const char *name, hsize_t count, int chunked)
{
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, native_list());
    H5Dclose(numbers(file, count, chunked));
    tell("prepare", H5Fclose(file));
}

static hid_t slab(hid_t d, hsize_t start, hsize_t count)
{
    hid_t space = H5Dget_space(d);
    if (count)
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    else
        H5Sselect_none(space);
    return space;
}

static void write_slab(const char *call, hid_t d, hsize_t start, hsize_t count, int cleared)
{
    hid_t dxpl = transfer(H5FD_MPIO_COLLECTIVE), space = slab(d, start, count), memory = H5Screate_simple(1, &count, NULL);
    int  *values = malloc((count + 1) * sizeof *values);
    for (hsize_t i = 0; i < count; i++)
        values[i] = cleared ? -1 : (int)(start + i);
    tell(call, H5Dwrite(d, H5T_NATIVE_INT, memory, space, dxpl, values));
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(dxpl);
}

static void read_slab(hid_t d, hsize_t start, hsize_t count)
{
    hid_t dxpl = transfer(H5FD_MPIO_COLLECTIVE), space = slab(d, start, count), memory = H5Screate_simple(1, &count, NULL);
    int  *values = calloc(count, sizeof *values), wrong = 0;
    long long code = tell("read", H5Dread(d, H5T_NATIVE_INT, memory, space, dxpl, values));
    for (hsize_t i = 0; i < count && code >= 0; i++)
        wrong |= values[i] != (int)(start + i);
    if (code >= 0)
        tell("values", wrong ? -1 : 0);
    free(values);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(dxpl);
}

static void write_part(const char *call, hid_t d)
{
    write_slab(call, d, (hsize_t)EACH * (hsize_t)rank, EACH, 0);
}

/* The same writes before, so that ranks expect them and begin without asking each other. */
static void get_used(const char *name, hsize_t count, int chunked)
{
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, on_all()), d = numbers(file, count, chunked);
    for (int i = 0; i < 4; i++)
        write_part("early", d);
    H5Dclose(d);
    H5Fclose(file);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, 20);
    hsize_t all = (hsize_t)EACH * (hsize_t)nranks, next = (hsize_t)EACH * (hsize_t)((rank + 1) % nranks);
    int     opened = strncmp(argv[2], "opened", 6) == 0, extended = strcmp(argv[2], "extended") == 0;
    int     chunked = extended || strstr(argv[2], "chunked") != NULL;
    get_used(argv[1], all, chunked);
    setenv(argv[3], argv[4], 1);
    if (opened && rank == 0)
        prepare(argv[1], all, chunked);
    MPI_Barrier(MPI_COMM_WORLD);
    hid_t file = opened ? H5Fopen(argv[1], H5F_ACC_RDWR, on_all()) : H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, on_all());
    hid_t d    = opened ? H5Dopen2(file, "d", H5P_DEFAULT) : numbers(file, extended ? all / 2 : all, chunked);
    tell("come", d);
    if (extended)
        tell("extend", H5Dset_extent(d, &all));
    write_part("first", d);
    /* Who has failed may come here before others have made the call. */
    MPI_Barrier(MPI_COMM_WORLD);
    write_slab("clear", d, 0, rank == 0 ? all : 0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    write_part("write", d);
    MPI_Barrier(MPI_COMM_WORLD);
    read_slab(d, next, EACH);
    tell("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
    tell("close_dataset", H5Dclose(d));
    /* A file that cannot be closed well is closed for good the second time. */
    if (tell("close", H5Fclose(file)) < 0)
        tell("close_again", H5Fclose(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        tell("whole", all_there(argv[1], all));
    return end();
}
