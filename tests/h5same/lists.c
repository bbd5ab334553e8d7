/* Creation properties of files, groups and datasets, and how a dataset is stored. */
#include "same.h"

/* --- files ---------------------------------------------------------------------------------------------------------- */

static void same_user_blocks(hsize_t size)
{
    FILE *raw[2] = {fopen(same.name[0], "rb"), fopen(same.name[1], "rb")};
    for (hsize_t i = 0; i < size && raw[0] && raw[1]; i++)
        if (fgetc(raw[0]) != fgetc(raw[1])) {
            differ("/", "the user blocks differ at byte %llu", (unsigned long long)i);
            break;
        }
    for (int i = 0; i < 2; i++)
        if (raw[i])
            fclose(raw[i]);
}

void same_file_lists(Pair files)
{
    Pair                  l = {{H5Fget_create_plist(files.id[0]), H5Fget_create_plist(files.id[1])}};
    hsize_t               block[2], page[2], threshold[2];
    size_t                addr[2], size[2];
    unsigned              group[2], leaf[2], chunks[2], indices[2];
    H5F_fspace_strategy_t strategy[2];
    hbool_t               persist[2];
    for (int i = 0; i < 2; i++) {
        H5Pget_userblock(l.id[i], &block[i]);
        H5Pget_sizes(l.id[i], &addr[i], &size[i]);
        H5Pget_sym_k(l.id[i], &group[i], &leaf[i]);
        H5Pget_istore_k(l.id[i], &chunks[i]);
        H5Pget_shared_mesg_nindexes(l.id[i], &indices[i]);
        H5Pget_file_space_strategy(l.id[i], &strategy[i], &persist[i], &threshold[i]);
        H5Pget_file_space_page_size(l.id[i], &page[i]);
        H5Pclose(l.id[i]);
    }
    if (equal("/", "user block", (long long)block[0], (long long)block[1]))
        same_user_blocks(block[0]);
    equal("/", "bytes of an address", (long long)addr[0], (long long)addr[1]);
    equal("/", "bytes of a size", (long long)size[0], (long long)size[1]);
    equal("/", "rank of group trees", group[0], group[1]);
    equal("/", "size of group leaves", leaf[0], leaf[1]);
    equal("/", "rank of chunk trees", chunks[0], chunks[1]);
    equal("/", "shared message indices", indices[0], indices[1]);
    equal("/", "file space strategy", strategy[0], strategy[1]);
    equal("/", "free space is kept", persist[0], persist[1]);
    equal("/", "free space threshold", (long long)threshold[0], (long long)threshold[1]);
    equal("/", "file space page", (long long)page[0], (long long)page[1]);
}

/* --- groups --------------------------------------------------------------------------------------------------------- */

static void same_object_lists(const char *path, Pair l)
{
    unsigned order[2] = {0, 0}, most[2] = {0, 0}, least[2] = {0, 0};
    bool     times[2] = {false, false};
    for (int i = 0; i < 2; i++) {
        H5Pget_attr_creation_order(l.id[i], &order[i]);
        H5Pget_attr_phase_change(l.id[i], &most[i], &least[i]);
        H5Pget_obj_track_times(l.id[i], &times[i]);
    }
    equal(path, "attribute creation order", order[0], order[1]);
    equal(path, "most compact attributes", most[0], most[1]);
    equal(path, "least dense attributes", least[0], least[1]);
    equal(path, "times are kept", times[0], times[1]);
}

void same_group_lists(const char *path, Pair groups)
{
    Pair     l = {{H5Gget_create_plist(groups.id[0]), H5Gget_create_plist(groups.id[1])}};
    unsigned order[2] = {0, 0}, most[2] = {0, 0}, least[2] = {0, 0};
    same_object_lists(path, l);
    for (int i = 0; i < 2; i++) {
        H5Pget_link_creation_order(l.id[i], &order[i]);
        H5Pget_link_phase_change(l.id[i], &most[i], &least[i]);
        H5Pclose(l.id[i]);
    }
    equal(path, "link creation order", order[0], order[1]);
    equal(path, "most compact links", most[0], most[1]);
    equal(path, "least dense links", least[0], least[1]);
}

/* --- datasets --------------------------------------------------------------------------------------------------------- */

static void same_chunking(const char *path, Pair l)
{
    hsize_t  dims[2][H5S_MAX_RANK];
    unsigned options[2] = {0, 0};
    int      n[2];
    for (int i = 0; i < 2; i++) {
        n[i] = H5Pget_chunk(l.id[i], H5S_MAX_RANK, dims[i]);
        H5Pget_chunk_opts(l.id[i], &options[i]);
    }
    equal(path, "chunk options", options[0], options[1]);
    if (equal(path, "dimensions of a chunk", n[0], n[1]))
        for (int d = 0; d < n[0]; d++)
            equal(path, "chunk dimension", (long long)dims[0][d], (long long)dims[1][d]);
}

static void same_filters(const char *path, Pair l)
{
    enum { VALUES = 64 };
    if (!equal(path, "number of filters", H5Pget_nfilters(l.id[0]), H5Pget_nfilters(l.id[1])))
        return;
    for (int f = 0; f < H5Pget_nfilters(l.id[0]); f++) {
        unsigned     flags[2], values[2][VALUES];
        size_t       count[2] = {VALUES, VALUES};
        char         name[2][128] = {"", ""};
        H5Z_filter_t id[2];
        for (int i = 0; i < 2; i++)
            id[i] = H5Pget_filter2(l.id[i], (unsigned)f, &flags[i], &count[i], values[i], sizeof name[i], name[i], NULL);
        equal(path, "filter", id[0], id[1]);
        equal(path, "flags of a filter", flags[0], flags[1]);
        if (strcmp(name[0], name[1]) != 0)
            differ(path, "filter names %s and %s", name[0], name[1]);
        if (equal(path, "values of a filter", (long long)count[0], (long long)count[1]) &&
            memcmp(values[0], values[1], (count[0] < VALUES ? count[0] : VALUES) * sizeof(unsigned)) != 0)
            differ(path, "the values of filter %d differ", id[0]);
    }
}

