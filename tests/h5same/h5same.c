/*
 * h5same [-v] [-t] [-n COUNT] A B: are two HDF5 files the same, object by object?
 *
 * Compares groups, links of all kinds, attributes, datatypes, dataspaces, creation properties and every value; where
 * things are in the file does not matter. Prints the first differences with their paths.
 *
 *   -v        also says how much was compared
 *   -t        time stamps count too
 *   -n COUNT  differences to print (10)
 *
 * Ends with 0 if the files are the same, 1 if they differ, 2 if that cannot be told.
 */
#include "same.h"

#include <stdarg.h>
#include <unistd.h>

Same same = {.shown_max = 10};

static void usage(void)
{
    fprintf(stderr, "usage: h5same [-v] [-t] [-n COUNT] A B\n");
    exit(2);
}

static hid_t open_root(const char *name, hid_t *file)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), root = H5I_INVALID_HID;
    /* A file that its writer left marked as open, or on a system without locks, can be read as well. */
    H5Pset_file_locking(fapl, false, true);
    if ((*file = H5Fopen(name, H5F_ACC_RDONLY, fapl)) >= 0)
        root = H5Gopen2(*file, "/", H5P_DEFAULT);
    else
        fprintf(stderr, "h5same: %s: cannot be opened as an HDF5 file\n", name);
    H5Pclose(fapl);
    return root;
}

static void summary(void)
{
    printf("%llu groups, %llu datasets, %llu types, %llu links, %llu attributes, %llu elements, %llu bytes, %llu references\n",
           same.count.groups, same.count.datasets, same.count.types, same.count.links, same.count.attributes, same.count.elements,
           same.count.bytes, same.count.references);
}

int main(int argc, char **argv)
{
    bool verbose = false;
    for (int option; (option = getopt(argc, argv, "vtn:")) != -1;)
        switch (option) {
            case 'v': verbose = true; break;
            case 't': same.times = true; break;
            case 'n': same.shown_max = (unsigned)atoi(optarg); break;
            default: usage();
        }
    if (argc - optind != 2)
        usage();
    /* External files are looked for beside each HDF5 file, wherever we run. */
    setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}", 1);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    Pair root;
    for (int i = 0; i < 2; i++) {
        same.name[i] = argv[optind + i];
        root.id[i]   = open_root(same.name[i], &same.file.id[i]);
    }
    if (root.id[0] < 0 || root.id[1] < 0)
        return 2;
    same_file_lists(same.file);
    same_objects("/", root);
    same_targets_at_end();
    for (int i = 0; i < 2; i++) {
        H5Gclose(root.id[i]);
        H5Fclose(same.file.id[i]);
    }
    if (same.differences > same.shown_max)
        printf("... and %u more differences\n", same.differences - same.shown_max);
    if (verbose)
        summary();
    return same.differences ? 1 : same.trouble ? 2 : 0;
}

void differ(const char *path, const char *format, ...)
{
    va_list args;
    if (same.differences++ >= same.shown_max)
        return;
    printf("%s: ", path);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

void stuck(const char *path, const char *format, ...)
{
    va_list args;
    same.trouble++;
    fprintf(stderr, "h5same: %s: ", path);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

bool equal(const char *path, const char *what, long long a, long long b)
{
    if (a != b)
        differ(path, "%s: %lld and %lld", what, a, b);
    return a == b;
}
