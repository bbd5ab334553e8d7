/* Lets more ranks than cores make progress: to be preloaded.
 *
 * Debian's MPICH waits by polling UCX without pause, so a rank that waits keeps its core from the rank that it waits
 * for until the scheduler steps in: a barrier of 4 ranks on 2 cores takes 30 ms. Here a rank naps after some polls
 * that found nothing, which makes it 0.3 ms. Giving way with sched_yield, as Open MPI can, helps far less when the
 * machine is busy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>

enum { POLLS_MAX = 200, NAP_NS = 20000, NAP_NS_MAX = 300000, TIMER_SLACK_NS = 1000 };

__attribute__((constructor)) static void precise_naps(void)
{
    prctl(PR_SET_TIMERSLACK, (unsigned long)TIMER_SLACK_NS);
}

static void nap_after(int events, long nap_ns_max)
{
    static __thread unsigned empty_polls;
    if (events > 0) empty_polls = 0;
    else if (++empty_polls > POLLS_MAX) {
        /* Who waits for long can wait a little longer: waking up costs, too. */
        long nap = NAP_NS + (long)(empty_polls - POLLS_MAX) / 4 * 1000;
        nanosleep(&(struct timespec){0, nap < nap_ns_max ? nap : nap_ns_max}, NULL);
    }
}

/* MPICH */
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (!real) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = real(worker);
    nap_after((int)events, NAP_NS_MAX);
    return events;
}

/* Open MPI; it does not count all events. */
int opal_progress(void)
{
    static int (*real)(void);
    if (!real) real = (int (*)(void))dlsym(RTLD_NEXT, "opal_progress");
    int events = real();
    nap_after(events, NAP_NS);
    return events;
}
