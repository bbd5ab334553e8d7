/* Who writes what: patterns that codes use, and chance, such that no two ranks get into each other's way. */
#include "differ.h"

typedef enum { BLOCKS, CYCLIC, TILES, CHANCE, ONE, SAME } Pattern;

static int position_of(unsigned ranks, int q)
{
    return __builtin_popcount(ranks & ((1u << q) - 1));
}

static Slab whole(const Set *set)
{
    Slab slab;
    for (int d = 0; d < set->ndims; d++) {
        slab.start[d] = 0;
        slab.count[d] = 1;
        slab.stride[d] = slab.block[d] = set->dims[d];
    }
    return slab;
}

/* An even share of one dimension. */
static void cut(Slab *slab, const Set *set, int d, int part, int parts)
{
    hsize_t lo = set->dims[d] * (hsize_t)part / (hsize_t)parts, hi = set->dims[d] * (hsize_t)(part + 1) / (hsize_t)parts;
    slab->start[d]  = lo;
    slab->block[d]  = hi - lo;
    slab->stride[d] = hi - lo ? hi - lo : 1;
}

static void deal(Slab *slab, const Set *set, int d, int part, int parts, int block)
{
    hsize_t b = (hsize_t)block, start = b * (hsize_t)part, stride = b * (hsize_t)parts;
    slab->start[d]  = start;
    slab->stride[d] = stride;
    slab->block[d]  = b;
    slab->count[d]  = set->dims[d] >= start + b ? (set->dims[d] - start - b) / stride + 1 : 0;
}

typedef struct {
    Pattern pattern;
    int     d, block;
    int     chosen; /* the one rank */
    uint64_t salt;
} Plan;

static Selection part_of(const Plan *p, const Set *set, unsigned ranks, int q, int attempt)
{
    int    me = position_of(ranks, q), parts = __builtin_popcount(ranks);
    Random r  = seeded(p->salt, (uint64_t)(q + RANKS_MAX * attempt));
    if (set->ndims == 0 || volume(set->ndims, set->dims) == 0)
        return p->pattern == SAME || me == p->chosen ? select_all(set->ndims, set->dims) : select_none();
    Slab slab = whole(set);
    switch (p->pattern) {
        case BLOCKS: cut(&slab, set, p->d, me, parts); break;
        case CYCLIC: deal(&slab, set, p->d, me, parts, p->block); break;
        case TILES: {
            int rows = parts % 2 == 0 ? 2 : 1, e = (p->d + 1) % set->ndims;
            cut(&slab, set, p->d, me % (parts / rows), parts / rows);
            if (rows == 2)
                cut(&slab, set, e, me / (parts / rows), rows);
            break;
        }
        case ONE: return me == p->chosen ? select_all(set->ndims, set->dims) : select_none();
        case SAME: r = seeded(p->salt, 0); return select_draw(&r, set->ndims, set->dims, false);
        case CHANCE: return select_draw(&r, set->ndims, set->dims, false);
    }
    return select_slab(set->ndims, set->dims, slab);
}

/* Whether a rank may write these elements, as far as this call and, unless a flush comes first, earlier ones go. */
static bool free_to_write(const Set *set, const Selection *s, int who, const int8_t *claim, bool flushed)
{
    for (size_t i = 0; i < s->count; i++) {
        int writer = set->writer[s->index[i]];
        if (claim[s->index[i]] != SYNCED)
            return false;
        if (!flushed && writer != SYNCED && writer != who)
            return false;
    }
    return true;
}

static const char *const names[] = {"blocks", "cyclic", "tiles", "chance", "one", "same"};
static const char *const covers[] = {"pattern.blocks", "pattern.cyclic", "pattern.tiles",
                                     "pattern.chance", "pattern.one",    "pattern.same"};

static Plan draw_plan(Random *r, const Set *set, unsigned ranks)
{
    static const Pattern usual[] = {BLOCKS, BLOCKS, CYCLIC, CYCLIC, TILES, CHANCE, CHANCE, CHANCE, ONE, SAME};
    Plan p = {.pattern = usual[below(r, 10)], .d = below(r, set->ndims), .block = between(r, 1, 3)};
    p.chosen = below(r, __builtin_popcount(ranks));
    p.salt   = next(r);
    if (p.pattern == TILES && set->ndims < 2)
        p.pattern = CHANCE;
    if (set->storage == COMPACT)
        p.pattern = SAME; /* metadata to HDF5: all ranks must write the same */
    return p;
}

