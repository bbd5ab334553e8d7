/* Preloaded, refuses to a library of Sago's what some systems refuse, as SAGO_REFUSE says:
 *
 *   memory    files in memory: a system call filter
 *   programs  files in memory that could be run as programs: vm.memfd_noexec=2
 *   threads   threads: a limit on processes
 *
 * MPI and everybody else get them; so each looks at where it is called from. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOEXEC_SEAL 8u

static int refuses(const char *what, void *caller)
{
    const char *told = getenv("SAGO_REFUSE");
    Dl_info     info;
    if (!told || strcmp(told, what) || !dladdr(caller, &info)) return 0;
    return strstr(info.dli_fname, "libranks") || strstr(info.dli_fname, "libsago");
}

int memfd_create(const char *name, unsigned flags)
{
    void *caller = __builtin_return_address(0);
    if (refuses("memory", caller) || (refuses("programs", caller) && !(flags & NOEXEC_SEAL)))
        return errno = EACCES, -1;
    return (int) syscall(SYS_memfd_create, name, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument)
{
    if (refuses("threads", __builtin_return_address(0))) return EAGAIN;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **) &create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, work, argument);
}
