/* Scalars: one number in many representations. Numbers are small enough to survive every conversion that is drawn. */
#include "differ.h"

enum { TARGETS = 3, NAMES = 7 };

Leaf leaf_draw(Random *r, bool plain)
{
    static const int integer[] = {1, 2, 4, 4, 8};
    Leaf             leaf      = {0};
    leaf.big                   = chance(r, 25);
    int what                   = plain ? below(r, 70) : below(r, 100);
    if (what < 40)
        leaf.form = INTEGER, leaf.size = integer[below(r, 5)], leaf.sign = chance(r, 70);
    else if (what < 70)
        leaf.form = FLOATING, leaf.size = chance(r, 50) ? 4 : 8, leaf.sign = true;
    else if (what < 80)
        leaf.form = TEXT, leaf.size = between(r, 10, 14), leaf.padding = below(r, 3);
    else if (what < 87)
        leaf.form = ENUM, leaf.size = chance(r, 50) ? 1 : 4, leaf.sign = true;
    else if (what < 93)
        leaf.form = OPAQUE, leaf.size = between(r, 4, 9);
    else
        leaf.form = BITS, leaf.size = chance(r, 50) ? 2 : 4;
    return leaf;
}

/* Another representation that HDF5 converts to and from without loss. */
Leaf leaf_converted(const Leaf *leaf, Random *r)
{
    static const int wide[] = {2, 4, 8};
    Leaf             other  = *leaf;
    other.big               = chance(r, 10);
    switch (leaf->form) {
        case INTEGER:
            other.size = leaf->size >= 4 ? between(r, 1, 2) * 4 : wide[below(r, 3)];
            if (chance(r, 20))
                other.form = FLOATING, other.size = 8, other.sign = true;
            break;
        case FLOATING: other.size = chance(r, 50) ? 4 : 8; break;
        case TEXT: other.size = between(r, 10, 18); break;
        case ENUM: other.size = chance(r, 50) ? 2 : 4; break;
        default: other = *leaf;
    }
    return other;
}

static hid_t enumeration(const Leaf *rep)
{
    Leaf  base = {.form = INTEGER, .size = rep->size, .sign = true, .big = rep->big};
    hid_t of   = leaf_type(&base), type = H5Tenum_create(of);
    for (int i = 0; i < NAMES; i++) {
        char name[8], value[8];
        snprintf(name, sizeof name, "E%d", i);
        leaf_put(&base, i, value, H5I_INVALID_HID);
        H5Tenum_insert(type, name, value);
    }
    H5Tclose(of);
    return type;
}

static hid_t text(size_t size, H5T_str_t padding)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    H5Tset_strpad(type, padding);
    return type;
}

static hid_t number_type(const Leaf *rep)
{
    hid_t type;
    if (rep->form == FLOATING)
        type = H5Tcopy(rep->size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE);
    else if (rep->form == BITS)
        type = H5Tcopy(rep->size == 2 ? H5T_STD_B16LE : H5T_STD_B32LE);
    else {
        type = H5Tcopy(rep->sign ? H5T_STD_I8LE : H5T_STD_U8LE);
        H5Tset_size(type, (size_t)rep->size);
        H5Tset_precision(type, 8 * (size_t)rep->size);
    }
    if (rep->size > 1)
        H5Tset_order(type, rep->big ? H5T_ORDER_BE : H5T_ORDER_LE);
    return type;
}

hid_t leaf_type(const Leaf *rep)
{
    hid_t type;
    switch (rep->form) {
        case TEXT: return text((size_t)rep->size, (H5T_str_t)rep->padding);
        case ENUM: return enumeration(rep);
        case REFERENCE: return H5Tcopy(H5T_STD_REF_OBJ);
        case VLTEXT: return text(H5T_VARIABLE, H5T_STR_NULLTERM);
        case VLSEQ: return H5Tvlen_create(H5T_NATIVE_INT);
        case OPAQUE:
            type = H5Tcreate(H5T_OPAQUE, (size_t)rep->size);
            H5Tset_tag(type, "differ");
            return type;
        default: return number_type(rep);
    }
}

/* The value that a stamp stands for. */
int leaf_number(const Leaf *leaf, uint64_t stamp)
{
    int span = leaf->size == 1 ? 101 : leaf->size == 2 ? 30000 : 8000000;
    int n    = (int)(stamp % (uint64_t)span);
    switch (leaf->form) {
        case INTEGER:
        case FLOATING: return leaf->sign && (stamp >> 40) % 2 ? -n : n;
        case ENUM: return (int)(stamp % NAMES);
        case REFERENCE: return (int)(stamp % (TARGETS + 1));
        case BITS: return (int)(stamp % 60000);
        case VLSEQ:
        case VLTEXT: return (int)(stamp % 90000);
        default: return (int)(stamp % 900000);
    }
}

