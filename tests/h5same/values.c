/*
 * Values in memory, read with their own type. Bytes are compared first; where they differ, it can still be padding
 * between members, the address of a string, or the place of a referenced object, so the type decides.
 */
#include "same.h"

/* --- types and spaces ----------------------------------------------------------------------------------------------- */

/* The encoding says all: class, size, order, members, names. It does not depend on the file. */
static void *encoded(hid_t type, size_t *size)
{
    void *bytes = NULL;
    *size       = 0;
    if (H5Tencode(type, NULL, size) < 0 || !(bytes = malloc(*size)) || H5Tencode(type, bytes, size) < 0)
        abort();
    return bytes;
}

bool same_types(const char *path, Pair types)
{
    size_t size[2];
    Pair   plain = {{H5Tcopy(types.id[0]), H5Tcopy(types.id[1])}};
    void  *bytes[2] = {encoded(plain.id[0], &size[0]), encoded(plain.id[1], &size[1])};
    bool   same_encoding = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    if (!same_encoding)
        differ(path, "types: class %d of %zu bytes and class %d of %zu bytes, or they differ in detail", H5Tget_class(plain.id[0]),
               H5Tget_size(plain.id[0]), H5Tget_class(plain.id[1]), H5Tget_size(plain.id[1]));
    for (int i = 0; i < 2; i++) {
        free(bytes[i]);
        H5Tclose(plain.id[i]);
    }
    return same_encoding && equal(path, "the type is committed", H5Tcommitted(types.id[0]), H5Tcommitted(types.id[1]));
}

bool same_spaces(const char *path, const char *what, Pair spaces)
{
    bool ok = H5Sextent_equal(spaces.id[0], spaces.id[1]) > 0;
    if (!ok)
        differ(path, "%s: extents differ (%lld and %lld elements)", what, (long long)H5Sget_simple_extent_npoints(spaces.id[0]),
               (long long)H5Sget_simple_extent_npoints(spaces.id[1]));
    return ok;
}

