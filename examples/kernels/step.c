/* The calls with which a kernel describes its time step; what each does depends on the phase (see kernel.h).
 */
#include "kernel.h"

void *buffer(Run *r, int slot, hsize_t bytes)
{
    if (slot >= BUFFERS_MAX) fail("too many buffers", __FILE__, __LINE__);
    if (r->buffers[slot].bytes < bytes) {
        free(r->buffers[slot].memory);
        r->buffers[slot].memory = malloc(bytes);
        r->buffers[slot].bytes = bytes;
        if (!r->buffers[slot].memory) fail("no memory for the data", __FILE__, __LINE__);
        memset(r->buffers[slot].memory, 0xa5, bytes);
    }
    return r->buffers[slot].memory;
}

void share(const Run *r, hsize_t total, hsize_t *start, hsize_t *count)
{
    hsize_t ranks = (hsize_t) r->ranks, rank = (hsize_t) r->rank, rest = total % ranks;
    *count = total / ranks + (rank < rest);
    *start = total / ranks * rank + (rank < rest ? rank : rest);
}

hid_t block_space(int dims_count, const hsize_t *dims, const hsize_t *start, const hsize_t *count)
{
    hid_t space = (hid_t) OK(H5Screate_simple(dims_count, dims, NULL));
    int empty = 0, whole = 1;
    for (int i = 0; i < dims_count; i++) {
        empty |= count[i] == 0;
        whole &= count[i] == dims[i];
    }
    if (empty) OK(H5Sselect_none(space));
    else if (!whole) OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    return space;
}

/* Halves the longest edge until a chunk is small enough. */
static void set_chunk(hid_t properties, long long bytes_max, size_t element, int dims_count,
                      const hsize_t *dims)
{
    hsize_t chunk[DIMS_MAX];
    memcpy(chunk, dims, (size_t) dims_count * sizeof *dims);
    for (;;) {
        hsize_t bytes = element;
        int longest = 0;
        for (int i = 0; i < dims_count; i++) {
            bytes *= chunk[i];
            if (chunk[i] > chunk[longest]) longest = i;
        }
        if (bytes <= (hsize_t) bytes_max || chunk[longest] == 1) break;
        chunk[longest] = (chunk[longest] + 1) / 2;
    }
    OK(H5Pset_chunk(properties, dims_count, chunk));
}

