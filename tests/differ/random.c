/* Random numbers that are the same everywhere: splitmix64. */
#include "differ.h"

Random seeded(uint64_t seed, uint64_t salt)
{
    Random r = {mix(seed, salt)};
    return r;
}

uint64_t next(Random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t mix(uint64_t a, uint64_t b)
{
    Random r = {a * 0xd1342543de82ef95u + b};
    return next(&r);
}

int  below(Random *r, int n) { return n <= 1 ? 0 : (int)(next(r) % (uint64_t)n); }
int  between(Random *r, int lo, int hi) { return lo + below(r, hi - lo + 1); }
bool chance(Random *r, int percent) { return below(r, 100) < percent; }