bool same_selections(Pair spaces)
{
    size_t size[2] = {0, 0};
    void  *bytes[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (H5Sencode2(spaces.id[i], NULL, &size[i], H5P_DEFAULT) < 0 || !(bytes[i] = malloc(size[i])) ||
            H5Sencode2(spaces.id[i], bytes[i], &size[i], H5P_DEFAULT) < 0)
            size[i] = 0;
    bool ok = size[0] && size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return ok;
}

/* --- references ----------------------------------------------------------------------------------------------------- */

static bool zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

enum nulls { NONE, BOTH, ONE };

/* Which of the two references are null. One of them only is a difference. */
static enum nulls nulls(const char *path, Bytes b, size_t size)
{
    bool null[2] = {zero(b.at[0], size), zero(b.at[1], size)};
    if (null[0] == null[1])
        return null[0] ? BOTH : NONE;
    differ(path, "the reference is null in %c only", null[0] ? 'A' : 'B');
    return ONE;
}

static void close_pair(Pair p)
{
    for (int i = 0; i < 2; i++)
        if (p.id[i] >= 0)
            H5Idec_ref(p.id[i]);
}

/* Regions were opened, or could not be. */
static bool same_regions(const char *path, Pair spaces)
{
    bool ok = (spaces.id[0] < 0) == (spaces.id[1] < 0) && (spaces.id[0] < 0 || same_selections(spaces));
    if (!ok)
        differ(path, "the referenced regions differ");
    close_pair(spaces);
    return ok;
}

static bool same_old_references(const char *path, Bytes b, H5R_type_t kind, size_t size)
{
    enum nulls null = nulls(path, b, size);
    if (null != NONE)
        return null == BOTH;
    Pair target = {{H5Rdereference2(same.file.id[0], H5P_DEFAULT, kind, b.at[0]), H5Rdereference2(same.file.id[1], H5P_DEFAULT, kind, b.at[1])}};
    bool ok     = (target.id[0] < 0) == (target.id[1] < 0);
    if (!ok)
        differ(path, "the reference leads nowhere in %c only", target.id[0] < 0 ? 'A' : 'B');
    else if (target.id[0] >= 0)
        same_target(path, target);
    close_pair(target);
    if (kind == H5R_DATASET_REGION)
        ok = same_regions(path, (Pair){{H5Rget_region(same.file.id[0], kind, b.at[0]), H5Rget_region(same.file.id[1], kind, b.at[1])}}) && ok;
    return ok;
}

/* The name of the referenced file, or NULL if it is the file in which the reference is. */
static const char *other_file(int side, const H5R_ref_t *ref, char *buf, size_t size)
{
    char own[4096] = "", *slash;
    if (H5Rget_file_name(ref, buf, size) < 0)
        return "unknown";
    if (H5Fget_name(same.file.id[side], own, sizeof own) > 0) {
        const char *last = (slash = strrchr(own, '/')) ? slash + 1 : own, *name = (slash = strrchr(buf, '/')) ? slash + 1 : buf;
        if (strcmp(last, name) == 0)
            return NULL;
    }
    return (slash = strrchr(buf, '/')) ? slash + 1 : buf;
}

static bool same_reference_names(const char *path, H5R_ref_t *const ref[2])
{
    char        buf[2][4096], attr[2][1024] = {"", ""}, object[2][4096] = {"", ""};
    const char *file[2];
    for (int i = 0; i < 2; i++) {
        file[i] = other_file(i, ref[i], buf[i], sizeof buf[i]);
        if (H5Rget_type(ref[i]) == H5R_ATTR)
            H5Rget_attr_name(ref[i], attr[i], sizeof attr[i]);
        if (file[i])
            H5Rget_obj_name(ref[i], H5P_DEFAULT, object[i], sizeof object[i]);
    }
    if (strcmp(file[0] ? file[0] : "", file[1] ? file[1] : "") == 0 && strcmp(attr[0], attr[1]) == 0 && strcmp(object[0], object[1]) == 0)
        return true;
    differ(path, "references to %s:%s:%s and to %s:%s:%s", file[0] ? file[0] : "this file", object[0], attr[0],
           file[1] ? file[1] : "this file", object[1], attr[1]);
    return false;
}

static bool same_new_references(const char *path, Bytes b)
{
    H5R_ref_t *ref[2] = {(H5R_ref_t *)(uintptr_t)b.at[0], (H5R_ref_t *)(uintptr_t)b.at[1]};
    char       buf[4096];
    enum nulls null = nulls(path, b, sizeof(H5R_ref_t));
    if (null != NONE)
        return null == BOTH;
    if (!equal(path, "kind of reference", H5Rget_type(ref[0]), H5Rget_type(ref[1])))
        return false;
    bool ok = same_reference_names(path, ref);
    if (ok && !other_file(0, ref[0], buf, sizeof buf)) {
        Pair target = {{H5Ropen_object(ref[0], H5P_DEFAULT, H5P_DEFAULT), H5Ropen_object(ref[1], H5P_DEFAULT, H5P_DEFAULT)}};
        if (target.id[0] >= 0 && target.id[1] >= 0)
            same_target(path, target);
        close_pair(target);
    }
    if (ok && H5Rget_type(ref[0]) == H5R_DATASET_REGION2)
        ok = same_regions(path, (Pair){{H5Ropen_region(ref[0], H5P_DEFAULT, H5P_DEFAULT), H5Ropen_region(ref[1], H5P_DEFAULT, H5P_DEFAULT)}});
    return ok;
}

static bool same_references(const char *path, hid_t type, Bytes b)
{
    if (H5Tequal(type, H5T_STD_REF_OBJ) > 0)
        return same_old_references(path, b, H5R_OBJECT, sizeof(hobj_ref_t));
    if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0)
        return same_old_references(path, b, H5R_DATASET_REGION, sizeof(hdset_reg_ref_t));
    return same_new_references(path, b);
}

/* --- elements ------------------------------------------------------------------------------------------------------- */

static bool same_element(const char *path, Pair types, Bytes b);

