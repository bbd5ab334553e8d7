/*
 * pairs DIR: writes DIR/plain/x.h5, and many files DIR/NAME/x.h5 that differ from it in one thing each. Prints a line
 * for each with what h5same must find: name, options, exit code, and a piece of the difference, separated by tabs.
 * One builder makes all of them; the variation says in which single place the file is different.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EACH_VARIATION(X)                                                                                             \
    X(nothing, "", 0, "") X(placement, "", 0, "") X(padding, "", 0, "") X(times_ignored, "", 0, "")                    \
    X(times, "-t", 1, "time") X(value, "", 1, "/numbers: values") X(last_of_many, "", 1, "/many: values")              \
    X(not_a_number, "", 1, "/reals: values") X(negative_zero, "", 1, "/reals: values")                                 \
    X(attribute_value, "", 1, "/numbers@unit: values") X(attribute_name, "", 1, "only A has an attribute unit")       \
    X(attribute_type, "", 1, "/numbers@unit: types") X(attribute_shape, "", 1, "/numbers@unit: attribute")            \
    X(extra_link, "", 1, "only B has a link extra") X(soft_target, "", 1, "/soft: ") X(external_target, "", 1, "/outside: ") \
    X(user_link, "", 1, "/user: ") X(link_kind, "", 1, "/soft: type of link") X(hard_target, "", 1, "same object")     \
    X(link_alphabet, "", 1, "character set") X(group_order, "", 1, "/group: link creation order")                      \
    X(group_instead, "", 1, "/numbers: type of object") X(comment, "", 1, "/group: comments")                          \
    X(byte_order, "", 1, "/numbers: types") X(member_name, "", 1, "/records: types") X(member_value, "", 1, "/records: values") \
    X(enum_name, "", 1, "/colours: types") X(opaque_value, "", 1, "/opaque: values") X(opaque_tag, "", 1, "/opaque: types") \
    X(array_value, "", 1, "/arrays: values") X(fixed_text, "", 1, "/fixed: values") X(committed_type, "", 1, "/type: types") \
    X(type_used, "", 1, "/typed: refers") X(extent, "", 1, "/numbers: dataset") X(maximum, "", 1, "/chunked: dataset") \
    X(layout, "", 1, "/numbers: layout") X(chunk, "", 1, "/chunked: chunk dimension") X(fill_value, "", 1, "/filled: values") \
    X(fill_time, "", 1, "/filled: fill time") X(alloc_time, "", 1, "/filled: allocation time")                         \
    X(filter, "", 1, "/chunked: number of filters") X(filter_flags, "", 1, "/chunked: flags")                          \
    X(raw_chunk, "", 1, "/foreign: the stored bytes") X(external_name, "", 1, "/external: external files")             \
    X(external_data, "", 1, "/external: values") X(virtual_source, "", 1, "/virtual: virtual sources")                 \
    X(virtual_part, "", 1, "/virtual: the selections") X(sequence_length, "", 1, "/sequences: length")                 \
    X(sequence_value, "", 1, "/sequences: values") X(text, "", 1, "/texts: texts") X(no_text, "", 1, "/texts: texts")  \
    X(old_target, "", 1, "/old: refers") X(old_null, "", 1, "/old: the reference is null")                             \
    X(old_region, "", 1, "/regions: the referenced regions") X(new_target, "", 1, "/new: refers")                      \
    X(new_region, "", 1, "/new: the referenced regions") X(new_attribute, "", 1, "/new: references to")                \
    X(user_block, "", 1, "user blocks differ") X(allocation, "", 1, "/late: allocated space")

#define NAME(name, options, code, word) name,
enum variation { EACH_VARIATION(NAME) };
static enum variation variation; /* of the file that is being written; `nothing` for A */

/* `a` in ordinary files, `b` where this is the variation. */
#define OR(which, a, b) (variation == which ? (b) : (a))

static hid_t file;

static hid_t check(hid_t id)
{
    if (id < 0) {
        fprintf(stderr, "pairs: a call failed in variation %d\n", variation);
        exit(1);
    }
    return id;
}

static hid_t line(hsize_t length) { return check(H5Screate_simple(1, &length, NULL)); }

