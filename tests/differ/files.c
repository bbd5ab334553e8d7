/* Files: their kinds, communicators and lists; opening, closing, flushing; mounts and external links. */
#include "differ.h"

enum { TARGETS = 3 };

static MPI_Info draw_hints(Random *r)
{
    MPI_Info info = MPI_INFO_NULL;
    if (chance(r, 70)) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_ds_write", "disable");
        if (chance(r, 30))
            MPI_Info_set(info, "cb_buffer_size", "4096");
        if (chance(r, 30))
            MPI_Info_set(info, "cb_nodes", "2");
    }
    return info;
}

static hid_t access_list(Random *r, File *file)
{
    hid_t fapl = ID(H5Pcreate(H5P_FILE_ACCESS));
    OK(H5Pset_fclose_degree(fapl, program.degree)); /* the same for all files: else they cannot be mounted */
    if (chance(r, 30))
        OK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    if (chance(r, 20))
        OK(H5Pset_alignment(fapl, 64, 256));
    if (chance(r, 20))
        OK(H5Pset_meta_block_size(fapl, 512));
    file->all_collective = chance(r, 25);
    if (file->all_collective)
        OK(H5Pset_all_coll_metadata_ops(fapl, true));
    if (chance(r, 40)) {
        OK(H5Pset_coll_metadata_write(fapl, true));
        cover(file->all_collective ? "file.metadata_written_and_read_together" : "file.metadata_written_together");
    }
    return fapl;
}

static hid_t creation_list(Random *r)
{
    hid_t fcpl = ID(H5Pcreate(H5P_FILE_CREATE));
    if (chance(r, 20)) {
        OK(H5Pset_userblock(fcpl, chance(r, 50) ? 512 : 2048));
        cover("file.userblock");
    }
    if (chance(r, 15)) {
        OK(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, false, 1));
        OK(H5Pset_file_space_page_size(fcpl, 512));
        cover("file.paged");
    }
    return fcpl;
}

/* All ranks, or those of one side of a split. */
static void draw_members(Random *r, File *file)
{
    unsigned everybody = (1u << nranks) - 1;
    file->members      = everybody;
    if (nranks > 1 && chance(r, 20)) {
        int side = below(r, 2);
        file->members = 0;
        for (int q = side; q < nranks; q += 2)
            file->members |= 1u << q;
        cover("file.split");
    }
    file->member = file->members >> rank & 1;
    MPI_Comm_split(MPI_COMM_WORLD, file->member ? 0 : 1, rank, &file->comm);
}

/* The communicator that HDF5 gets is often gone when it has opened the file. */
static hid_t with_communicator(hid_t (*open)(File *, hid_t), File *file, bool lasting)
{
    MPI_Comm comm = file->comm;
    hid_t    fapl = ID(H5Pcopy(file->fapl));
    if (!lasting)
        MPI_Comm_dup(file->comm, &comm);
    OK(H5Pset_fapl_mpio(fapl, comm, file->hints));
    if (!lasting)
        MPI_Comm_free(&comm);
    hid_t id = open(file, fapl);
    H5Pclose(fapl);
    if (file->atomic)
        OK(H5Fset_mpi_atomicity(id, true));
    file->root = file->bare ? id : ID(H5Gopen2(id, "/", H5P_DEFAULT));
    return id;
}

/* Datasets that are still open keep the file open, or are closed with it, or must not be there. */
static void close_id(File *file)
{
    if (!file->member)
        return;
    if (!file->bare)
        OK(H5Gclose(file->root));
    OK(H5Fclose(file->id));
}

static hid_t make(File *file, hid_t fapl) { return ID(H5Fcreate(file->name, H5F_ACC_TRUNC, file->fcpl, fapl)); }
static hid_t reopen(File *file, hid_t fapl) { return ID(H5Fopen(file->name, H5F_ACC_RDWR, fapl)); }
static hid_t look(File *file, hid_t fapl) { return ID(H5Fopen(file->name, H5F_ACC_RDONLY, fapl)); }

