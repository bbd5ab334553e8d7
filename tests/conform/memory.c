/* Calls that move data in memory only. No file is involved, and no connector may get in their way. */
#include "conform.h"

typedef struct {
    const int *values;
    size_t     left, step;
} Source;

static herr_t give(const void **buf, size_t *bytes, void *data)
{
    Source *s = data;
    size_t  n = s->left < s->step ? s->left : s->step;
    *buf   = s->values;
    *bytes = n * sizeof(int);
    s->values += n;
    s->left -= n;
    return 0;
}

static herr_t refuse(const void **buf, size_t *bytes, void *data)
{
    (void)buf, (void)bytes, (void)data;
    return -1;
}

static herr_t take(const void *buf, size_t bytes, void *data)
{
    int *calls = data;
    note("gathered %zu bytes", bytes);
    show_ints("  values", buf, bytes / sizeof(int));
    return ++*calls == 100 ? -1 : 0;
}

static void scatter_and_gather(void)
{
    int     values[12], grid[40], part[5], calls = 0;
    hsize_t start[] = {1, 2}, stride[] = {2, 3}, count[] = {2, 3}, block[] = {1, 2};
    hid_t   space = space2(4, 10);
    Source  s = {values, 12, 5};
    for (int i = 0; i < 12; i++)
        values[i] = i + 1;
    memset(grid, 0, sizeof grid);
    RC(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block));
    RC(H5Dscatter(give, &s, H5T_NATIVE_INT, space, grid));
    show_ints("scattered", grid, 40);
    RC(H5Dgather(space, grid, H5T_NATIVE_INT, sizeof part, part, take, &calls));
    note("%d calls", calls);
    calls = 99;
    RC(H5Dgather(space, grid, H5T_NATIVE_INT, sizeof part, part, take, &calls));
    RC(H5Dscatter(refuse, NULL, H5T_NATIVE_INT, space, grid));
    RC(H5Dscatter(NULL, NULL, H5T_NATIVE_INT, space, grid));
    RC(H5Dgather(space, grid, H5T_NATIVE_INT, 1, part, take, &calls));
}

static herr_t visit(void *element, hid_t type, unsigned n, const hsize_t *point, void *data)
{
    int *sum = data;
    note("%u-D point %llu: %d, %zu bytes", n, (unsigned long long)point[0], *(int *)element, H5Tget_size(type));
    *sum += *(int *)element;
    return *sum > 1000 ? 1 : 0;
}

static void fill_and_iterate(void)
{
    int    buf[10] = {0}, fill = 17, sum = 0;
    double real = 2.75;
    RC(H5Dfill(&fill, H5T_NATIVE_INT, buf, H5T_NATIVE_INT, part1(10, 2, 5)));
    show_ints("filled", buf, 10);
    RC(H5Dfill(&real, H5T_NATIVE_DOUBLE, buf, H5T_NATIVE_INT, part1(10, 0, 2)));
    RC(H5Dfill(NULL, H5T_NATIVE_INT, buf, H5T_NATIVE_INT, part1(10, 5, 1)));
    show_ints("filled", buf, 10);
    RC(H5Diterate(buf, H5T_NATIVE_INT, part1(10, 1, 6), visit, &sum));
    sum = 990;
    RC(H5Diterate(buf, H5T_NATIVE_INT, part1(10, 1, 6), visit, &sum));
    RC(H5Diterate(NULL, H5T_NATIVE_INT, part1(10, 1, 6), visit, &sum));
    RC(H5Dfill(&fill, H5T_NATIVE_INT, NULL, H5T_NATIVE_INT, space1(10)));
}

static void convert_in_place(void)
{
    union {
        int    ints[6];
        double reals[6];
    } u = {{1, -2, 3, -4, 5, 2000000000}};
    char  text[16] = "some text";
    RC(H5Tconvert(H5T_NATIVE_INT, H5T_NATIVE_DOUBLE, 6, &u, NULL, H5P_DEFAULT));
    show_doubles("reals", u.reals, 6);
    RC(H5Tconvert(H5T_NATIVE_DOUBLE, H5T_STD_I16BE, 6, &u, NULL, H5P_DEFAULT));
    show_bytes("shorts", &u, 12);
    RC(H5Tconvert(H5T_C_S1, H5T_NATIVE_INT, 1, text, NULL, H5P_DEFAULT));
    RC(H5Tcompiler_conv(H5T_NATIVE_INT, H5T_NATIVE_LONG));
}

static void encode_lists_and_spaces(void)
{
    size_t  bytes = 0;
    hid_t   dcpl = chunked1(12), space = part1(100, 10, 30);
    RC(H5Pset_shuffle(dcpl));
    RC(H5Pencode2(dcpl, NULL, &bytes, H5P_DEFAULT));
    char *list = malloc(bytes);
    RC(H5Pencode2(dcpl, list, &bytes, H5P_DEFAULT));
    hid_t back = ID(H5Pdecode(list));
    RC(H5Pequal(dcpl, back));
    RC(H5Pclose(back));
    free(list);
    RC(H5Sencode2(space, NULL, &bytes, H5P_DEFAULT));
    char *text = malloc(bytes);
    RC(H5Sencode2(space, text, &bytes, H5P_DEFAULT));
    back = ID(H5Sdecode(text));
    show_space("decoded", back);
    RC(H5Sclose(back));
    free(text);
}

CASES(memory, {"scatter_and_gather", scatter_and_gather, SERIAL}, {"fill_and_iterate", fill_and_iterate, SERIAL},
      {"convert_in_place", convert_in_place, SERIAL}, {"encode_lists_and_spaces", encode_lists_and_spaces, SERIAL})