static void put(const char *name, hid_t type, hid_t space, hid_t dcpl, const void *values)
{
    hid_t d = check(H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    if (values)
        check(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(d);
}

static void numbers(void)
{
    int   values[] = {1, 2, OR(value, 3, -3), 4}, many[1000], unit[2] = {OR(attribute_value, 5, 6), 7};
    hid_t dcpl = check(H5Pcreate(H5P_DATASET_CREATE)), type = OR(byte_order, H5T_STD_I32LE, H5T_STD_I32BE);
    check(H5Pset_layout(dcpl, OR(layout, H5D_CONTIGUOUS, H5D_COMPACT)));
    if (variation == group_instead)
        H5Gclose(check(H5Gcreate2(file, "numbers", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    else {
        hid_t d = check(H5Dcreate2(file, "numbers", type, line(OR(extent, 4, 3)), H5P_DEFAULT, dcpl, H5P_DEFAULT));
        check(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
        H5Dclose(d);
    }
    hid_t a = check(H5Acreate_by_name(file, "numbers", OR(attribute_name, "unit", "units"), OR(attribute_type, H5T_NATIVE_INT, H5T_NATIVE_LONG),
                                      line(OR(attribute_shape, 1, 2)), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    check(H5Awrite(a, H5T_NATIVE_INT, unit));
    H5Aclose(a);
    /* More than one block, so that only a reader that goes to the end sees the last one. */
    hsize_t large = 1500000;
    hid_t   space = check(H5Screate_simple(1, &large, NULL)), few = line(1000);
    hid_t   d     = check(H5Dcreate2(file, "many", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hsize_t start = large - 1000, count = 1000;
    for (int i = 0; i < 1000; i++)
        many[i] = i;
    many[999] = OR(last_of_many, 999, 0);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL));
    check(H5Dwrite(d, H5T_NATIVE_INT, few, space, H5P_DEFAULT, many));
    H5Dclose(d);
}

static void reals(void)
{
    uint64_t bits    = OR(not_a_number, 0x7ff8000000000001u, 0x7ff8000000000002u);
    double   values[] = {1.5, 0, OR(negative_zero, 0.0, -0.0)};
    memcpy(&values[1], &bits, sizeof bits);
    put("reals", H5T_NATIVE_DOUBLE, line(3), H5P_DEFAULT, values);
}

typedef struct {
    char   a;
    double b;
} Record;

static void records(void)
{
    Record records[2];
    hid_t  type = check(H5Tcreate(H5T_COMPOUND, sizeof(Record)));
    memset(records, OR(padding, 0, 0x55), sizeof records);
    for (int i = 0; i < 2; i++)
        records[i].a = (char)i, records[i].b = OR(member_value, 2.5, 2.25);
    check(H5Tinsert(type, "a", HOFFSET(Record, a), H5T_NATIVE_CHAR));
    check(H5Tinsert(type, OR(member_name, "b", "c"), HOFFSET(Record, b), H5T_NATIVE_DOUBLE));
    put("records", type, line(2), H5P_DEFAULT, records);
}

static void other_types(void)
{
    hsize_t two = 2;
    int     red = 1, colours[] = {1, 1}, arrays[2][2] = {{1, 2}, {3, OR(array_value, 4, 5)}};
    hid_t   colour = check(H5Tenum_create(H5T_NATIVE_INT)), opaque = check(H5Tcreate(H5T_OPAQUE, 4)), text = check(H5Tcopy(H5T_C_S1));
    check(H5Tenum_insert(colour, OR(enum_name, "red", "blue"), &red));
    put("colours", colour, line(2), H5P_DEFAULT, colours);
    check(H5Tset_tag(opaque, OR(opaque_tag, "tag", "gat")));
    put("opaque", opaque, line(1), H5P_DEFAULT, OR(opaque_value, "abcd", "abce"));
    put("arrays", check(H5Tarray_create2(H5T_NATIVE_INT, 1, &two)), line(2), H5P_DEFAULT, arrays);
    check(H5Tset_size(text, 4));
    put("fixed", text, line(1), H5P_DEFAULT, OR(fixed_text, "one\0", "two\0"));
    hid_t type = check(H5Tcopy(OR(committed_type, H5T_NATIVE_INT, H5T_NATIVE_SHORT))), again = check(H5Tcopy(type));
    check(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    check(H5Tcommit2(file, "type2", again, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put("typed", OR(type_used, type, again), line(1), H5P_DEFAULT, NULL);
    H5Tclose(type);
    H5Tclose(again);
}

static herr_t user_link_traverse(void) { return -1; }

static void links(void)
{
    hid_t       gcpl = check(H5Pcreate(H5P_GROUP_CREATE)), lcpl = check(H5Pcreate(H5P_LINK_CREATE));
    H5L_class_t user = {H5L_LINK_CLASS_T_VERS, (H5L_type_t)77, "user", NULL, NULL, NULL, (H5L_traverse_func_t)(void (*)(void))user_link_traverse, NULL, NULL};
    check(H5Pset_link_creation_order(gcpl, OR(group_order, H5P_CRT_ORDER_TRACKED, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED)));
    H5Gclose(check(H5Gcreate2(file, "group", H5P_DEFAULT, gcpl, H5P_DEFAULT)));
    check(H5Oset_comment_by_name(file, "group", OR(comment, "words", "other words"), H5P_DEFAULT));
    if (variation == extra_link)
        H5Gclose(check(H5Gcreate2(file, "extra", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    if (variation == link_kind)
        check(H5Lcreate_hard(file, "reals", file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    else
        check(H5Lcreate_soft(OR(soft_target, "/numbers", "/reals"), file, "soft", H5P_DEFAULT, H5P_DEFAULT));
    check(H5Lcreate_external(OR(external_target, "other.h5", "another.h5"), "/x", file, "outside", H5P_DEFAULT, H5P_DEFAULT));
    check(H5Lregister(&user));
    check(H5Lcreate_ud(file, "user", (H5L_type_t)77, OR(user_link, "data", "date"), 4, H5P_DEFAULT, H5P_DEFAULT));
    check(H5Lcreate_hard(file, OR(hard_target, "arrays", "records"), file, "group/hard", H5P_DEFAULT, H5P_DEFAULT));
    check(H5Pset_char_encoding(lcpl, OR(link_alphabet, H5T_CSET_ASCII, H5T_CSET_UTF8)));
    check(H5Lcreate_soft("x", file, "lettered", lcpl, H5P_DEFAULT));
}

static size_t keep_all(unsigned flags, size_t ncd, const unsigned *cd, size_t bytes, size_t *size, void **buf)
{
    (void)flags, (void)ncd, (void)cd, (void)size, (void)buf;
    return bytes;
}

static void storage(void)
{
    hsize_t four = 4, eight = OR(maximum, 8, 9), chunk_size = OR(chunk, 2, 3);
    int     values[] = {1, 2, 3, 4}, fill = OR(fill_value, 7, 8), foreign[] = {1, 2, 3, OR(raw_chunk, 4, 5)};
    hid_t   chunked = check(H5Pcreate(H5P_DATASET_CREATE)), filled = check(H5Pcreate(H5P_DATASET_CREATE)), own = check(H5Pcreate(H5P_DATASET_CREATE)),
          late = check(H5Pcreate(H5P_DATASET_CREATE)), unknown = line(4);
    check(H5Pset_chunk(chunked, 1, &chunk_size));
    check(H5Pset_filter(chunked, H5Z_FILTER_FLETCHER32, OR(filter_flags, H5Z_FLAG_MANDATORY, H5Z_FLAG_OPTIONAL), 0, NULL));
    if (variation == filter)
        check(H5Pset_shuffle(chunked));
    put("chunked", H5T_NATIVE_INT, check(H5Screate_simple(1, &four, &eight)), chunked, values);
    check(H5Pset_fill_value(filled, H5T_NATIVE_INT, &fill));
    check(H5Pset_fill_time(filled, OR(fill_time, H5D_FILL_TIME_IFSET, H5D_FILL_TIME_ALLOC)));
    check(H5Pset_alloc_time(filled, OR(alloc_time, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_EARLY)));
    put("filled", H5T_NATIVE_INT, line(4), filled, values);
    /* A filter that h5same does not have: it must compare the stored chunks. */
    H5Z_class2_t own_class = {H5Z_CLASS_T_VERS, 333, 1, 1, "own", NULL, NULL, keep_all};
    check(H5Zregister(&own_class));
    check(H5Pset_chunk(own, 1, &four));
    check(H5Pset_filter(own, 333, H5Z_FLAG_MANDATORY, 0, NULL));
    put("foreign", H5T_NATIVE_INT, unknown, own, foreign);
    check(H5Pset_alloc_time(late, H5D_ALLOC_TIME_LATE));
    put("late", H5T_NATIVE_INT, line(4), late, variation == allocation ? (int[]){0, 0, 0, 0} : NULL);
}

static void elsewhere(void)
{
    int     values[] = {OR(external_data, 1, 9), 2}, plain[] = {1, 2, 3, 4};
    hsize_t two = 2, start = OR(virtual_part, 0, 1);
    hid_t   external = check(H5Pcreate(H5P_DATASET_CREATE)), mapped = check(H5Pcreate(H5P_DATASET_CREATE)), there = line(4);
    check(H5Pset_external(external, OR(external_name, "data.raw", "date.raw"), 0, sizeof values));
    put("external", H5T_NATIVE_INT, line(2), external, values);
    check(H5Sselect_hyperslab(there, H5S_SELECT_SET, &start, NULL, &two, NULL));
    put("source", H5T_NATIVE_INT, line(4), H5P_DEFAULT, plain);
    put("source2", H5T_NATIVE_INT, line(4), H5P_DEFAULT, plain);
    check(H5Pset_virtual(mapped, line(2), ".", OR(virtual_source, "source", "source2"), there));
    put("virtual", H5T_NATIVE_INT, line(2), mapped, NULL);
}

static void variable_length(void)
{
    int         list[] = {1, OR(sequence_value, 2, 3), 3};
    hvl_t       rows[] = {{OR(sequence_length, 2, 3), list}, {0, NULL}};
    const char *words[] = {"one", OR(text, "two", "too"), OR(no_text, "", NULL)};
    hid_t       type = check(H5Tcopy(H5T_C_S1));
    check(H5Tset_size(type, H5T_VARIABLE));
    put("sequences", check(H5Tvlen_create(H5T_NATIVE_INT)), line(2), H5P_DEFAULT, rows);
    put("texts", type, line(3), H5P_DEFAULT, words);
}

static hid_t region(hsize_t start)
{
    hsize_t two   = 2;
    hid_t   space = line(4);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &two, NULL));
    return space;
}

static void references(void)
{
    hobj_ref_t      old[2] = {0, 0};
    hdset_reg_ref_t reg;
    H5R_ref_t       new[3];
    if (variation != old_null)
        check(H5Rcreate(&old[0], file, OR(old_target, "source", "source2"), H5R_OBJECT, H5I_INVALID_HID));
    put("old", H5T_STD_REF_OBJ, line(2), H5P_DEFAULT, old);
    check(H5Rcreate(&reg, file, "source", H5R_DATASET_REGION, region(OR(old_region, 0, 1))));
    put("regions", H5T_STD_REF_DSETREG, line(1), H5P_DEFAULT, &reg);
    check(H5Rcreate_object(file, OR(new_target, "source", "source2"), H5P_DEFAULT, &new[0]));
    check(H5Rcreate_region(file, "source", region(OR(new_region, 0, 1)), H5P_DEFAULT, &new[1]));
    H5Aclose(check(H5Acreate2(file, "r", H5T_NATIVE_INT, line(1), H5P_DEFAULT, H5P_DEFAULT)));
    H5Aclose(check(H5Acreate2(file, "s", H5T_NATIVE_INT, line(1), H5P_DEFAULT, H5P_DEFAULT)));
    check(H5Rcreate_attr(file, "/", OR(new_attribute, "r", "s"), H5P_DEFAULT, &new[2]));
    put("new", H5T_STD_REF, line(3), H5P_DEFAULT, new);
    for (int i = 0; i < 3; i++)
        H5Rdestroy(&new[i]);
}

static void *base_of(void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Takes the place of the C library's clock: for libhdf5 it stands still, except where time is the difference. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *tv = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    if (base_of(__builtin_return_address(0)) == base_of(dlsym(RTLD_DEFAULT, "H5open")))
        *tv = (struct timeval){.tv_sec = 1000000000 + (variation == times || variation == times_ignored)};
    return 0;
}

static void build(enum variation v)
{
    hid_t fcpl = check(H5Pcreate(H5P_FILE_CREATE)), fapl = check(H5Pcreate(H5P_FILE_ACCESS));
    variation = v;
    check(H5Pset_userblock(fcpl, 512));
    check(H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
    file = check(H5Fcreate("x.h5", H5F_ACC_TRUNC, fcpl, fapl));
    numbers();
    if (variation == placement)
        elsewhere();
    reals();
    records();
    other_types();
    links();
    storage();
    if (variation != placement)
        elsewhere();
    variable_length();
    references();
    check(H5Fclose(file));
    if (variation == user_block) {
        FILE *raw = fopen("x.h5", "r+b");
        fputc('!', raw);
        fclose(raw);
    }
}

static void build_in(const char *folder, enum variation v)
{
    if (mkdir(folder, 0777) != 0 || chdir(folder) != 0) {
        perror(folder);
        exit(1);
    }
    build(v);
    check(chdir(".."));
}

int main(int argc, char **argv)
{
    static const struct {
        const char    *name;
        enum variation variation;
        const char    *options;
        int            code;
        const char    *piece;
    } all[] = {
#define ROW(name, options, code, piece) {#name, name, options, code, piece},
        EACH_VARIATION(ROW)};
    if (argc != 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: pairs DIR\n");
        return 2;
    }
    build_in("plain", nothing);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        build_in(all[i].name, all[i].variation);
        printf("%s\t%s\t%d\t%s\n", all[i].name, all[i].options, all[i].code, all[i].piece);
    }
    return 0;
}