static void make_targets(hid_t id)
{
    static const char *const groups[] = {"t0", "t1", "t2", "mnt"};
    for (int i = 0; i < TARGETS + 1; i++)
        OK(H5Gclose(ID(H5Gcreate2(id, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
}

/* A file that one process made, with datasets as only a serial program leaves them: not all allocated, or of variable length. */
static void make_serially(Random *r, File *file)
{
    hid_t id = 1;
    cover("file.serial");
    if (rank == 0) {
        id = ID(H5Fcreate(file->name, H5F_ACC_TRUNC, file->fcpl, file->fapl));
        make_targets(id);
    }
    for (int i = 0, n = between(r, 1, 3); i < n; i++) {
        Set *set = &file->set[i];
        create_set(r, file, set, id, (Wish){.serial = true});
        if (type_is_variable(set->type) || chance(r, 70))
            write_serially(r, set, set->handle[0]);
        if (rank == 0)
            OK(H5Dclose(set->handle[0]));
        set->handle[0] = 0;
    }
    if (rank == 0)
        OK(H5Fclose(id));
    MPI_Barrier(MPI_COMM_WORLD);
    file_synced(file);
}

void op_file_new(Random *r)
{
    File *file = NULL;
    for (int i = 0; i < FILES_MAX && !file; i++)
        if (!program.file[i].exists)
            file = &program.file[i];
    if (!file)
        return;
    memset(file, 0, sizeof *file);
    file->exists = file->open = true;
    file->index  = (int)(file - program.file);
    snprintf(file->name, sizeof file->name, "f%d.h5", file->index);
    for (int i = 0; i < ATTRS_MAX; i++)
        file->attr[i].on = -1;
    bool serial = chance(r, 30), lasting = chance(r, 50);
    file->atomic = chance(r, 8);
    file->bare   = chance(r, 50);
    draw_members(r, file);
    file->fapl  = access_list(r, file);
    file->fcpl  = creation_list(r);
    file->hints = draw_hints(r);
    now("file %s, members %x, %s%s%s", file->name, file->members, serial ? "made serially" : "new", file->atomic ? ", atomic" : "",
        file->all_collective ? ", collective metadata" : "");
    cover(file->atomic ? "file.atomic" : "file");
    cover(file->all_collective ? "file.collective_metadata" : "file.independent_metadata");
    if (serial)
        make_serially(r, file);
    if (file->member) {
        file->id = with_communicator(serial ? reopen : make, file, lasting);
        if (!serial)
            make_targets(file->id);
    }
}

/* After this, every rank may read what any rank wrote. */
void sync_file(File *file)
{
    if (file->member)
        OK(H5Fflush(file->id, H5F_SCOPE_LOCAL));
    barrier(file);
    file_synced(file);
}

void op_flush(Random *r)
{
    File *file   = any_open_file(r);
    bool  global = chance(r, 50);
    Set  *set    = chance(r, 30) ? any_set(r, file, true) : NULL;
    hid_t by     = set ? any_handle(r, set) : file->id;
    now("flush %s%s%s", file->name, global ? " globally" : "", set ? " by a dataset" : "");
    cover("flush.file");
    if (file->member)
        OK(H5Fflush(by, global ? H5F_SCOPE_GLOBAL : H5F_SCOPE_LOCAL));
    barrier(file);
    file_synced(file);
}

static void close_sets(File *file)
{
    close_loose(file);
    for (int i = 0; i < SETS_MAX; i++) {
        Set *set = &file->set[i];
        if (!set->alive)
            continue;
        close_handles(set);
        if (!set->linked)
            set_forget(set);
    }
}

/* The identifier goes first, and datasets are used on: HDF5 closes the file with the last of them. */
static void close_early(Random *r, File *file)
{
    cover("close.file_first");
    close_id(file);
    Set *set = any_set(r, file, true);
    if (set) {
        write_set(r, set, any_handle(r, set));
        if ((set = any_set(r, file, true)))
            read_set(r, set, any_handle(r, set));
    }
    close_sets(file);
}

/* H5Fclose closes what is open in the file. */
static void close_strongly(File *file)
{
    cover("close.strong");
    close_id(file);
    file->loose = 0;
    for (int i = 0; i < SETS_MAX; i++) {
        Set *set = &file->set[i];
        set->handle[0] = set->handle[1] = 0;
        if (set->alive && !set->linked)
            set_forget(set);
    }
}

void op_close(Random *r, File *file)
{
    if (file->parent)
        op_unmount(r, file->parent);
    if (file->mounted)
        op_unmount(r, file);
    now("close %s", file->name);
    cover("close.file");
    barrier(file); /* closing frees and reuses space */
    if (program.degree == H5F_CLOSE_STRONG && chance(r, 70))
        close_strongly(file);
    else if (program.degree == H5F_CLOSE_WEAK && chance(r, 70))
        close_early(r, file);
    else {
        close_sets(file);
        close_id(file);
    }
    barrier(file);
    file->open = false;
    file_synced(file);
}

static void read_only(Random *r, File *file)
{
    cover("file.read_only");
    if (file->member)
        file->id = with_communicator(look, file, true);
    for (int i = 0; i < SETS_MAX; i++) {
        Set *set = &file->set[i];
        if (!set->alive)
            continue;
        set->handle[0] = file->member ? ID(H5Dopen2(file->root, set->path, H5P_DEFAULT)) : 1;
        read_set(r, set, set->handle[0]);
        close_handles(set);
    }
    close_id(file);
    barrier(file);
}

void op_reopen(Random *r, File *file)
{
    now("reopen %s", file->name);
    cover("reopen.file");
    bool lasting = chance(r, 50);
    if (chance(r, 20) && !file->atomic)
        read_only(r, file);
    if (file->member)
        file->id = with_communicator(reopen, file, lasting);
    file->open = true;
}

void op_mount(Random *r)
{
    File *a = any_open_file(r), *b = any_open_file(r);
    if (a == b || a->members != b->members || a->mounted || a->parent || b->mounted || b->parent || b->bare)
        return;
    now("mount %s on %s", b->name, a->name);
    cover("mount");
    if (a->member)
        OK(H5Fmount(a->root, "mnt", b->id, H5P_DEFAULT));
    a->mounted = b;
    b->parent  = a;
}

void op_unmount(Random *r, File *parent)
{
    (void)r;
    if (!parent->mounted)
        return;
    now("unmount %s", parent->mounted->name);
    if (parent->member)
        OK(H5Funmount(parent->root, "mnt"));
    parent->mounted->parent = NULL;
    parent->mounted         = NULL;
}

/* A dataset of a file that nobody has open, through a link of one that is. */
void op_external(Random *r)
{
    File *a = any_open_file(r), *b = &program.file[below(r, FILES_MAX)];
    Set  *set = b->exists && !b->open ? any_set(r, b, false) : NULL;
    char  link[32];
    if (!set || a->members != b->members || b->atomic || a->atomic)
        return;
    snprintf(link, sizeof link, "x%d", a->names++);
    now("through %s of %s to %s of %s", link, a->name, set->path, b->name);
    cover("external_link");
    set->handle[0] = 1;
    if (a->member) {
        OK(H5Lcreate_external(b->name, set->path, a->root, link, H5P_DEFAULT, H5P_DEFAULT));
        set->handle[0] = ID(H5Dopen2(a->root, link, H5P_DEFAULT));
    }
    barrier(a);
    for (int i = 0, n = between(r, 1, 3); i < n && set->handle[0] > 0; i++)
        if (chance(r, 60))
            write_set(r, set, set->handle[0]);
        else
            read_set(r, set, set->handle[0]);
    barrier(a);
    close_handles(set); /* and with it the other file */
    barrier(a);
    file_synced(b);
}
