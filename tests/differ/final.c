/* The end of a program: rank 0 reads every file with HDF5's own connector and driver, whatever the program used. */
#include "differ.h"

static hid_t native_list(void)
{
    hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS)), native = ID(H5VLregister_connector_by_name("native", H5P_DEFAULT));
    OK(H5Pset_vol(fapl, native, NULL));
    OK(H5VLclose(native));
    return fapl;
}

static herr_t show_link(hid_t group, const char *name, const H5L_info2_t *info, void *count)
{
    (void)group;
    ++*(int *)count;
    say("  link %s, type %d", name, (int)info->type);
    return 0;
}

static void check_set(Set *set, hid_t id)
{
    hid_t    handle = ID(H5Dopen2(id, set->path, H5P_DEFAULT));
    Transfer t      = {.set = set, .handle = handle};
    Side     side   = {.space = H5S_ALL};
    size_t   n      = volume(set->ndims, set->dims);
    t.part[rank]    = select_all(set->ndims, set->dims);
    t.layout[rank]  = layout_of(set->type, EXACT, false, program.random, &set->file);
    side.memory     = memory_row(n, false);
    side.buffer     = calloc(n + 1, set->file.size + sizeof(hvl_t));
    OK(H5Dread(handle, t.layout[rank].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, side.buffer));
    say("  %s at the end: %016llx, storage %llu", set->path, (unsigned long long)check_values(&t, &side, &t.part[rank], true),
        (unsigned long long)H5Dget_storage_size(handle));
    if (type_is_variable(set->type) && n)
        OK(H5Treclaim(t.layout[rank].type, side.memory.space, H5P_DEFAULT, side.buffer));
    side_free(&side);
    transfer_free(&t);
    OK(H5Dclose(handle));
}

void check_file(File *file)
{
    if (rank != 0)
        return;
    int   links = 0;
    hid_t fapl  = native_list();
    now("the end of %s", file->name);
    hid_t id = ID(H5Fopen(file->name, H5F_ACC_RDONLY, fapl));
    OK(H5Lvisit2(id, H5_INDEX_NAME, H5_ITER_INC, show_link, &links));
    for (int i = 0; i < SETS_MAX; i++)
        if (file->set[i].alive)
            check_set(&file->set[i], id);
    for (int i = 0; i < ATTRS_MAX; i++) {
        const Attr *attr = &file->attr[i];
        char        name[16];
        snprintf(name, sizeof name, "a%d", attr->name);
        if (!attr->alive)
            continue;
        int   value[4] = {0};
        hid_t a = ID(H5Aopen_by_name(id, attr->on < 0 ? "/" : file->set[attr->on].path, name, H5P_DEFAULT, H5P_DEFAULT));
        OK(H5Aread(a, H5T_NATIVE_INT, value));
        OK(H5Aclose(a));
        if (memcmp(value, attr->value, sizeof value) != 0)
            wrong("attribute %s is %d ..., not %d ... at the end", name, value[0], attr->value[0]);
    }
    OK(H5Fclose(id));
    H5Pclose(fapl);
}
