/*
 * The transcript: what a case saw, in a form that two runs can be compared by.
 *
 *   H5Dopen2(file, "d", H5P_DEFAULT) = id        a call and its result; identifiers only as id or none
 *     ! HDF5 | H5Dopen2 | major | minor | text   a frame of the error stack, innermost first
 *   > text                                       a value
 *
 * Whatever differs between two equal runs is left out or replaced: identifiers, pointers, times, descriptors, the
 * directory of the run. Line numbers and file names of the library's sources are left out too.
 */
#define _GNU_SOURCE
#include "frame.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static FILE       *out;
static char        home[4400];        /* the case's directory, hidden in all text */
static const char *current_call = ""; /* read by the signal handler */
static long        clock_seconds;
static int         ids_before[H5I_NTYPES];

/* Identifiers by type: a connector may hold some of its own kind, but none of these after the program let go of its. */
static void count_ids(int *count)
{
    static const H5I_type_t kinds[] = {H5I_FILE,    H5I_GROUP, H5I_DATATYPE,    H5I_DATASPACE,  H5I_DATASET,
                                       H5I_ATTR,    H5I_MAP,   H5I_GENPROP_LST, H5I_ERROR_STACK, H5I_EVENTSET};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        hsize_t members     = 0;
        H5Inmembers(kinds[i], &members);
        count[kinds[i]] = (int)members;
    }
}

void transcript_begin(const char *dir)
{
    char path[4500];
    snprintf(home, sizeof home, "%s/", dir);
    snprintf(path, sizeof path, "transcript.%d", rank);
    if (!(out = fopen(path, "w")))
        fail("%s%s: %s", home, path, strerror(errno));
    setvbuf(out, NULL, _IOLBF, 1 << 16);
    clock_seconds = 1000000000;
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    count_ids(ids_before);
}

/* Closes all that a case left open, so that the next one finds the library as it was. */
static void close_leftovers(void)
{
    enum { MOST = 256 };
    hid_t   ids[MOST];
    ssize_t found = H5Fget_obj_ids((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL, MOST, ids);
    for (ssize_t i = 0; i < found; i++)
        while (H5Iis_valid(ids[i]) > 0 && H5Idec_ref(ids[i]) > 0)
            continue;
}

void transcript_end(void)
{
    ssize_t open = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
    fprintf(out, "> left open: %zd\n", open);
    close_leftovers();
    open = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
    if (open != 0)
        fprintf(out, "> cannot be closed: %zd\n", open);
    int ids_after[H5I_NTYPES] = {0};
    count_ids(ids_after);
    for (int i = 0; i < H5I_NTYPES; i++)
        if (ids_after[i] != ids_before[i])
            fprintf(out, "> identifiers of type %d: %+d\n", i, ids_after[i] - ids_before[i]);
    fclose(out);
    out          = NULL;
    current_call = "";
}

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "conform, rank %d: ", rank);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}

/* --- text without what changes from run to run ------------------------------------------------------------------ */

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Numbers that follow these words are not the same twice. */
static const char *const unstable[] = {"file descriptor = ", "buf = ", "fd = ", "time = ", "pid = ", "loc_id = "};

static const char *skip_unstable(const char *p)
{
    for (size_t i = 0; i < COUNT(unstable); i++)
        if (starts(p, unstable[i])) {
            fprintf(out, "%s*", unstable[i]);
            p += strlen(unstable[i]);
            while (*p && *p != ',' && *p != '\n')
                p++;
            return p;
        }
    return NULL;
}

