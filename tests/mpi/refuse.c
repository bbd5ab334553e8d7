/* Preloaded, refuses to a library of Sago's what some systems refuse, as REFUSE says:
 *
 *   memory    files in memory: a system call filter
 *   programs  files in memory that could be run as programs: vm.memfd_noexec=2
 *   threads   threads: a limit on processes
 *   window    the last rank its window, when all have made theirs
 *   epoch     the last rank access to the windows of others
 *
 * MPI and everybody else get them; so each looks at where it is called from. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOEXEC_SEAL 8u

static int refuses(const char *what, void *caller)
{
    const char *told = getenv("REFUSE");
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

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window)
{
    void *caller = __builtin_return_address(0);
    int   code   = PMPI_Win_create(base, size, unit, info, comm, window), rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    return refuses("window", caller) && rank == ranks - 1 ? MPI_ERR_OTHER : code;
}

int MPI_Win_lock_all(int assertion, MPI_Win window)
{
    MPI_Group group;
    int       rank, ranks;
    void     *caller = __builtin_return_address(0);
    PMPI_Win_get_group(window, &group);
    PMPI_Group_rank(group, &rank);
    PMPI_Group_size(group, &ranks);
    PMPI_Group_free(&group);
    if (refuses("epoch", caller) && rank == ranks - 1) return MPI_ERR_OTHER;
    return PMPI_Win_lock_all(assertion, window);
}
