/* Lets more MPICH ranks than cores make progress: to be preloaded.
 *
 * Debian's MPICH waits by polling UCX without pause, so a rank that waits keeps its core from the rank that it waits
 * for until the scheduler steps in: a barrier of 4 ranks on 2 cores takes 30 ms. Here a rank naps after some polls
 * that found nothing, which makes it 0.3 ms. Giving way with sched_yield helps far less when the machine is busy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>

enum { POLLS_MAX = 200, NAP_NS = 20000, TIMER_SLACK_NS = 1000 };

__attribute__((constructor)) static void precise_naps(void)
{
    prctl(PR_SET_TIMERSLACK, (unsigned long)TIMER_SLACK_NS);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    static unsigned empty_polls;
    if (!real) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = real(worker);
    if (events) empty_polls = 0;
    else if (++empty_polls > POLLS_MAX) nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    return events;
}