static bool same_members(const char *path, Pair types, Bytes b)
{
    bool ok    = true;
    int  count = H5Tget_nmembers(types.id[0]);
    for (int m = 0; m < count && ok; m++) {
        size_t at     = H5Tget_member_offset(types.id[0], (unsigned)m);
        Pair   member = {{H5Tget_member_type(types.id[0], (unsigned)m), H5Tget_member_type(types.id[1], (unsigned)m)}};
        ok            = same_element(path, member, (Bytes){{b.at[0] + at, b.at[1] + at}});
        close_pair(member);
    }
    return ok;
}

static bool same_array(const char *path, Pair types, Bytes b)
{
    hsize_t dims[H5S_MAX_RANK];
    size_t  count = 1;
    int     n     = H5Tget_array_dims2(types.id[0], dims);
    Pair    base  = {{H5Tget_super(types.id[0]), H5Tget_super(types.id[1])}};
    for (int i = 0; i < n; i++)
        count *= (size_t)dims[i];
    bool ok = same_elements(path, base, b, count);
    close_pair(base);
    return ok;
}

static bool same_sequence(const char *path, Pair types, Bytes b)
{
    hvl_t list[2];
    memcpy(&list[0], b.at[0], sizeof(hvl_t));
    memcpy(&list[1], b.at[1], sizeof(hvl_t));
    if (!equal(path, "length of a sequence", (long long)list[0].len, (long long)list[1].len))
        return false;
    if (list[0].len == 0)
        return true;
    Pair base = {{H5Tget_super(types.id[0]), H5Tget_super(types.id[1])}};
    bool ok   = same_elements(path, base, (Bytes){{list[0].p, list[1].p}}, list[0].len);
    close_pair(base);
    return ok;
}

static bool same_text(const char *path, Bytes b)
{
    char *text[2];
    memcpy(&text[0], b.at[0], sizeof(char *));
    memcpy(&text[1], b.at[1], sizeof(char *));
    bool ok = text[0] && text[1] ? strcmp(text[0], text[1]) == 0 : text[0] == text[1];
    if (!ok)
        differ(path, "texts \"%s\" and \"%s\"", text[0] ? text[0] : "(null)", text[1] ? text[1] : "(null)");
    return ok;
}

static bool same_bytes(const char *path, Bytes b, size_t size)
{
    char hex[2][3 * 16 + 4] = {"", ""};
    if (memcmp(b.at[0], b.at[1], size) == 0)
        return true;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < size && k < 16; k++)
            sprintf(hex[i] + 3 * k, "%02x ", b.at[i][k]);
    differ(path, "values with the bytes %sand %s", hex[0], hex[1]);
    return false;
}

static bool same_element(const char *path, Pair types, Bytes b)
{
    switch (H5Tget_class(types.id[0])) {
        case H5T_COMPOUND: return same_members(path, types, b);
        case H5T_ARRAY: return same_array(path, types, b);
        case H5T_VLEN: return same_sequence(path, types, b);
        case H5T_REFERENCE: return same_references(path, types.id[0], b);
        case H5T_STRING:
            if (H5Tis_variable_str(types.id[0]) > 0)
                return same_text(path, b);
            /* FALLTHROUGH */
        default: return same_bytes(path, b, H5Tget_size(types.id[0]));
    }
}

/* Equal bytes mean equal values, except for references, which must also lead to the same object. */
static bool bytes_suffice(hid_t type) { return H5Tdetect_class(type, H5T_REFERENCE) <= 0 && H5Tdetect_class(type, H5T_VLEN) <= 0; }

bool same_elements(const char *path, Pair types, Bytes b, size_t count)
{
    size_t size = H5Tget_size(types.id[0]);
    same.count.elements += count;
    same.count.bytes += count * size;
    if (bytes_suffice(types.id[0]) && memcmp(b.at[0], b.at[1], count * size) == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        Bytes one = {{b.at[0] + i * size, b.at[1] + i * size}};
        if (bytes_suffice(types.id[0]) && memcmp(one.at[0], one.at[1], size) == 0)
            continue;
        unsigned before = same.differences;
        if (!same_element(path, types, one)) {
            if (before < same.shown_max)
                printf("  (element %zu of %zu at hand)\n", i, count);
            return false;
        }
    }
    return true;
}