static void put_ordered(const void *value, int size, bool big, void *at)
{
    for (int i = 0; i < size; i++)
        ((char *)at)[i] = ((const char *)value)[big ? size - 1 - i : i];
}

static void put_text(const Leaf *rep, int number, char *at)
{
    char digits[16] = "";
    if (number != 0)
        snprintf(digits, sizeof digits, "t%d", number);
    memset(at, rep->padding == H5T_STR_SPACEPAD && number != 0 ? ' ' : 0, (size_t)rep->size);
    memcpy(at, digits, strlen(digits));
}

static void put_sequence(int number, hvl_t *at)
{
    at->len = number == 0 ? 0 : 1 + (size_t)number % 4;
    at->p   = at->len ? malloc(at->len * sizeof(int)) : NULL;
    for (size_t i = 0; i < at->len; i++)
        ((int *)at->p)[i] = number + (int)i;
}

void leaf_put(const Leaf *rep, int number, void *at, hid_t file)
{
    int64_t integer = number;
    double  f64     = number;
    float   f32     = (float)number;
    char    name[16];
    switch (rep->form) {
        case FLOATING: put_ordered(rep->size == 4 ? (void *)&f32 : (void *)&f64, rep->size, rep->big, at); break;
        case TEXT: put_text(rep, number, at); break;
        case OPAQUE:
            memset(at, number ? number % 251 : 0, (size_t)rep->size);
            memcpy(at, &(int32_t){number}, 4);
            break;
        case REFERENCE:
            memset(at, 0, sizeof(hobj_ref_t));
            snprintf(name, sizeof name, "/t%d", number - 1);
            if (number > 0)
                OK(H5Rcreate(at, file, name, H5R_OBJECT, H5I_INVALID_HID));
            break;
        case VLTEXT:
            *(char **)at = malloc(16);
            snprintf(*(char **)at, 16, number ? "v%d" : "%.0d", number);
            break;
        case VLSEQ: put_sequence(number, at); break;
        default: put_ordered(&integer, rep->size, rep->big, at);
    }
}

static int get_text(const Leaf *rep, const char *at)
{
    char copy[32] = "";
    memcpy(copy, at, (size_t)rep->size);
    for (int i = rep->size - 1; i >= 0 && (copy[i] == ' ' || copy[i] == 0); i--)
        copy[i] = 0;
    return copy[0] == 0 ? 0 : copy[0] == 't' ? atoi(copy + 1) : BROKEN;
}

static int get_integer(const Leaf *rep, const char *at)
{
    int64_t value = 0;
    put_ordered(at, rep->size, rep->big, &value);
    int unused = 64 - 8 * rep->size;
    if (rep->sign)
        value = (int64_t)((uint64_t)value << unused) >> unused;
    return value > INT32_MIN + 1 && value <= INT32_MAX ? (int)value : BROKEN;
}

static int get_floating(const Leaf *rep, const char *at)
{
    double f64 = 0;
    float  f32 = 0;
    put_ordered(at, rep->size, rep->big, rep->size == 4 ? (void *)&f32 : (void *)&f64);
    double value = rep->size == 4 ? (double)f32 : f64;
    return value > -2e9 && value < 2e9 && value == (double)(int)value ? (int)value : BROKEN;
}

static int get_reference(const void *at, hid_t file)
{
    static const hobj_ref_t null;
    char                    name[32] = "";
    if (memcmp(at, &null, sizeof null) == 0)
        return 0;
    const char *last = H5Rget_name(file, H5R_OBJECT, at, name, sizeof name) > 0 ? strrchr(name, '/') : NULL;
    return last && last[1] == 't' ? atoi(last + 2) + 1 : BROKEN;
}

static int get_sequence(const hvl_t *at)
{
    int number = at->len ? ((const int *)at->p)[0] : 0;
    for (size_t i = 1; i < at->len; i++)
        if (((const int *)at->p)[i] != number + (int)i)
            return BROKEN;
    return number == 0 || at->len == 1 + (size_t)number % 4 ? number : BROKEN;
}

static int get_opaque(const Leaf *rep, const unsigned char *at)
{
    int32_t number;
    memcpy(&number, at, 4);
    for (int i = 4; i < rep->size; i++)
        if (at[i] != (number ? number % 251 : 0))
            return BROKEN;
    return number;
}

int leaf_get(const Leaf *rep, const void *at, hid_t file)
{
    switch (rep->form) {
        case FLOATING: return get_floating(rep, at);
        case TEXT: return get_text(rep, at);
        case OPAQUE: return get_opaque(rep, at);
        case REFERENCE: return get_reference(at, file);
        case VLTEXT: {
            const char *s = *(char *const *)at;
            return s == NULL || s[0] == 0 ? 0 : s[0] == 'v' ? atoi(s + 1) : BROKEN;
        }
        case VLSEQ: return get_sequence(at);
        default: return get_integer(rep, at);
    }
}
