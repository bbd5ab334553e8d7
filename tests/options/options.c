/* Creates a small file, checks that it is there, writes and reads it. Fails, with HDF5's own messages, if any step does. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static int fails(const char *step) {
    printf("failed: %s\n", step);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    int     values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
    hsize_t size = 8;
    hid_t   fcpl = H5Pcreate(H5P_FILE_CREATE), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(fcpl, 0);
    H5Pset_obj_track_times(dcpl, 0);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, fcpl, H5P_DEFAULT);
    if (file < 0)
        return fails("create");
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set   = H5Dcreate2(file, "values", H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return fails("write");
    if (H5Dclose(set) < 0 || H5Fclose(file) < 0)
        return fails("close");
    if (H5Fis_accessible(argv[1], H5P_DEFAULT) <= 0)
        return fails("is accessible");
    file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    set  = H5Dopen2(file, "values", H5P_DEFAULT);
    if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0 || memcmp(values, back, sizeof back))
        return fails("read");
    H5Dclose(set);
    H5Fclose(file);
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Pclose(fcpl);
    printf("done\n");
    return 0;
}