static void put_clean(const char *text)
{
    if (!text)
        text = "(null)";
    for (const char *p = text; *p;) {
        const char *after = skip_unstable(p);
        size_t      digits;
        if (after)
            p = after;
        else if (starts(p, home))
            p += strlen(home);
        else if (starts(p, "0x") && (digits = strspn(p + 2, "0123456789abcdefABCDEF")) >= 6)
            p += 2 + digits, fputs("0x*", out);
        else if ((digits = strspn(p, "0123456789")) >= 15)
            p += digits, fputc('*', out);
        else if (*p == '\n' || *p == '\r')
            p++, fputs("\\n", out);
        else
            fputc(*p++, out);
    }
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

static herr_t put_frame(unsigned n, const H5E_error2_t *e, void *unused)
{
    char cls[128] = "?", major[256] = "?", minor[256] = "?";
    (void)n, (void)unused;
    H5Eget_class_name(e->cls_id, cls, sizeof cls);
    H5Eget_msg(e->maj_num, NULL, major, sizeof major);
    H5Eget_msg(e->min_num, NULL, minor, sizeof minor);
    fprintf(out, "  ! %s | %s | %s | %s | ", cls, e->func_name, major, minor);
    put_clean(e->desc);
    fputc('\n', out);
    return 0;
}

/* Walks a copy: asking for class and message names is itself a call, and would clear the default stack. */
void show_stack(hid_t stack)
{
    hid_t copy = stack == H5E_DEFAULT ? H5Eget_current_stack() : stack;
    if (copy < 0) {
        fprintf(out, "> no error stack\n");
        return;
    }
    H5Ewalk2(copy, H5E_WALK_UPWARD, put_frame, NULL);
    if (copy != stack)
        H5Eclose_stack(copy);
}

void now_calling(const char *text) { current_call = text; }

static void put_call(const char *text) { fprintf(out, "%s = ", text); }

/* A successful call leaves the stack as it was: empty. What it leaves there nonetheless is shown as well. */
static void put_outcome(const char *result)
{
    fprintf(out, "%s\n", result);
    show_stack(H5E_DEFAULT);
    current_call = "(between calls)";
}

hid_t saw_id(const char *text, hid_t id)
{
    put_call(text);
    put_outcome(id < 0 ? "none" : "id");
    return id;
}

int saw_code(const char *text, int code)
{
    char number[32];
    snprintf(number, sizeof number, "%d", code);
    put_call(text);
    put_outcome(number);
    return code;
}

long long saw_number(const char *text, long long value)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", value);
    put_call(text);
    put_outcome(number);
    return value;
}

/* --- values ----------------------------------------------------------------------------------------------------- */

enum { SHOWN_MAX = 12 };

static uint64_t hash(const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint64_t             h = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

static void put_rest(const void *values, size_t count, size_t size)
{
    if (count > SHOWN_MAX)
        fprintf(out, " ... %zu values, hash %016llx", count, (unsigned long long)hash(values, count * size));
    fputc('\n', out);
}

void note(const char *format, ...)
{
    char    text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs("> ", out);
    put_clean(text);
    fputc('\n', out);
}

void show_ints(const char *label, const int *values, size_t count)
{
    fprintf(out, "> %s:", label);
    for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
        fprintf(out, " %d", values[i]);
    put_rest(values, count, sizeof *values);
}

void show_doubles(const char *label, const double *values, size_t count)
{
    fprintf(out, "> %s:", label);
    for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
        fprintf(out, " %.17g", values[i]);
    put_rest(values, count, sizeof *values);
}

void show_bytes(const char *label, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    fprintf(out, "> %s:", label);
    for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
        fprintf(out, " %02x", p[i]);
    put_rest(bytes, count, 1);
}

void show_text(const char *label, const char *text)
{
    fprintf(out, "> %s: ", label);
    if (text) {
        fputc('"', out);
        put_clean(text);
        fputs("\"\n", out);
    }
    else
        fputs("null\n", out);
}

/* --- a clock that stands still, for libhdf5 alone ----------------------------------------------------------------- */

void tick(void) { clock_seconds += 60; }

static void *base_of(void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Takes the place of the C library's function in this process. MPI and everybody else get the true time. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    static void *hdf5;
    (void)zone;
    if (!hdf5)
        hdf5 = base_of(dlsym(RTLD_DEFAULT, "H5open"));
    if (hdf5 && base_of(__builtin_return_address(0)) == hdf5) {
        *tv = (struct timeval){.tv_sec = clock_seconds, .tv_usec = 0};
        return 0;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *tv = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

/* --- crashes ------------------------------------------------------------------------------------------------------ */

static void put_raw(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(3);
    if (out && write(fileno(out), text, strlen(text)) < 0)
        _exit(3);
}

static void on_signal(int number)
{
    put_raw(number == SIGALRM ? "> took too long in: " : "> crashed in: ");
    put_raw(current_call);
    put_raw("\n");
    signal(number, SIG_DFL);
    raise(number);
}

void watch_for_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    for (size_t i = 0; i < COUNT(signals); i++)
        signal(signals[i], on_signal);
}
