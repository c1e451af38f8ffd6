"""Work without the GIL in several threads, which last as long as it does.

To start a thread takes some ten microseconds, a batch worth dividing some hundreds: so there are no threads to keep, to
end, or to lose at a fork.
"""

from libc.stdlib cimport calloc, free

from cpython.pythread cimport (
    WAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_start_new_thread,
    PyThread_type_lock,
)

ctypedef struct Job:
    Work work
    void* part
    PyThread_type_lock done  # held until the work is done; NULL if no thread does it


cdef void run_job(void* given) noexcept nogil:
    cdef Job* job = <Job*> given
    job.work(job.part)
    PyThread_release_lock(job.done)


cdef void start(Job* job) noexcept:
    job.done = PyThread_allocate_lock()
    if job.done == NULL:
        return  # uncovered: memory does not run out in tests
    PyThread_acquire_lock(job.done, WAIT_LOCK)
    if PyThread_start_new_thread(run_job, job) == -1:
        PyThread_release_lock(job.done)  # uncovered: threads do not run out in tests
        PyThread_free_lock(job.done)  # uncovered: as above
        job.done = NULL  # uncovered: as above


cdef int run_parts(Work work, void* parts, size_t size, int count) except -1:
    # Do `work` on each of `count` parts of `size` bytes, the first in this thread. Parts for which there is no thread
    # are worked on here, too.
    cdef Job* jobs = <Job*> calloc(count, sizeof(Job))
    cdef int i
    if jobs == NULL:
        raise MemoryError()  # uncovered: memory does not run out in tests
    for i in range(count):
        jobs[i].work = work
        jobs[i].part = <char*> parts + i * size
        if i > 0:
            start(&jobs[i])
    with nogil:
        for i in range(count):
            if jobs[i].done == NULL:
                work(jobs[i].part)
        for i in range(count):
            if jobs[i].done != NULL:
                PyThread_acquire_lock(jobs[i].done, WAIT_LOCK)
    for i in range(count):
        if jobs[i].done != NULL:
            PyThread_release_lock(jobs[i].done)
            PyThread_free_lock(jobs[i].done)
    free(jobs)
    return 0
