/*
 * The frame of small self-checking MPI + HDF5 programs: traps, consistency, faults.
 *
 * A case is an ordinary program in one function that checks what it sees, natively as with any connector. It runs in a
 * folder of its own. All cases of a folder are linked into one executable:
 *
 *   PROGRAM DIR [--gentle] [CASE...]   all cases, or those named; prints "ok CASE" or "wrong CASE: why" for each
 */
#ifndef CASES_H
#define CASES_H

#include <hdf5.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int  rank, nranks;
extern bool gentle; /* barriers where native HDF5 races with itself */

/* CASE(name) { ... } */
#define CASE(name)                                                                                                   \
    static void name(void);                                                                                          \
    __attribute__((constructor)) static void add_##name(void) { add_case(#name, name); }                             \
    static void name(void)
void add_case(const char *name, void (*run)(void));

/* Checks; a case goes on after one that fails. */
#define EXPECT(condition, ...) ((condition) ? (void)0 : fails(__FILE__, __LINE__, __VA_ARGS__))
#define OK(call)               ((void)must(__FILE__, __LINE__, #call, (int64_t)(call)))
#define ID(call)               ((hid_t)must(__FILE__, __LINE__, #call, (int64_t)(call)))
void    fails(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
int64_t must(const char *file, int line, const char *call, int64_t result);

static inline void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Lists; closed by the caller, or at the end of the program. */
hid_t on_all(void);                                            /* file access with MPI on all ranks */
hid_t on(MPI_Comm comm);
hid_t collective(void);
hid_t independent(void);
hid_t in_chunks(hsize_t chunk);                                /* dataset creation, chunked; 0: contiguous */

/* Files and one-dimensional datasets of int, made in the obvious way. */
hid_t make_file(const char *name);                             /* on all ranks */
hid_t open_file(const char *name);                             /* on all ranks, to read and write */
hid_t make_ints(hid_t where, const char *name, hsize_t count, hid_t dcpl);
hid_t open_ints(hid_t where, const char *name);
/* COUNT values from START on, each FIRST + its place; and that they are so. */
void  write_ints(hid_t dataset, hsize_t start, hsize_t count, int first, hid_t dxpl);
void  expect_ints(hid_t dataset, hsize_t start, hsize_t count, int first, hid_t dxpl, const char *what);
/* The same by rank 0 alone with HDF5's own connector and driver: what is truly in the file. All ranks wait. */
void  expect_in_file(const char *file, const char *dataset, hsize_t start, hsize_t count, int first);
/* Every element of a dataset that nobody wrote, in the same way. */
void  expect_filled(const char *file, const char *dataset, hsize_t count, int fill);
hid_t natively(void);                                          /* file access for it */

#endif
