/* What every element of every dataset must be. */
#include "differ.h"

/* Whether elements that nobody wrote have the fill value; otherwise they are whatever was in the file. */
static bool filled(const Set *set) { return set->fill == FILL_USER || set->fill == FILL_ZERO; }

static void fill_element(const Set *set, int32_t *value)
{
    for (int leaf = 0; leaf < set->type->leaves; leaf++)
        value[leaf] = filled(set) ? set->fill_value[leaf] : UNKNOWN;
}

void set_model(Set *set)
{
    size_t n = volume(set->ndims, set->dims), leaves = (size_t)set->type->leaves;
    set->value  = malloc((n * leaves + 1) * sizeof *set->value);
    set->writer = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        fill_element(set, set->value + i * leaves);
        set->writer[i] = SYNCED;
    }
}

void set_resize(Set *set, const hsize_t *dims)
{
    Set    old = *set;
    size_t n   = volume(set->ndims, dims), leaves = (size_t)set->type->leaves;
    memcpy(set->dims, dims, sizeof set->dims);
    set_model(set);
    for (size_t i = 0; i < n; i++) {
        hsize_t at[DIMS_MAX];
        size_t  left = i, was = 0;
        bool    there = true;
        for (int d = set->ndims - 1; d >= 0; d--) {
            at[d] = left % dims[d];
            left /= dims[d];
        }
        for (int d = 0; d < set->ndims; d++) {
            there = there && at[d] < old.dims[d];
            was   = was * old.dims[d] + at[d];
        }
        if (there) {
            memcpy(set->value + i * leaves, old.value + was * leaves, leaves * sizeof *set->value);
            set->writer[i] = old.writer[was];
        }
    }
    free(old.value);
    free(old.writer);
}

void set_forget(Set *set)
{
    if (!set->alive)
        return;
    layout_free(&set->file);
    type_free(set->type);
    free(set->value);
    free(set->writer);
    memset(set, 0, sizeof *set);
}

void file_synced(File *file)
{
    for (int i = 0; i < SETS_MAX; i++)
        if (file->set[i].alive) {
            memset(file->set[i].writer, SYNCED, volume(file->set[i].ndims, file->set[i].dims));
            file->set[i].readers = 0;
        }
}

bool set_plain(const Set *set)
{
    return !set->filtered && set->storage != COMPACT && set->storage != OUTSIDE && !type_is_serial(set->type);
}

bool set_open(const Set *set) { return set->handle[0] > 0 || set->handle[1] > 0; }

bool readable(const Set *set, size_t element)
{
    int writer = set->writer[element];
    return writer == SYNCED || writer == EVERYBODY || writer == rank;
}

bool goes_with_others(const Set *set) { return !set->filtered && set->storage != COMPACT; }
