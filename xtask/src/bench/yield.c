/* Preloaded into MPICH programs when there are more ranks than cores. MPICH waits by polling without pause; a rank that
 * waits then holds, for a whole time slice, the core that the rank it waits for needs, and a run measures the
 * scheduler. After some polls in a row that found nothing, the caller lets others run (Open MPI can do so itself). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

enum { POLLS = 20 };

typedef unsigned (*Progress)(void *);

/* In Python, MPI and what it needs are loaded locally: then only the library itself can be asked. */
static Progress find(void)
{
    Progress next = (Progress) dlsym(RTLD_NEXT, "ucp_worker_progress");
    return next ? next : (Progress) dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
}

unsigned ucp_worker_progress(void *worker)
{
    static Progress real;
    static __thread unsigned empty;
    if (!real) real = find();
    unsigned events = real(worker);
    if (events) empty = 0;
    else if (++empty > POLLS) sched_yield();
    return events;
}
