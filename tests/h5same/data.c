/* Attributes and datasets. A dataset is read block by block, so that its size does not matter. */
#include "same.h"

enum { BLOCK_BYTES_MAX = 8 << 20 };

/* --- attributes ----------------------------------------------------------------------------------------------------- */

static void same_attribute_values(const char *path, Pair attrs)
{
    Pair   types = {{H5Aget_type(attrs.id[0]), H5Aget_type(attrs.id[1])}}, spaces = {{H5Aget_space(attrs.id[0]), H5Aget_space(attrs.id[1])}};
    size_t count = (size_t)H5Sget_simple_extent_npoints(spaces.id[0]), size = H5Tget_size(types.id[0]);
    if (same_types(path, types) && same_spaces(path, "attribute", spaces) && H5Sget_simple_extent_type(spaces.id[0]) != H5S_NULL) {
        void *buf[2] = {calloc(count + 1, size), calloc(count + 1, size)};
        bool  read[2];
        for (int i = 0; i < 2; i++)
            read[i] = H5Aread(attrs.id[i], types.id[i], buf[i]) >= 0;
        if (read[0] && read[1])
            same_elements(path, types, (Bytes){{buf[0], buf[1]}}, count);
        else if (read[0] != read[1])
            differ(path, "the attribute cannot be read in %c", read[0] ? 'B' : 'A');
        else
            stuck(path, "the attribute cannot be read");
        for (int i = 0; i < 2; i++) {
            if (read[i])
                H5Treclaim(types.id[i], spaces.id[i], H5P_DEFAULT, buf[i]);
            free(buf[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        H5Tclose(types.id[i]);
        H5Sclose(spaces.id[i]);
    }
}

static void same_attribute(const char *object_path, Pair objects, const char *name)
{
    size_t     length = strlen(object_path) + strlen(name) + 2;
    char      *path   = malloc(length);
    H5A_info_t info[2];
    snprintf(path, length, "%s@%s", object_path, name);
    same.count.attributes++;
    Pair attrs = {{H5Aopen(objects.id[0], name, H5P_DEFAULT), H5Aopen(objects.id[1], name, H5P_DEFAULT)}};
    if (attrs.id[0] < 0 || attrs.id[1] < 0 || H5Aget_info(attrs.id[0], &info[0]) < 0 || H5Aget_info(attrs.id[1], &info[1]) < 0)
        stuck(path, "the attribute cannot be opened");
    else {
        equal(path, "character set of the name", info[0].cset, info[1].cset);
        if (equal(path, "creation order is known", info[0].corder_valid, info[1].corder_valid) && info[0].corder_valid)
            equal(path, "creation order", info[0].corder, info[1].corder);
        same_attribute_values(path, attrs);
    }
    for (int i = 0; i < 2; i++)
        if (attrs.id[i] >= 0)
            H5Aclose(attrs.id[i]);
    free(path);
}

typedef struct {
    char **name;
    size_t count;
} Names;

static herr_t collect(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    Names *names = data;
    (void)object, (void)info;
    names->name                 = realloc(names->name, (names->count + 1) * sizeof *names->name);
    names->name[names->count++] = strdup(name);
    return 0;
}

void same_attributes(const char *path, Pair objects)
{
    Names names[2];
    memset(names, 0, sizeof names);
    for (int i = 0; i < 2; i++)
        if (H5Aiterate2(objects.id[i], H5_INDEX_NAME, H5_ITER_INC, NULL, collect, &names[i]) < 0)
            stuck(path, "the attributes cannot be listed");
    for (size_t a = 0, b = 0; a < names[0].count || b < names[1].count;) {
        int order = a == names[0].count ? 1 : b == names[1].count ? -1 : strcmp(names[0].name[a], names[1].name[b]);
        if (order < 0)
            differ(path, "only A has an attribute %s", names[0].name[a++]);
        else if (order > 0)
            differ(path, "only B has an attribute %s", names[1].name[b++]);
        else
            same_attribute(path, objects, names[0].name[a++]), b++;
    }
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < names[i].count; k++)
            free(names[i].name[k]);
        free(names[i].name);
    }
}

/* --- chunks as they are stored --------------------------------------------------------------------------------------- */

static herr_t read_chunk(hid_t dataset, const hsize_t *offset, uint32_t *mask, void *buf, size_t size)
{
#if H5_VERSION_GE(2, 0, 0)
    return H5Dread_chunk2(dataset, H5P_DEFAULT, offset, mask, buf, &size);
#else
    (void)size;
    return H5Dread_chunk(dataset, H5P_DEFAULT, offset, mask, buf);
#endif
}

/* For data behind a filter that this program does not have. */
static void same_raw_chunks(const char *path, Pair datasets)
{
    hsize_t count[2] = {0, 0}, offset[H5S_MAX_RANK], size[2];
    for (int i = 0; i < 2; i++)
        if (H5Dget_num_chunks(datasets.id[i], H5S_ALL, &count[i]) < 0) {
            stuck(path, "neither the values nor the chunks can be read");
            return;
        }
    if (!equal(path, "number of chunks", (long long)count[0], (long long)count[1]))
        return;
    for (hsize_t c = 0; c < count[0]; c++) {
        unsigned mask[2];
        haddr_t  at;
        if (H5Dget_chunk_info(datasets.id[0], H5S_ALL, c, offset, &mask[0], &at, &size[0]) < 0 ||
            H5Dget_chunk_info_by_coord(datasets.id[1], offset, &mask[1], &at, &size[1]) < 0) {
            stuck(path, "no information about a chunk");
            return;
        }
        if (!equal(path, "size of a chunk", (long long)size[0], (long long)size[1]) || !equal(path, "skipped filters of a chunk", mask[0], mask[1]))
            return;
        unsigned char *buf[2] = {malloc(size[0]), malloc(size[1])};
        uint32_t       filters;
        for (int i = 0; i < 2; i++)
            if (read_chunk(datasets.id[i], offset, &filters, buf[i], size[i]) < 0)
                stuck(path, "a chunk cannot be read");
        if (memcmp(buf[0], buf[1], size[0]) != 0)
            differ(path, "the stored bytes of chunk %llu differ", (unsigned long long)c);
        same.count.bytes += size[0];
        free(buf[0]);
        free(buf[1]);
    }
}

/* --- values, block by block ------------------------------------------------------------------------------------------- */

/* A block shape of at most the budget: whole in the fast dimensions, one in the slow ones. */
static void block_shape(int rank, const hsize_t *dims, size_t element, hsize_t *block)
{
    hsize_t room = BLOCK_BYTES_MAX / element;
    room         = room ? room : 1;
    for (int d = rank - 1; d >= 0; d--) {
        block[d] = dims[d] < room ? dims[d] : room;
        room     = room / (block[d] ? block[d] : 1);
        room     = room ? room : 1;
    }
}

/* The next block, or false after the last. */
static bool next_block(int rank, const hsize_t *dims, const hsize_t *block, hsize_t *start)
{
    for (int d = rank - 1; d >= 0; d--) {
        if ((start[d] += block[d]) < dims[d])
            return true;
        start[d] = 0;
    }
    return false;
}

enum outcome { SAME, DIFFERENT, UNREADABLE };

static enum outcome same_block(const char *path, Pair datasets, Pair types, hid_t file_space, size_t count, void *const buf[2])
{
    hsize_t n      = count;
    hid_t   memory = H5Screate_simple(1, &n, NULL);
    bool    read[2];
    size_t  size = H5Tget_size(types.id[0]);
    for (int i = 0; i < 2; i++) {
        memset(buf[i], 0, count * size);
        read[i] = H5Dread(datasets.id[i], types.id[i], memory, file_space, H5P_DEFAULT, buf[i]) >= 0;
    }
    enum outcome result = UNREADABLE;
    if (read[0] && read[1])
        result = same_elements(path, types, (Bytes){{buf[0], buf[1]}}, count) ? SAME : DIFFERENT;
    else if (read[0] != read[1]) {
        differ(path, "the values cannot be read in %c", read[0] ? 'B' : 'A');
        result = DIFFERENT;
    }
    for (int i = 0; i < 2; i++)
        if (read[i])
            H5Treclaim(types.id[i], memory, H5P_DEFAULT, buf[i]);
    H5Sclose(memory);
    return result;
}

static void same_values(const char *path, Pair datasets, Pair types, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK], block[H5S_MAX_RANK], start[H5S_MAX_RANK] = {0}, take[H5S_MAX_RANK];
    int     rank = H5Sget_simple_extent_dims(space, dims, NULL);
    size_t  size = H5Tget_size(types.id[0]), most = 1;
    if (H5Sget_simple_extent_npoints(space) <= 0)
        return;
    block_shape(rank, dims, size, block);
    for (int d = 0; d < rank; d++)
        most *= (size_t)block[d];
    void        *buf[2] = {malloc(most * size), malloc(most * size)};
    enum outcome result;
    do {
        size_t count = 1;
        for (int d = 0; d < rank; d++) {
            take[d] = start[d] + block[d] > dims[d] ? dims[d] - start[d] : block[d];
            count *= (size_t)take[d];
        }
        if (rank > 0)
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, take, NULL);
        result = same_block(path, datasets, types, space, count, buf);
    } while (result == SAME && next_block(rank, dims, block, start));
    if (result == UNREADABLE)
        same_raw_chunks(path, datasets);
    free(buf[0]);
    free(buf[1]);
}

void same_dataset(const char *path, Pair datasets)
{
    Pair types = {{H5Dget_type(datasets.id[0]), H5Dget_type(datasets.id[1])}}, spaces = {{H5Dget_space(datasets.id[0]), H5Dget_space(datasets.id[1])}};
    same.count.datasets++;
    same_dataset_lists(path, datasets);
    if (same_types(path, types) && same_spaces(path, "dataset", spaces)) {
        if (H5Tcommitted(types.id[0]) > 0)
            same_target(path, types);
        if (H5Sget_simple_extent_type(spaces.id[0]) != H5S_NULL)
            same_values(path, datasets, types, spaces.id[0]);
    }
    for (int i = 0; i < 2; i++) {
        H5Tclose(types.id[i]);
        H5Sclose(spaces.id[i]);
    }
}
