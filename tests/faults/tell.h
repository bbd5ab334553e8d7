/* What the programs of this folder have in common: each rank tells what every call said, in lines "RANK CALL ok" or
 * "RANK CALL failed: error stack", at last "RANK end". */
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, nranks;

static inline herr_t frame(unsigned n, const H5E_error2_t *error, void *to)
{
    char  *stack = to;
    size_t at    = strlen(stack);
    (void)n;
    snprintf(stack + at, 4000 - at, " | %s: %s", error->func_name, error->desc ? error->desc : "");
    return 0;
}

static inline long long tell(const char *call, long long result)
{
    char stack[4000] = "";
    if (result < 0)
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, frame, stack);
    for (char *c = stack; *c; c++)
        if (*c == '\n')
            *c = ' ';
    printf(result < 0 ? "%d %s failed:%s\n" : "%d %s ok%s\n", rank, call, stack);
    fflush(stdout);
    return result;
}

static inline void hangs(int signal)
{
    (void)signal;
    if (write(1, "hangs\n", 6) < 0)
        _exit(125);
    _exit(124);
}

/* Who is not done after so many seconds hangs. */
static inline void start(int *argc, char ***argv, unsigned seconds)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    signal(SIGALRM, hangs);
    alarm(seconds);
}

static inline int end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    printf("%d end\n", rank);
    MPI_Finalize();
    return 0;
}

static inline hid_t native_list(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), native = H5VLregister_connector_by_name("native", H5P_DEFAULT);
    H5Pset_vol(fapl, native, NULL);
    H5VLclose(native);
    return fapl;
}

static inline hid_t on_all(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    return fapl;
}

static inline hid_t transfer(H5FD_mpio_xfer_t mode)
{
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(dxpl, mode);
    return dxpl;
}

/* Whether a dataset holds 0, 1, 2 and so on, as HDF5's own connector reads it. */
static inline int all_there(const char *name, hsize_t count)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, native_list()), d = H5Dopen2(file, "d", H5P_DEFAULT);
    int  *values = calloc(count, sizeof *values), code = H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    for (hsize_t i = 0; i < count; i++)
        if (values[i] != (int)i)
            code = -1;
    free(values);
    H5Dclose(d);
    H5Fclose(file);
    return code;
}