void plan_write(Random *r, Transfer *t, unsigned ranks, bool collective, bool *sync)
{
    Set    *set   = t->set;
    Plan    p     = draw_plan(r, set, ranks);
    bool    flush = *sync || chance(r, 50), needed = false;
    int8_t *claim = malloc(volume(set->ndims, set->dims) + 1);
    memset(claim, SYNCED, volume(set->ndims, set->dims) + 1);
    t->same = p.pattern == SAME;
    cover(covers[p.pattern]);
    for (int q = 0; q < nranks; q++) {
        if (!(ranks >> q & 1))
            continue;
        /* Without a flush between, a rank that lags may write what all have written before after what others write now. */
        int       who = !t->same ? q : collective ? EVERYBODY : NOBODY;
        Selection s   = part_of(&p, set, ranks, q, 0);
        for (int attempt = 1; attempt < 4 && p.pattern == CHANCE && !free_to_write(set, &s, who, claim, flush); attempt++) {
            select_free(&s);
            s = part_of(&p, set, ranks, q, attempt);
        }
        if (!free_to_write(set, &s, who, claim, flush)) {
            select_free(&s);
            s = select_none();
        }
        needed = needed || !free_to_write(set, &s, who, claim, false);
        for (size_t i = 0; !t->same && i < s.count; i++)
            claim[s.index[i]] = (int8_t)q;
        t->part[q] = s;
    }
    free(claim);
    *sync = *sync || needed;
    say("  %s: %s", set->path, names[p.pattern]);
    draw_layouts(r, t, ranks, collective);
}

/* One rank has all elements, or all ranks have parts; whoever wrote them before, by collective calls. */
void plan_over(Random *r, Transfer *t, bool one)
{
    unsigned ranks = t->set->home->members;
    Plan     p     = draw_plan(r, t->set, ranks);
    p.pattern      = one ? ONE : p.pattern == CHANCE || p.pattern == SAME ? BLOCKS : p.pattern;
    for (int q = 0; q < nranks; q++)
        if (ranks >> q & 1)
            t->part[q] = part_of(&p, t->set, ranks, q, 0);
    say("  %s: %s", t->set->path, names[p.pattern]);
    draw_layouts(r, t, ranks, true);
}

static Style draw_style(Random *r, const Set *set)
{
    const Type *type = set->type;
    int         what = below(r, 100);
    if (type_is_serial(type) || set->filtered || what < 40)
        return EXACT;
    return type->form == RECORD && what < 70 ? SUBSET : CONVERTED;
}

static Layout draw_layout(Random r, const Set *set)
{
    Style style  = draw_style(&r, set);
    bool  padded = chance(&r, 50);
    cover(style == EXACT ? "memory.exact" : style == SUBSET ? "memory.subset" : padded && set->type->form == RECORD ? "memory.padded" : "memory.converted");
    return layout_of(set->type, style, padded, r, &set->file);
}

/* Ranks need not agree about their memory; but where they write together and do not, native HDF5 can hang. */
void draw_layouts(Random *r, Transfer *t, unsigned ranks, bool collective)
{
    uint64_t salt    = next(r);
    bool     differ  = chance(r, 20) && !t->same && !collective;
    bool     shifted = type_is_numeric(t->set->type) && !t->set->filtered && chance(r, 10), some = chance(r, 30) && !t->same && !collective;
    for (int q = 0; q < nranks; q++) {
        if (!(ranks >> q & 1))
            continue;
        t->layout[q]    = draw_layout(seeded(salt, differ ? (uint64_t)q : 0), t->set);
        const Leaf *rep = &t->layout[q].slot[0].rep; /* transforms are for native types only */
        t->transform[q] = shifted && (!some || q % 2 == 0) && (!rep->big || rep->size == 1);
    }
    if (shifted)
        cover("transform");
}

void transfer_free(Transfer *t)
{
    for (int q = 0; q < RANKS_MAX; q++) {
        select_free(&t->part[q]);
        layout_free(&t->layout[q]);
    }
}