static void same_fill(const char *path, Pair l, Pair datasets)
{
    H5D_alloc_time_t alloc[2];
    H5D_fill_time_t  when[2];
    H5D_fill_value_t defined[2];
    for (int i = 0; i < 2; i++) {
        H5Pget_alloc_time(l.id[i], &alloc[i]);
        H5Pget_fill_time(l.id[i], &when[i]);
        H5Pfill_value_defined(l.id[i], &defined[i]);
    }
    equal(path, "allocation time", alloc[0], alloc[1]);
    equal(path, "fill time", when[0], when[1]);
    if (!equal(path, "fill value is defined", defined[0], defined[1]) || defined[0] != H5D_FILL_VALUE_USER_DEFINED)
        return;
    Pair types = {{H5Dget_type(datasets.id[0]), H5Dget_type(datasets.id[1])}};
    if (H5Tget_size(types.id[0]) == H5Tget_size(types.id[1])) {
        hid_t scalar = H5Screate(H5S_SCALAR);
        void *value[2] = {calloc(1, H5Tget_size(types.id[0])), calloc(1, H5Tget_size(types.id[0]))};
        bool  read[2];
        for (int i = 0; i < 2; i++)
            read[i] = H5Pget_fill_value(l.id[i], types.id[i], value[i]) >= 0;
        if (!read[0] || !read[1])
            stuck(path, "the fill value cannot be read");
        else if (!same_elements(path, types, (Bytes){{value[0], value[1]}}, 1))
            printf("  (in the fill value)\n");
        for (int i = 0; i < 2; i++) {
            if (read[i])
                H5Treclaim(types.id[i], scalar, H5P_DEFAULT, value[i]);
            free(value[i]);
        }
        H5Sclose(scalar);
    }
    H5Tclose(types.id[0]);
    H5Tclose(types.id[1]);
}

static void same_external(const char *path, Pair l)
{
    if (!equal(path, "external files", H5Pget_external_count(l.id[0]), H5Pget_external_count(l.id[1])))
        return;
    for (int f = 0; f < H5Pget_external_count(l.id[0]); f++) {
        char    name[2][1024] = {"", ""};
        off_t   offset[2];
        hsize_t size[2];
        for (int i = 0; i < 2; i++)
            H5Pget_external(l.id[i], (unsigned)f, sizeof name[i], name[i], &offset[i], &size[i]);
        if (strcmp(name[0], name[1]) != 0)
            differ(path, "external files %s and %s", name[0], name[1]);
        equal(path, "offset in an external file", offset[0], offset[1]);
        equal(path, "size in an external file", (long long)size[0], (long long)size[1]);
    }
}

static void same_virtual(const char *path, Pair l)
{
    size_t count[2] = {0, 0};
    H5Pget_virtual_count(l.id[0], &count[0]);
    H5Pget_virtual_count(l.id[1], &count[1]);
    if (!equal(path, "virtual mappings", (long long)count[0], (long long)count[1]))
        return;
    for (size_t m = 0; m < count[0]; m++) {
        char file[2][1024] = {"", ""}, dataset[2][1024] = {"", ""};
        Pair there, here;
        for (int i = 0; i < 2; i++) {
            H5Pget_virtual_filename(l.id[i], m, file[i], sizeof file[i]);
            H5Pget_virtual_dsetname(l.id[i], m, dataset[i], sizeof dataset[i]);
            there.id[i] = H5Pget_virtual_srcspace(l.id[i], m);
            here.id[i]  = H5Pget_virtual_vspace(l.id[i], m);
        }
        if (strcmp(file[0], file[1]) != 0 || strcmp(dataset[0], dataset[1]) != 0)
            differ(path, "virtual sources %s:%s and %s:%s", file[0], dataset[0], file[1], dataset[1]);
        if (!same_selections(there) || !same_selections(here))
            differ(path, "the selections of virtual mapping %zu differ", m);
        for (int i = 0; i < 2; i++) {
            H5Sclose(there.id[i]);
            H5Sclose(here.id[i]);
        }
    }
}

void same_dataset_lists(const char *path, Pair datasets)
{
    Pair               l = {{H5Dget_create_plist(datasets.id[0]), H5Dget_create_plist(datasets.id[1])}};
    H5D_space_status_t status[2] = {H5D_SPACE_STATUS_ERROR, H5D_SPACE_STATUS_ERROR};
    H5D_layout_t       layout[2] = {H5Pget_layout(l.id[0]), H5Pget_layout(l.id[1])};
    same_object_lists(path, l);
    same_filters(path, l);
    same_external(path, l);
    same_fill(path, l, datasets);
    if (equal(path, "layout", layout[0], layout[1])) {
        if (layout[0] == H5D_CHUNKED)
            same_chunking(path, l);
        if (layout[0] == H5D_VIRTUAL)
            same_virtual(path, l);
    }
    for (int i = 0; i < 2; i++)
        H5Dget_space_status(datasets.id[i], &status[i]);
    equal(path, "allocated space", status[0], status[1]);
    equal(path, "bytes of storage", (long long)H5Dget_storage_size(datasets.id[0]), (long long)H5Dget_storage_size(datasets.id[1]));
    H5Pclose(l.id[0]);
    H5Pclose(l.id[1]);
}