static hid_t create(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims)
{
    hid_t space = (hid_t) OK(H5Screate_simple(dims_count, dims, NULL));
    hid_t properties = (hid_t) OK(H5Pcreate(H5P_DATASET_CREATE));
    hid_t id;
    if (r->opt.chunk) set_chunk(properties, r->opt.chunk, H5Tget_size(type), dims_count, dims);
    TIMED(r, DATA_CREATE, id = H5Dcreate2(location, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    OK(id);
    H5Pclose(properties);
    H5Sclose(space);
    return id;
}

static hid_t open_dataset(Run *r, hid_t location, const char *name)
{
    hid_t id;
    TIMED(r, DATA_OPEN, id = H5Dopen2(location, name, H5P_DEFAULT));
    return (hid_t) OK(id);
}

static void close_dataset(Run *r, hid_t id)
{
    TIMED(r, DATA_CLOSE, OK(H5Dclose(id)));
}

Field field_begin(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims)
{
    Field f = {.id = -1, .location = location, .type = type, .tag = tag_of(name), .name = name};
    if (r->opt.per_process) return f;
    if (r->phase == WRITE) f.id = create(r, location, name, type, dims_count, dims);
    if (r->phase == READ || r->phase == VERIFY) f.id = open_dataset(r, location, name);
    if (r->phase == VERIFY) verify_dataset(r, &f, dims_count, dims);
    return f;
}

static void transfer(Run *r, hid_t id, hid_t type, hid_t memory, hid_t file, void *data)
{
    if (r->opt.no_data) return;
    if (r->phase == WRITE) TIMED(r, DATA_WRITE, OK(H5Dwrite(id, type, memory, file, r->transfer, data)));
    else TIMED(r, DATA_READ, OK(H5Dread(id, type, memory, file, r->transfer, data)));
}

/* File per process: what a rank moves is a dataset of its own, one-dimensional, in a file of its own. */
static void move_to_own_file(Run *r, Field *f, hid_t type, hid_t memory, hid_t file, void *data)
{
    char name[128];
    hsize_t points = (hsize_t) H5Sget_select_npoints(file);
    int subset = H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) < H5Tget_nmembers(f->type);
    snprintf(name, sizeof name, "%s.%d", f->name, f->moves);
    if (!points) return;
    hid_t id = r->phase == WRITE ? create(r, f->location, name, subset ? type : f->type, 1, &points)
                                 : open_dataset(r, f->location, name);
    transfer(r, id, type, memory, H5S_ALL, data);
    close_dataset(r, id);
}

void move(Run *r, Field *f, hid_t memory_type, hid_t memory, hid_t file, void *data)
{
    size_t in_memory = H5Tget_size(memory_type), in_file = H5Tget_size(f->type);
    if (r->phase == FILL || r->phase == COMPARE) fill_or_compare(r, f, memory_type, memory, file, data);
    else if (r->phase != VERIFY) {
        if (r->opt.per_process) move_to_own_file(r, f, memory_type, memory, file, data);
        else transfer(r, f->id, memory_type, memory, file, data);
        r->bytes_moved +=
            H5Sget_select_npoints(file) * (long long) (in_memory < in_file ? in_memory : in_file);
    }
    f->moves++;
    H5Sclose(memory);
    H5Sclose(file);
}

void field_close(Run *r, Field *f)
{
    if (f->id >= 0) close_dataset(r, f->id);
}

void field_block(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims,
                 const hsize_t *start, const hsize_t *count, void *data)
{
    static const hsize_t origin[DIMS_MAX];
    Field f = field_begin(r, location, name, type, dims_count, dims);
    hsize_t extent[DIMS_MAX];
    for (int i = 0; i < dims_count; i++) extent[i] = count[i] ? count[i] : 1;
    move(r, &f, type, block_space(dims_count, extent, origin, count),
         block_space(dims_count, dims, start, count), data);
    field_close(r, &f);
}

hid_t group_begin(Run *r, hid_t location, const char *name)
{
    hid_t group = -1;
    if (r->phase == FILL || r->phase == COMPARE) return -1;
    if (r->phase == WRITE)
        TIMED(r, METADATA, group = H5Gcreate2(location, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    else TIMED(r, METADATA, group = H5Gopen2(location, name, H5P_DEFAULT));
    return (hid_t) OK(group);
}

void group_close(Run *r, hid_t group)
{
    if (group >= 0) TIMED(r, METADATA, OK(H5Gclose(group)));
}

/* Compares metadata that was read with what was written. */
static void expect(Run *r, const char *name, const void *found, const void *wanted, size_t bytes)
{
    if (!memcmp(found, wanted, bytes)) return;
    fprintf(stderr, "rank %d: %s of step %d is wrong\n", r->rank, name, r->step);
    r->errors++;
}

static void write_attribute(hid_t location, const char *name, hid_t type, hsize_t count, const void *data)
{
    hid_t space = (hid_t) OK(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL));
    hid_t id = (hid_t) OK(H5Acreate2(location, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    OK(H5Awrite(id, type, data));
    OK(H5Aclose(id));
    H5Sclose(space);
}

void attribute(Run *r, hid_t location, const char *name, hid_t type, hsize_t count, const void *data)
{
    if (r->phase == WRITE) TIMED(r, METADATA, write_attribute(location, name, type, count, data));
    if (r->phase != VERIFY) return;
    size_t bytes = H5Tget_size(type) * count;
    void *found = calloc(1, bytes);
    hid_t id = (hid_t) OK(H5Aopen(location, name, H5P_DEFAULT));
    OK(H5Aread(id, type, found));
    expect(r, name, found, data, bytes);
    OK(H5Aclose(id));
    free(found);
}

static void write_root_dataset(Run *r, hid_t location, const char *name, hid_t type, int dims_count,
                               const hsize_t *dims, const void *data)
{
    hid_t space = (hid_t) OK(H5Screate_simple(dims_count, dims, NULL));
    hid_t id = (hid_t) OK(H5Dcreate2(location, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (r->rank == 0) OK(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    OK(H5Dclose(id));
    H5Sclose(space);
}

void root_dataset(Run *r, hid_t location, const char *name, hid_t type, int dims_count, const hsize_t *dims,
                  const void *data)
{
    if (r->phase == WRITE)
        TIMED(r, METADATA, write_root_dataset(r, location, name, type, dims_count, dims, data));
    if (r->phase != VERIFY) return;
    size_t bytes = H5Tget_size(type);
    for (int i = 0; i < dims_count; i++) bytes *= dims[i];
    void *found = calloc(1, bytes);
    hid_t id = (hid_t) OK(H5Dopen2(location, name, H5P_DEFAULT));
    OK(H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found));
    expect(r, name, found, data, bytes);
    OK(H5Dclose(id));
    free(found);
}
