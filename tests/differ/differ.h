/*
 * Random parallel HDF5 programs, made and interpreted from a seed.
 *
 * Every rank draws the same random numbers, so every rank knows what all ranks do. Beside the files, each rank keeps a
 * model of every dataset: what each element must be, and who wrote it since the file was last flushed. A program is
 * legal as far as MPI goes: ranks write the same element only with a flush and a barrier between (or the same bytes at
 * once), and what is read is compared only if the reading rank wrote it itself or a flush came between.
 *
 * The program is ordinary MPI + HDF5 and knows nothing of any connector.
 */
#ifndef DIFFER_H
#define DIFFER_H

#include <hdf5.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 16, FILES_MAX = 3, SETS_MAX = 10, DIMS_MAX = 3, LEAVES_MAX = 40, HANDLES = 2, ATTRS_MAX = 6 };

extern int rank, nranks;

/* --- chance (random.c) -------------------------------------------------------------------------------------------- */

typedef struct { uint64_t state; } Random;

Random   seeded(uint64_t seed, uint64_t salt);
uint64_t next(Random *r);
uint64_t mix(uint64_t a, uint64_t b);
int      below(Random *r, int n);             /* 0 to n - 1     */
int      between(Random *r, int lo, int hi);  /* both included  */
bool     chance(Random *r, int percent);

/* --- what is seen (transcript.c) ---------------------------------------------------------------------------------- */

