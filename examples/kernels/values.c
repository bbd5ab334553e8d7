/* What every element must be: a function of the name of its variable, the step and its index in the dataset.
 * All values are whole numbers below 2^22, so they are exact in every type that the kernels use. */
#include "kernel.h"

enum { PARTS_MAX = 16, SEQUENCES = 1024 };

typedef enum { F32, F64, I32, I64, U16 } Kind;

/* A type taken apart: one part, or one for each member of a compound. */
typedef struct {
    Kind kind;
    size_t offset;
    uint32_t tag;
} Part;
typedef struct {
    Part parts[PARTS_MAX];
    int count;
    size_t size;
} Shape;

uint32_t tag_of(const char *name)
{
    uint32_t hash = 2166136261u;
    while (*name) hash = (hash ^ (unsigned char) *name++) * 16777619u;
    return hash;
}

static uint32_t value(uint32_t tag, int step, hsize_t index)
{
    uint32_t h = (uint32_t) (index ^ index >> 32) * 2654435761u + tag + (uint32_t) step * 0x9e3779b9u;
    return (h ^ h >> 15) & 0x3fffff;
}

static Kind kind_of(hid_t type)
{
    size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_FLOAT: return size == 4 ? F32 : F64;
    case H5T_INTEGER: return size == 2 ? U16 : size == 4 ? I32 : I64;
    default: fail("a type that the kernels do not use", __FILE__, __LINE__);
    }
}

static Shape shape_of(hid_t type, uint32_t tag)
{
    Shape s = {.size = H5Tget_size(type), .count = 1};
    if (H5Tget_class(type) != H5T_COMPOUND) {
        s.parts[0] = (Part){kind_of(type), 0, tag};
        return s;
    }
    s.count = H5Tget_nmembers(type);
    for (int i = 0; i < s.count; i++) {
        hid_t member = H5Tget_member_type(type, (unsigned) i);
        char *name = H5Tget_member_name(type, (unsigned) i);
        s.parts[i] = (Part){kind_of(member), H5Tget_member_offset(type, (unsigned) i), tag_of(name)};
        H5free_memory(name);
        H5Tclose(member);
    }
    return s;
}

#define EACH_ELEMENT(type, statement) \
    for (size_t k = 0; k < n; k++) { \
        type want = (type) value(p.tag, step, index + k); \
        char *at = base + k * s->size; \
        statement; \
    }

#define EACH_KIND(statement) \
    switch (p.kind) { \
    case F32: EACH_ELEMENT(float, statement) break; \
    case F64: EACH_ELEMENT(double, statement) break; \
    case I32: EACH_ELEMENT(int32_t, statement) break; \
    case I64: EACH_ELEMENT(int64_t, statement) break; \
    case U16: EACH_ELEMENT(uint16_t, statement) break; \
    }

static void fill_run(const Shape *s, int step, hsize_t index, char *data, size_t n)
{
    for (int i = 0; i < s->count; i++) {
        Part p = s->parts[i];
        char *base = data + p.offset;
        EACH_KIND(memcpy(at, &want, sizeof want))
    }
}

/* The number of wrong elements; *first is the index of the first one. */
static size_t compare_run(const Shape *s, int step, hsize_t index, char *data, size_t n, hsize_t *first)
{
    size_t wrong = 0;
    for (int i = 0; i < s->count; i++) {
        Part p = s->parts[i];
        char *base = data + p.offset;
        EACH_KIND(if (memcmp(at, &want, sizeof want) && !wrong++) *first = index + k)
    }
    return wrong;
}

static void compare(Run *r, const Field *f, const Shape *s, hsize_t index, char *data, size_t n)
{
    hsize_t first = 0;
    size_t wrong = compare_run(s, r->step, index, data, n, &first);
    if (wrong && !r->errors)
        fprintf(stderr, "rank %d: %s of step %d is wrong at element %llu\n", r->rank, f->name, r->step,
                (unsigned long long) first);
    r->errors += (long long) wrong;
}

/* The selected elements of a space, as sequences of (offset, length) in elements, in order. */
typedef struct {
    hid_t iterator;
    hsize_t offsets[SEQUENCES];
    size_t lengths[SEQUENCES], count, at;
} Cursor;

static void cursor_next(Cursor *c)
{
    size_t elements;
    if (c->at < c->count && c->lengths[c->at]) return;
    if (++c->at < c->count) return;
    OK(H5Ssel_iter_get_seq_list(c->iterator, SEQUENCES, (size_t) -1 >> 1, &c->count, &elements, c->offsets,
                                c->lengths));
    c->at = 0;
}

