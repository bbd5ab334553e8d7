/* What a rank saw of one program: lines of text with a hash, and what was wrong with it. */
#include "differ.h"

#include <stdarg.h>

static char    *text;
static size_t   length, room;
static int      wrong_count;
static uint64_t hash;
char            doing[256];
bool            show;

enum { WRONGS_SHOWN = 12, KINDS_MAX = 256 };

void transcript_begin(uint64_t seed)
{
    length = 0;
    wrong_count = 0;
    hash = 14695981039346656037u;
    say("seed %llu, rank %d of %d", (unsigned long long)seed, rank, nranks);
}

static void append(const char *line, size_t bytes)
{
    if (length + bytes + 2 > room) {
        room = 2 * (length + bytes + 2);
        text = realloc(text, room);
    }
    memcpy(text + length, line, bytes);
    length += bytes;
    text[length++] = '\n';
    text[length]   = 0;
    if (show) {
        printf("[%d] %.*s\n", rank, (int)bytes, line);
        fflush(stdout);
    }
}

static void append_formatted(const char *before, const char *format, va_list args)
{
    char line[8192];
    int  start = snprintf(line, sizeof line, "%s", before);
    int  more  = vsnprintf(line + start, sizeof line - (size_t)start, format, args);
    size_t n   = (size_t)start + (size_t)more;
    append(line, n < sizeof line ? n : sizeof line - 1);
}

void say(const char *format, ...)
{
    size_t  before = length;
    va_list args;
    va_start(args, format);
    append_formatted("", format, args);
    va_end(args);
    for (size_t i = before; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
}

void wrong(const char *format, ...)
{
    if (wrong_count++ >= WRONGS_SHOWN)
        return;
    va_list args;
    va_start(args, format);
    append_formatted("WRONG: ", format, args);
    va_end(args);
}

int         wrongs(void) { return wrong_count; }
uint64_t    transcript_hash(void) { return hash; }
const char *transcript_text(void) { return text; }

void now(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    say("%d %s", program.op, doing);
}

static herr_t frame(unsigned n, const H5E_error2_t *error, void *to)
{
    char *stack = to;
    size_t at   = strlen(stack);
    snprintf(stack + at, 4096 - at, "\n    #%u %s: %s", n, error->func_name, error->desc ? error->desc : "");
    return 0;
}

int64_t must(const char *call, int64_t result)
{
    if (result < 0) {
        char stack[4096] = "";
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, frame, stack);
        wrong("%s failed while: %s%s", call, doing, stack);
    }
    return result;
}

void must_fail(const char *call, int64_t result)
{
    if (result >= 0)
        wrong("%s succeeded while: %s", call, doing);
    say("  refused");
}

static struct {
    const char *what;
    uint64_t    times;
} kinds[KINDS_MAX];
static int kind_count;

void cover(const char *what)
{
    int i = 0;
    while (i < kind_count && strcmp(kinds[i].what, what) != 0)
        i++;
    if (i == KINDS_MAX)
        return;
    if (i == kind_count)
        kinds[kind_count++].what = what;
    kinds[i].times++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void coverage_print(FILE *to)
{
    qsort(kinds, (size_t)kind_count, sizeof kinds[0], by_name);
    for (int i = 0; i < kind_count; i++)
        fprintf(to, "%s %llu\n", kinds[i].what, (unsigned long long)kinds[i].times);
}
