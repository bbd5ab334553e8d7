/* Datatypes as trees of leaves, and their layouts: in the file, and in memory in ways that HDF5 must convert. */
#include "differ.h"

static Type *new_leaf(Leaf leaf)
{
    Type *type   = calloc(1, sizeof *type);
    type->form   = LEAF;
    type->leaf   = leaf;
    type->leaves = 1;
    return type;
}

static Type *new_array(Random *r, Type *of)
{
    Type *type      = calloc(1, sizeof *type);
    type->form      = ARRAY;
    type->length    = between(r, 1, 3);
    type->member[0] = of;
    type->leaves    = type->length * of->leaves;
    return type;
}

static Type *new_record(Random *r, int depth)
{
    Type *type    = calloc(1, sizeof *type);
    type->form    = RECORD;
    type->members = between(r, 1, depth ? 3 : 4);
    for (int i = 0; i < type->members; i++) {
        Type *m = depth == 0 && chance(r, 15) ? new_record(r, 1) : new_leaf(leaf_draw(r, chance(r, 75)));
        if (m->form == LEAF && chance(r, 10))
            m = new_array(r, m);
        type->member[i] = m;
        type->leaves += m->leaves;
    }
    return type;
}

Type *type_draw(Random *r, bool serial)
{
    static const int special[] = {REFERENCE, VLTEXT, VLSEQ};
    int              what      = below(r, 100);
    if (what < 58)
        return new_leaf(leaf_draw(r, chance(r, 70)));
    if (what < 88)
        return new_record(r, 0);
    if (what < 93)
        return new_array(r, new_leaf(leaf_draw(r, true)));
    int form = special[serial ? below(r, 3) : below(r, 100) < 70 ? 0 : between(r, 1, 2)];
    return new_leaf((Leaf){.form = form, .size = 8});
}

void type_free(Type *type)
{
    if (!type)
        return;
    for (int i = 0; i < 5; i++)
        type_free(type->member[i]);
    free(type);
}

Type *type_copy(const Type *type)
{
    Type *copy = malloc(sizeof *copy);
    *copy      = *type;
    for (int i = 0; i < 5; i++)
        copy->member[i] = type->member[i] ? type_copy(type->member[i]) : NULL;
    return copy;
}

bool type_is_numeric(const Type *t)
{
    return t->form == LEAF && (t->leaf.form == FLOATING || (t->leaf.form == INTEGER && t->leaf.sign));
}

bool type_is_variable(const Type *t) { return t->form == LEAF && (t->leaf.form == VLTEXT || t->leaf.form == VLSEQ); }
bool type_is_reference(const Type *t) { return t->form == LEAF && t->leaf.form == REFERENCE; }

bool type_is_serial(const Type *t) { return type_is_variable(t) || type_is_reference(t); }

typedef struct {
    Style   style;
    bool    padded;
    Random  random;
    Layout *out;
} Builder;

static hid_t build(Builder *b, const Type *type, int leaf, size_t at);

static hid_t build_leaf(Builder *b, const Type *type, int leaf, size_t at)
{
    Slot *slot = &b->out->slot[b->out->slots++];
    *slot      = (Slot){.leaf = leaf, .offset = at, .rep = type->leaf};
    if (b->style == CONVERTED || (b->style == SUBSET && chance(&b->random, 30)))
        slot->rep = leaf_converted(&type->leaf, &b->random);
    return leaf_type(&slot->rep);
}

static hid_t build_array(Builder *b, const Type *type, int leaf, size_t at)
{
    int     first = b->out->slots;
    hid_t   of    = build(b, type->member[0], leaf, at);
    int     per   = b->out->slots - first;
    size_t  size  = H5Tget_size(of);
    hsize_t dims[1] = {(hsize_t)type->length};
    for (int i = 1; i < type->length; i++)
        for (int k = 0; k < per; k++) {
            Slot slot = b->out->slot[first + k];
            slot.offset += (size_t)i * size;
            slot.leaf += i * type->member[0]->leaves;
            b->out->slot[b->out->slots++] = slot;
        }
    hid_t array = H5Tarray_create2(of, 1, dims);
    H5Tclose(of);
    return array;
}

/* Members in the file's order, or in another one, or only some of them. */
static int choose_members(Builder *b, const Type *type, int chosen[5])
{
    int count = 0;
    for (int i = 0; i < type->members; i++)
        if (b->style != SUBSET || chance(&b->random, 50))
            chosen[count++] = i;
    if (count == 0)
        chosen[count++] = below(&b->random, type->members);
    if (b->style == CONVERTED && chance(&b->random, 20) && count > 1) {
        int swap   = chosen[0];
        chosen[0]  = chosen[count - 1];
        chosen[count - 1] = swap;
    }
    return count;
}

static hid_t build_record(Builder *b, const Type *type, int leaf, size_t at)
{
    int    chosen[5], count = choose_members(b, type, chosen);
    hid_t  member[5];
    size_t offset[5], size = 0;
    for (int k = 0; k < count; k++) {
        int first = leaf;
        for (int i = 0; i < chosen[k]; i++)
            first += type->member[i]->leaves;
        if (b->padded)
            size = (size + 7) / 8 * 8;
        offset[k] = size;
        member[k] = build(b, type->member[chosen[k]], first, at + size);
        size += H5Tget_size(member[k]);
    }
    if (b->padded)
        size += 3;
    hid_t record = H5Tcreate(H5T_COMPOUND, size);
    for (int k = 0; k < count; k++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", chosen[k]);
        H5Tinsert(record, name, offset[k], member[k]);
        H5Tclose(member[k]);
    }
    return record;
}

static hid_t build(Builder *b, const Type *type, int leaf, size_t at)
{
    switch (type->form) {
        case LEAF: return build_leaf(b, type, leaf, at);
        case ARRAY: return build_array(b, type, leaf, at);
        default: return build_record(b, type, leaf, at);
    }
}

Layout layout_of(const Type *type, Style style, bool padded, Random r, const Layout *file)
{
    Layout layout = {0};
    if (style == EXACT) {
        layout      = *file;
        layout.type = H5Tcopy(file->type);
        return layout;
    }
    Builder b   = {.style = style, .padded = padded, .random = r, .out = &layout};
    layout.type = build(&b, type, 0, 0);
    layout.size = H5Tget_size(layout.type);
    return layout;
}

void layout_free(Layout *layout)
{
    if (layout->type > 0)
        H5Tclose(layout->type);
    layout->type = 0;
}
