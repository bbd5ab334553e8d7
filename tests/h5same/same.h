/* Between the parts of h5same. Everything is about a pair: the same thing in file A (index 0) and in file B (index 1). */
#ifndef SAME_H
#define SAME_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    hid_t id[2];
} Pair;

/* What to do and what came of it. */
typedef struct {
    const char *name[2];
    Pair        file;
    bool        times;       /* compare time stamps too */
    unsigned    shown_max;   /* differences to print */
    unsigned    differences; /* found */
    unsigned    trouble;     /* things that could not be compared */
    struct {
        unsigned long long groups, datasets, types, links, attributes, elements, bytes, references;
    } count;
} Same;

extern Same same;

/* Reports a difference at a path, the text is about A and B. */
void differ(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports that something could not be compared: the result is then trouble, not sameness. */
void stuck(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Differs if the two numbers do. Returns whether they are equal. */
bool equal(const char *path, const char *what, long long a, long long b);

/* walk.c: objects and links, each pair once however many links lead to it. */
void same_objects(const char *path, Pair objects);
void same_target(const char *path, Pair objects); /* of a reference: checked when all objects are known */
void same_targets_at_end(void);

/* attributes and datasets */
void same_attributes(const char *path, Pair objects);
void same_dataset(const char *path, Pair datasets);

/* values.c: elements in memory, as read with their own type. */
typedef struct {
    const unsigned char *at[2];
} Bytes;
bool same_types(const char *path, Pair types);
bool same_spaces(const char *path, const char *what, Pair spaces);
bool same_elements(const char *path, Pair types, Bytes bytes, size_t count); /* stops at the first difference */
bool same_selections(Pair spaces);

/* lists.c: creation properties. */
void same_file_lists(Pair files);
void same_group_lists(const char *path, Pair groups);
void same_dataset_lists(const char *path, Pair datasets);

#endif