void transcript_begin(uint64_t seed);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2))); /* said, and the seed fails */
int  wrongs(void);
uint64_t transcript_hash(void);
const char *transcript_text(void);
void now(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* what a hang or crash is blamed on */
extern char doing[256];
extern bool show;                             /* lines go to standard output at once */
void cover(const char *what);                 /* counts what programs do */
void coverage_print(FILE *to);

/* A call that must succeed; if not, the error stack is part of what is wrong. */
#define OK(call) ((void)must(#call, (int64_t)(call)))
#define ID(call) ((hid_t)must(#call, (int64_t)(call)))
int64_t must(const char *text, int64_t result);
/* A call that must fail, with the connector as without. */
#define FAILS(call) must_fail(#call, (int64_t)(call))
void must_fail(const char *text, int64_t result);

/* --- types (types.c, leaf.c) -------------------------------------------------------------------------------------- */

/* The value of a leaf is a number; how it looks in memory or in the file depends on the representation. */
typedef struct {
    enum { INTEGER, FLOATING, TEXT, ENUM, OPAQUE, BITS, REFERENCE, VLTEXT, VLSEQ } form;
    int  size;
    bool sign, big;
    int  padding; /* H5T_str_t of a TEXT */
} Leaf;

typedef struct Type Type;
struct Type {
    enum { LEAF, ARRAY, RECORD } form;
    Leaf  leaf;
    int   length;    /* of an ARRAY  */
    int   members;   /* of a RECORD  */
    Type *member[5]; /* or member[0], of which an ARRAY is */
    int   leaves;
};

typedef struct {
    int    leaf;
    size_t offset;
    Leaf   rep;
} Slot;

/* A datatype as HDF5 sees it, and where in it which leaf is. */
typedef struct {
    hid_t  type;
    size_t size;
    int    slots;
    Slot   slot[LEAVES_MAX];
} Layout;

typedef enum { IN_FILE, EXACT, CONVERTED, SUBSET } Style;

enum { UNKNOWN = INT32_MIN, BROKEN = INT32_MIN + 1 };

Type  *type_draw(Random *r, bool serial);
void   type_free(Type *type);
Type  *type_copy(const Type *type);
bool   type_is_numeric(const Type *type);     /* a leaf that transforms may be applied to */
bool   type_is_variable(const Type *type);
bool   type_is_reference(const Type *type);
bool   type_is_serial(const Type *type);      /* HDF5 refuses to write it with the MPI driver */
Layout layout_of(const Type *type, Style style, bool padded, Random r, const Layout *file);
void   layout_free(Layout *layout);
int    leaf_number(const Leaf *leaf, uint64_t stamp);
void   leaf_put(const Leaf *rep, int number, void *at, hid_t file);
int    leaf_get(const Leaf *rep, const void *at, hid_t file);
hid_t  leaf_type(const Leaf *rep);
Leaf   leaf_draw(Random *r, bool plain);
Leaf   leaf_converted(const Leaf *leaf, Random *r);

/* --- selections (select.c, memory.c) ------------------------------------------------------------------------------ */

typedef struct {
    hsize_t start[DIMS_MAX], stride[DIMS_MAX], count[DIMS_MAX], block[DIMS_MAX];
} Slab;

typedef struct {
    enum { ALL, NONE, SLABS, POINTS } kind;
    int            slabs;
    Slab           slab[4];
    H5S_seloper_t  op[4];
    hsize_t       *point;
    size_t         count;  /* elements, in the order in which they are transferred */
    size_t        *index;
} Selection;

size_t    volume(int ndims, const hsize_t *dims);
Selection select_draw(Random *r, int ndims, const hsize_t *dims, bool repeated);
Selection select_all(int ndims, const hsize_t *dims);
Selection select_none(void);
Selection select_slab(int ndims, const hsize_t *dims, Slab slab);
hid_t     select_space(const Selection *s, int ndims, const hsize_t *dims, const hsize_t *max);
void      select_free(Selection *s);

/* Where in memory the elements of a transfer are. */
typedef struct {
    hid_t   space; /* or H5S_ALL, H5S_BLOCK */
    size_t  elements;
    size_t *index;
} Memory;

Memory memory_draw(Random *r, const Selection *file, size_t file_elements, hid_t *file_space);
Memory memory_row(size_t count, bool block); /* block: H5S_BLOCK stands for it */
void   memory_free(Memory *m);

/* --- the model (model.c) ------------------------------------------------------------------------------------------ */

enum { SYNCED = -1, EVERYBODY = -2, NOBODY = -3 };

typedef struct File File;

typedef struct {
    bool    alive, linked;
    bool    loose;    /* in the group of its file that has no name */
    File   *home;
    int     id;
    char    path[80];
    Type   *type;
    Layout  file;
    int     ndims;
    hsize_t dims[DIMS_MAX], max[DIMS_MAX], chunk[DIMS_MAX];
    enum { CONTIGUOUS, CHUNKED, COMPACT, OUTSIDE } storage; /* OUTSIDE: in a file beside it, which is never captured */
    bool    extendible, filtered;
    bool    patchy;   /* some chunks have no place in the file, and native HDF5 gives them none */
    enum { FILL_DEFAULT, FILL_USER, FILL_NEVER, FILL_ZERO } fill;
    int32_t fill_value[LEAVES_MAX];
    int32_t *value;   /* a number for every leaf of every element */
    int8_t  *writer;  /* who wrote the element since it was last flushed */
    unsigned readers; /* ranks that read since then, and may still do so */
    hid_t   handle[HANDLES];
} Set;

typedef struct {
    bool alive;
    int  on;    /* a set, or -1: the root group */
    int  name;
    int  value[4];
} Attr;

struct File {
    bool     exists, open;
    int      index;
    char     name[64];
    MPI_Comm comm;
    unsigned members;        /* ranks, as bits */
    bool     member;
    hid_t    id, fcpl, fapl;
    hid_t    root;           /* what is mounted is reached by it: the file's identifier leads to the parent's root */
    bool     bare;           /* no group is open: the root is the file's identifier, and it is never mounted */
    hid_t    loose;          /* a group without a name, or 0 */
    int      loose_name;     /* which it will have, if any */
    MPI_Info hints;
    bool     atomic, all_collective;
    int      groups, names;
    File    *mounted;        /* a file that is mounted on /mnt of this one */
    File    *parent;
    Set      set[SETS_MAX];
    Attr     attr[ATTRS_MAX];
};

void set_model(Set *set);                              /* a new set's values: the fill value, or unknown */
void set_resize(Set *set, const hsize_t *dims);
void set_forget(Set *set);
void file_synced(File *file);
bool set_plain(const Set *set);                        /* no filter, not compact or outside, fixed size */
bool set_open(const Set *set);
bool goes_with_others(const Set *set);                 /* native HDF5 gets it right in calls on several datasets */
bool readable(const Set *set, size_t element);         /* this rank may compare what it reads */

/* --- the program (program.c and the operations) ------------------------------------------------------------------- */

typedef struct {
    uint64_t seed;
    Random   random;
    int      op;
    H5F_close_degree_t degree;
    bool     gentle;     /* barriers wherever native HDF5 races with itself */
    File     file[FILES_MAX];
} Program;

extern Program program;

void  program_run(uint64_t seed, bool gentle, bool keep);
File *any_open_file(Random *r);
Set  *any_set(Random *r, File *file, bool open);       /* NULL if there is none */
void  barrier(const File *file);
void  careful_barrier(const File *file);               /* only if gentle */

/* files.c */
void op_file_new(Random *r);
void op_flush(Random *r);
void op_close(Random *r, File *file);
void op_reopen(Random *r, File *file);
void op_mount(Random *r);
void op_unmount(Random *r, File *parent);
void op_external(Random *r);
void sync_file(File *file);
/* create.c, objects.c */
void op_create(Random *r, File *file);
void op_open(Random *r, File *file);
void op_close_set(Random *r, File *file);
void op_delete(Random *r, File *file);
void op_move(Random *r, File *file);
void op_copy(Random *r, File *file);
void op_extent(Random *r, File *file);
void op_group(Random *r, File *file);
void op_attribute(Random *r, File *file);
void op_write_again(Random *r, File *file);
void op_refresh(Random *r, File *file);
void op_flush_set(Random *r, File *file);
void op_look(Random *r, File *file);

/* What is certain about a new dataset; the rest is chance. */
typedef struct {
    bool serial;      /* by rank 0 alone */
    bool unnamed;     /* it has no name yet */
    bool loose;       /* it lies in the group without a name */
    bool large;       /* contiguous, of many elements */
    bool filled;      /* in chunks, which get a fill value at once */
} Wish;

void create_set(Random *r, File *file, Set *set, hid_t where, Wish wish);
Set *new_set(Random *r, File *file, Wish wish);        /* in the file's root or loose group; NULL if there is no room */
int  rooms(const File *file);
void close_handle(Set *set, int k);
void close_handles(Set *set);
void bury(Set *set);
void unlink_set(Set *set);
void leave_filtered(Set *set);
/* unnamed.c, space.c, chunks.c */
void op_unnamed(Random *r, File *file);
void op_link(Random *r, File *file);
void op_loose(Random *r, File *file);
void close_loose(File *file);
void op_hole(Random *r, File *file);
void refill(Random *r, File *file);
void op_chunks(Random *r, File *file);
/* transfer.c, plan.c, write.c, read.c */
enum { AT_ONCE = 3 };

/* What all ranks do with one dataset in one call. */
typedef struct {
    Set      *set;
    hid_t     handle;
    bool      same;                 /* all ranks write the same */
    bool      open;                 /* the selection is not hidden in the transfer list */
    Selection part[RANKS_MAX];
    Layout    layout[RANKS_MAX];
    bool      transform[RANKS_MAX];
} Transfer;

/* This rank's side of a transfer: what H5Dwrite and H5Dread ask for. */
typedef struct {
    hid_t  space;                   /* in the file, or H5S_ALL, H5S_PLIST */
    Memory memory;
    char  *buffer;
} Side;

#define TRANSFORM "x+7"
enum { TRANSFORMED_BY = 7 };

void  draw_layouts(Random *r, Transfer *t, unsigned ranks, bool collective);
void  plan_write(Random *r, Transfer *t, unsigned ranks, bool collective, bool *sync);
void  plan_over(Random *r, Transfer *t, bool one);
void  transfer_free(Transfer *t);
Side  side_draw(Random *r, const Transfer *t, hid_t dxpl);
void  side_free(Side *side);
hid_t transfer_list(Random *r, bool collective);
hid_t any_handle(Random *r, const Set *set);
/* Up to WANT different datasets that may be in one call, each with a handle; how many there are. */
int   draw_sets(Random *r, File *file, int want, bool (*allowed)(const Set *), Set **sets, hid_t *handles);

void op_write(Random *r, File *file);
void op_overwrite(Random *r, File *file);
void op_refused(Random *r, File *file);
void op_read(Random *r, File *file);
void write_set(Random *r, Set *set, hid_t handle);     /* by whatever ranks, in whatever way */
void write_over(Random *r, Set *set, hid_t handle, bool one); /* by all ranks together */
bool can_be_written(const Set *set);
bool can_be_overwritten(const Set *set);               /* by other ranks without a flush */
void flush_and_meet(File *file, hid_t handle);
int  number_of(const Transfer *t, int q, size_t element, int leaf);
void remember(const Transfer *t, unsigned ranks);
void read_set(Random *r, Set *set, hid_t handle);
void write_serially(Random *r, Set *set, hid_t handle);
uint64_t check_values(const Transfer *t, const Side *side, const Selection *part, bool serially);
/* final.c */
void check_file(File *file);

#endif
