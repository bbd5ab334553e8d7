/* The interpreter: draws one operation after another until the program ends. */
#include "differ.h"

#include <unistd.h>

enum { OPS_MIN = 8, OPS_MAX = 34 };

Program program;

void barrier(const File *file)
{
    if (file->member)
        MPI_Barrier(file->comm);
}

void careful_barrier(const File *file)
{
    if (program.gentle)
        barrier(file);
}

File *any_open_file(Random *r)
{
    File *open[FILES_MAX];
    int   count = 0;
    for (int i = 0; i < FILES_MAX; i++)
        if (program.file[i].exists && program.file[i].open)
            open[count++] = &program.file[i];
    return count ? open[below(r, count)] : NULL;
}

Set *any_set(Random *r, File *file, bool open)
{
    Set *found[SETS_MAX];
    int  count = 0;
    for (int i = 0; i < SETS_MAX; i++) {
        Set *set = &file->set[i];
        if (set->alive && (!open || set_open(set)))
            found[count++] = set;
    }
    return count ? found[below(r, count)] : NULL;
}

static File *any_closed_file(Random *r)
{
    File *file = &program.file[below(r, FILES_MAX)];
    return file->exists && !file->open ? file : NULL;
}

/* Writes and reads make up half of it. */
static void step(Random *r)
{
    File *file = any_open_file(r), *closed;
    int   what = below(r, 114);
    if (!file && (closed = any_closed_file(r)))
        op_reopen(r, closed);
    else if (!file || what < 3)
        op_file_new(r);
    else if (what < 16)
        op_create(r, file);
    else if (what < 38)
        op_write(r, file);
    else if (what < 42)
        op_overwrite(r, file);
    else if (what < 57)
        op_read(r, file);
    else if (what < 62)
        op_flush(r);
    else if (what < 67)
        op_open(r, file);
    else if (what < 72)
        op_close_set(r, file);
    else if (what < 75)
        op_delete(r, file);
    else if (what < 80)
        op_extent(r, file);
    else if (what < 83)
        op_attribute(r, file);
    else if (what < 84)
        op_group(r, file);
    else if (what < 86)
        op_look(r, file);
    else if (what < 87)
        op_move(r, file);
    else if (what < 88)
        op_copy(r, file);
    else if (what < 89)
        op_refused(r, file);
    else if (what < 90)
        op_refresh(r, file);
    else if (what < 92)
        op_flush_set(r, file);
    else if (what < 94)
        op_mount(r);
    else if (what < 95)
        op_unmount(r, file);
    else if (what < 97)
        op_external(r);
    else if (what < 99)
        op_close(r, file);
    else if (what < 102)
        op_unnamed(r, file);
    else if (what < 104)
        op_link(r, file);
    else if (what < 106)
        op_loose(r, file);
    else if (what < 109)
        op_chunks(r, file);
    else if (what < 111)
        op_hole(r, file);
    else if (what < 113)
        op_write_again(r, file);
    else if ((closed = any_closed_file(r)))
        op_reopen(r, closed);
}

static void remove_files(const File *file)
{
    char raw[32];
    unlink(file->name);
    for (int i = 0; i < file->names; i++) {
        snprintf(raw, sizeof raw, "f%d.%d.raw", file->index, i);
        unlink(raw);
    }
}

static void end_file(File *file, bool keep)
{
    for (int i = 0; i < SETS_MAX; i++)
        set_forget(&file->set[i]);
    H5Pclose(file->fapl);
    H5Pclose(file->fcpl);
    if (file->hints != MPI_INFO_NULL)
        MPI_Info_free(&file->hints);
    MPI_Comm_free(&file->comm);
    if (rank == 0 && !keep)
        remove_files(file);
    file->exists = false;
}

void program_run(uint64_t seed, bool gentle, bool keep)
{
    static const H5F_close_degree_t degrees[] = {H5F_CLOSE_DEFAULT, H5F_CLOSE_SEMI, H5F_CLOSE_WEAK, H5F_CLOSE_STRONG};
    memset(&program, 0, sizeof program);
    program.seed   = seed;
    program.gentle = gentle;
    program.random = seeded(seed, (uint64_t)nranks);
    Random *r      = &program.random;
    program.degree = degrees[below(r, 4)];
    op_file_new(r);
    for (int i = 0, n = between(r, OPS_MIN, OPS_MAX); i < n; i++) {
        program.op++;
        step(r);
    }
    for (int i = 0; i < FILES_MAX; i++)
        if (program.file[i].exists && program.file[i].open)
            op_close(r, &program.file[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < FILES_MAX; i++)
        if (program.file[i].exists)
            check_file(&program.file[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < FILES_MAX; i++)
        if (program.file[i].exists)
            end_file(&program.file[i], keep);
    MPI_Barrier(MPI_COMM_WORLD);
}