static void cursor_advance(Cursor *c, size_t n)
{
    c->offsets[c->at] += n;
    c->lengths[c->at] -= n;
}

void fill_or_compare(Run *r, const Field *f, hid_t memory_type, hid_t memory, hid_t file, void *data)
{
    Shape s = shape_of(memory_type, f->tag);
    hsize_t left = (hsize_t) OK(H5Sget_select_npoints(file));
    if ((hssize_t) left != H5Sget_select_npoints(memory))
        fail("selections differ in size", __FILE__, __LINE__);
    if (!left) return;
    static Cursor in_file, in_memory;
    in_file = (Cursor){.iterator = (hid_t) OK(H5Ssel_iter_create(file, 1, 0))};
    in_memory = (Cursor){.iterator = (hid_t) OK(H5Ssel_iter_create(memory, 1, 0))};
    while (left) {
        cursor_next(&in_file);
        cursor_next(&in_memory);
        size_t a = in_file.lengths[in_file.at], b = in_memory.lengths[in_memory.at], n = a < b ? a : b;
        char *at = (char *) data + in_memory.offsets[in_memory.at] * s.size;
        if (r->phase == FILL) fill_run(&s, r->step, in_file.offsets[in_file.at], at, n);
        else compare(r, f, &s, in_file.offsets[in_file.at], at, n);
        cursor_advance(&in_file, n);
        cursor_advance(&in_memory, n);
        left -= n;
    }
    H5Ssel_iter_close(in_file.iterator);
    H5Ssel_iter_close(in_memory.iterator);
}

static hsize_t product(const hsize_t *dims, int from, int to)
{
    hsize_t p = 1;
    for (int i = from; i < to; i++) p *= dims[i];
    return p;
}

static void check_form(Run *r, const Field *f, hid_t space, int dims_count, const hsize_t *dims)
{
    hsize_t found[H5S_MAX_RANK];
    hid_t type = H5Dget_type(f->id);
    int same = H5Sget_simple_extent_ndims(space) == dims_count && H5Tequal(type, f->type) > 0;
    if (same) {
        H5Sget_simple_extent_dims(space, found, NULL);
        same = !memcmp(found, dims, (size_t) dims_count * sizeof *dims);
    }
    if (!same) {
        fprintf(stderr, "rank %d: %s has another type or shape\n", r->rank, f->name);
        r->errors++;
    }
    H5Tclose(type);
}

/* Slabs: `rows` of dimension `axis`, all of the dimensions after it, one index of those before it. They go
 * round the ranks, each is contiguous in the dataset, and none is much larger than `slab_bytes`. */
void verify_dataset(Run *r, const Field *f, int dims_count, const hsize_t *dims)
{
    Shape s = shape_of(f->type, f->tag);
    hid_t space = (hid_t) OK(H5Dget_space(f->id));
    check_form(r, f, space, dims_count, dims);
    hsize_t slab_bytes = product(dims, 0, dims_count) * s.size / (hsize_t) r->ranks + 1, row, rows, blocks;
    if (slab_bytes > 4 << 20) slab_bytes = 4 << 20;
    int axis = 0;
    while (axis < dims_count - 1 && product(dims, axis + 1, dims_count) * s.size > slab_bytes) axis++;
    row = product(dims, axis + 1, dims_count);
    rows = slab_bytes / (row * s.size) ? slab_bytes / (row * s.size) : 1;
    blocks = (dims[axis] + rows - 1) / rows;
    char *data = malloc(rows * row * s.size);
    if (!data) fail("no memory to verify", __FILE__, __LINE__);
    for (hsize_t slab = (hsize_t) r->rank; slab < product(dims, 0, axis) * blocks;
         slab += (hsize_t) r->ranks) {
        hsize_t start[DIMS_MAX] = {0}, count[DIMS_MAX], outer = slab / blocks, first = slab % blocks * rows;
        hsize_t index = (outer * dims[axis] + first) * row;
        for (int i = axis - 1; i >= 0; outer /= dims[i], i--) start[i] = outer % dims[i], count[i] = 1;
        start[axis] = first;
        count[axis] = dims[axis] - first < rows ? dims[axis] - first : rows;
        for (int i = axis + 1; i < dims_count; i++) count[i] = dims[i];
        hsize_t elements = count[axis] * row;
        hid_t memory = (hid_t) OK(H5Screate_simple(1, &elements, NULL));
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        memset(data, 0xa5, elements * s.size);
        OK(H5Dread(f->id, f->type, memory, space, H5P_DEFAULT, data));
        compare(r, f, &s, index, data, elements);
        H5Sclose(memory);
    }
    free(data);
    H5Sclose(space);
}
