/*
 * The frame around the conformance cases.
 *
 * A case is an ordinary MPI + HDF5 program in one function: it knows nothing of any connector. What it sees, it writes
 * to a transcript: every call with its result, every value read, and for a failing call the whole error stack. Two runs
 * of one case, natively and through a connector, must write the same transcript and leave the same files behind.
 *
 * A case runs in a directory of its own, so that it may name its files as it likes.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <hdf5.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A case without ranks of its own leaves them out. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The ways in which one case can be run; a case names those that suit it. */
enum variant {
    SERIAL        = 1, /* one rank, the default file driver and format          */
    SERIAL_NEW    = 2, /* one rank, the default file driver, the newest format  */
    PARALLEL      = 4, /* the MPI driver on all ranks                           */
    PARALLEL_NEW  = 8, /* the MPI driver on all ranks, the newest format        */
    BOTH_SERIAL   = SERIAL | SERIAL_NEW,
    BOTH_PARALLEL = PARALLEL | PARALLEL_NEW,
    EVERYWHERE    = BOTH_SERIAL | BOTH_PARALLEL
};

typedef struct {
    const char *name;
    void (*run)(void);
    unsigned variants;
    int      ranks_min, ranks_max; /* for the parallel variants; 0, 0 means 1 to 4, or 2 to 3 in the newest format */
} Case;

typedef struct {
    const char *name;
    const Case *cases; /* ends with a case without name */
} Topic;

/* At the end of a topic's file: CASES(links, {"soft", soft, EVERYWHERE}, ...) */
#define CASES(topic, ...)                                                                                            \
    static const Case  topic##_cases[] = {__VA_ARGS__, {NULL, NULL, 0, 0, 0}};                                       \
    const Topic topic##_topic   = {#topic, topic##_cases};

/* Where the case runs. */
extern int           rank, nranks;
extern enum variant  variant;
static inline bool   parallel(void) { return variant == PARALLEL || variant == PARALLEL_NEW; }
static inline bool   newest(void) { return variant == SERIAL_NEW || variant == PARALLEL_NEW; }

/* Calls, written to the transcript as text and result. They return what the call returned. */
#define ID(call)  (now_calling(#call), saw_id(#call, (call)))                 /* an identifier       */
#define RC(call)  (now_calling(#call), (int)saw_code(#call, (int)(call)))     /* herr_t, htri_t      */
#define NUM(call) (now_calling(#call), saw_number(#call, (long long)(call)))  /* sizes, counts       */
void      now_calling(const char *text);
hid_t     saw_id(const char *text, hid_t id);
int       saw_code(const char *text, int code);
long long saw_number(const char *text, long long number);

/* Values, written to the transcript. Long arrays are shown by their beginning and a hash of the whole. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void show_ints(const char *label, const int *values, size_t count);
void show_doubles(const char *label, const double *values, size_t count);
void show_bytes(const char *label, const void *bytes, size_t count);
void show_text(const char *label, const char *text); /* NULL is a value */
void show_dims(const char *label, const hsize_t *dims, int rank_of_space);
void show_space(const char *label, hid_t space);     /* extent, selection type and count, bounds */
void show_object(const char *label, hid_t object);   /* H5Oget_info3 of everything that is deterministic */
void show_stack(hid_t stack);                        /* the frames of an error stack */
void show_type(const char *label, hid_t type);       /* class, size, order, members */

/* The case cannot run here: says why, and does not return. */
void skip(const char *reason) __attribute__((noreturn));

/* Lists and spaces that live until the case ends. They are made by calls that cannot fail here. */
hid_t keep(hid_t id);
void  forget(void);                                     /* after H5close: what was kept is gone already */
hid_t plist(hid_t class_id);
hid_t fapl(void);                                       /* the variant's driver and format */
hid_t collective(void);                                 /* transfer list; serially the default one */
hid_t independent(void);
hid_t chunked1(hsize_t chunk);                          /* dataset creation list */
hid_t chunked2(hsize_t rows, hsize_t cols);
hid_t space1(hsize_t length);
hid_t space1_up_to(hsize_t length, hsize_t max);
hid_t space2(hsize_t rows, hsize_t cols);
hid_t scalar(void);
hid_t part1(hsize_t length, hsize_t start, hsize_t count); /* 1-D space with one block selected */
hid_t my_rows(hsize_t rows_per_rank, hsize_t cols);     /* 2-D space over all ranks, own rows selected */
hid_t text_type(size_t size);                           /* fixed string, or H5T_VARIABLE */

/* A file of the case, and things made in it so often that they need a name; all are logged. */
hid_t make_file(const char *name);
hid_t open_file(const char *name, unsigned flags);
hid_t make_ints(hid_t where, const char *name, hsize_t count, int first); /* 1-D int dataset, closed data */
hid_t make_group(hid_t where, const char *name);
void  make_type(hid_t where, const char *name, hid_t like); /* committed copy, closed again */
void  make_attr(hid_t object, const char *name, int value);
void  read_ints(hid_t dataset, const char *label);      /* the whole dataset, up to 4096 values */

/* Only rank 0 acts between these (plain files, serial drivers); the others wait at the end. */
bool solo_begin(void);
void solo_end(void);

/* File times come from a clock that stands still, so that files can be compared by bytes; this moves it. */
void tick(void);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
