/* Opens, writes and closes again and again, and prints the memory in use as the cycles go on.
 * usage: cycles COUNT FILE
 * Each line: cycle, resident KiB, heap bytes in use. The first line comes after a tenth of the cycles, when caches and
 * pools are filled; from there on a program that leaks nothing stands still. */
#include <hdf5.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VALUES = 16 };

static void must(long long result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static void print_memory(long cycle)
{
    long  total = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld %ld", &total, &resident) != 2) exit(1);
    fclose(statm);
    struct mallinfo2 heap = mallinfo2();
    printf("%ld %ld %zu\n", cycle, resident * (sysconf(_SC_PAGESIZE) / 1024), heap.uordblks + heap.hblkhd);
}

static void create(const char *name)
{
    hsize_t count = VALUES;
    hid_t   space = H5Screate_simple(1, &count, NULL);
    hid_t   file  = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    must(file, "H5Fcreate");
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset =
        H5Dcreate2(group, "dataset", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t attribute = H5Acreate2(dataset, "attribute", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    must(attribute, "creating the objects");
    hid_t type = H5Tcopy(H5T_NATIVE_INT);
    must(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Tcommit2");
    must(H5Tclose(type), "H5Tclose");
    must(H5Aclose(attribute), "H5Aclose");
    must(H5Dclose(dataset), "H5Dclose");
    must(H5Gclose(group), "H5Gclose");
    must(H5Sclose(space), "H5Sclose");
    must(H5Fclose(file), "H5Fclose");
}

static herr_t visit(hid_t group, const char *name, const H5L_info2_t *info, void *count)
{
    (void)group, (void)name, (void)info;
    ++*(int *)count;
    return 0;
}

static void cycle(const char *name, int *values)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    must(file, "H5Fopen");
    hid_t group     = H5Gopen2(file, "group", H5P_DEFAULT);
    hid_t dataset   = H5Dopen2(group, "dataset", H5P_DEFAULT);
    hid_t attribute = H5Aopen(dataset, "attribute", H5P_DEFAULT);
    hid_t type      = H5Topen2(file, "type", H5P_DEFAULT);
    hid_t object    = H5Oopen(file, "group/dataset", H5P_DEFAULT);
    hid_t space     = H5Dget_space(dataset);
    hid_t again     = H5Freopen(file);
    hid_t missing;
    int   links = 0;
    must(again, "H5Freopen");
    must(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dwrite");
    must(H5Dread(object, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dread");
    must(H5Awrite(attribute, H5T_NATIVE_INT, values), "H5Awrite");
    must(H5Aread(attribute, H5T_NATIVE_INT, values), "H5Aread");
    must(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &links), "H5Literate2");
    must(H5Lexists(file, "group", H5P_DEFAULT), "H5Lexists");
    H5E_BEGIN_TRY { missing = H5Gopen2(file, "not there", H5P_DEFAULT); }
    H5E_END_TRY
    must(missing < 0 && links == 2 ? 0 : -1, "counting links and failing to open");
    must(H5Fflush(file, H5F_SCOPE_LOCAL), "H5Fflush");
    must(H5Fclose(again), "H5Fclose");
    must(H5Sclose(space), "H5Sclose");
    must(H5Oclose(object), "H5Oclose");
    must(H5Tclose(type), "H5Tclose");
    must(H5Aclose(attribute), "H5Aclose");
    must(H5Dclose(dataset), "H5Dclose");
    must(H5Gclose(group), "H5Gclose");
    must(H5Fclose(file), "H5Fclose");
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    long count          = atol(argv[1]);
    int  values[VALUES] = {42};
    create(argv[2]);
    for (long i = 1; i <= count; i++) {
        cycle(argv[2], values);
        if (i % (count / 10) == 0) print_memory(i);
    }
    must(H5close(), "H5close");
    return 0;
}
