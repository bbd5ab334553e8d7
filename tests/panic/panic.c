/* Creates a group under the given name, prints the error stack if that fails, and goes on: writes a dataset, closes,
 * opens the file again and checks the data.
 * usage: panic GROUP FILE */
#include <hdf5.h>
#include <stdio.h>

enum { VALUES = 1000 };

static herr_t print_error(unsigned n, const H5E_error2_t *error, void *unused)
{
    (void)unused;
    printf("#%u %s: %s\n", n, error->func_name, error->desc ? error->desc : "");
    return 0;
}

static int write_values(hid_t file)
{
    int     values[VALUES];
    hsize_t count = VALUES;
    hid_t   space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, "after", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < VALUES; i++) values[i] = 3 * i;
    return H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 || H5Dclose(set) < 0 ||
           H5Sclose(space) < 0;
}

static int check_values(hid_t file)
{
    int   values[VALUES];
    hid_t set = H5Dopen2(file, "after", H5P_DEFAULT);
    if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) return 1;
    for (int i = 0; i < VALUES; i++)
        if (values[i] != 3 * i) return 1;
    return H5Dclose(set) < 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) return 1;
    hid_t group = H5Gcreate2(file, argv[1], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) {
        printf("H5Gcreate2 failed\n");
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, print_error, NULL);
    } else {
        H5Gclose(group);
    }
    if (write_values(file) || H5Fclose(file) < 0) return 1;
    file = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || check_values(file) || H5Fclose(file) < 0) return 1;
    printf("went on\n");
    return 0;
}
