"""Work without the GIL in several threads. The threads end with the work.

Starting a thread takes about ten microseconds, whereas a batch that is worth dividing takes several hundred. There is
no pool of threads, because it would have to be shut down, and would be lost in a forked process.
"""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

cdef extern from *:
    uint64_t __atomic_fetch_add(uint64_t* value, uint64_t more, int order) noexcept nogil
    uint64_t __atomic_fetch_sub(uint64_t* value, uint64_t less, int order) noexcept nogil
    int __ATOMIC_ACQ_REL

# These declarations are as in cpython.pythread, but with `nogil`, because the functions do not need the GIL.
cdef extern from "pythread.h" nogil:
    ctypedef void* PyThread_type_lock
    enum:
        WAIT_LOCK
    PyThread_type_lock PyThread_allocate_lock() noexcept
    void PyThread_free_lock(PyThread_type_lock lock) noexcept
    int PyThread_acquire_lock(PyThread_type_lock lock, int wait) noexcept
    void PyThread_release_lock(PyThread_type_lock lock) noexcept

cdef extern from "pythread.h":
    unsigned long PyThread_start_new_thread(void (*function)(void*) noexcept nogil, void* argument) noexcept
    unsigned long PYTHREAD_INVALID_THREAD_ID

ctypedef struct Crew:
    # Threads that process one part after another. A thread can start so late that all work is done and the caller has
    # already returned. For this reason, the last thread to leave frees the crew.
    Work work
    char* parts
    size_t size
    uint64_t count
    uint64_t taken
    uint64_t done
    uint64_t members
    PyThread_type_lock working  # held until all parts are done


cdef void take_parts(Crew* crew) noexcept nogil:
    cdef uint64_t part = __atomic_fetch_add(&crew.taken, 1, __ATOMIC_ACQ_REL)
    while part < crew.count:
        crew.work(crew.parts + part * crew.size)
        if __atomic_fetch_add(&crew.done, 1, __ATOMIC_ACQ_REL) == crew.count - 1:
            PyThread_release_lock(crew.working)
        part = __atomic_fetch_add(&crew.taken, 1, __ATOMIC_ACQ_REL)


cdef void leave(Crew* crew) noexcept nogil:
    if __atomic_fetch_sub(&crew.members, 1, __ATOMIC_ACQ_REL) == 1:
        PyThread_free_lock(crew.working)
        free(crew)


cdef void run_thread(void* crew) noexcept nogil:
    take_parts(<Crew*> crew)
    leave(<Crew*> crew)


cdef int run_parts(Work work, void* parts, size_t size, Py_ssize_t count, int num_threads) except -1:
    # Do `work` on each of `count` parts (1 or more) of `size` bytes, in this thread and `num_threads` - 1 more threads,
    # or fewer if no more can be started.
    cdef Crew* crew = <Crew*> calloc(1, sizeof(Crew))
    cdef int _
    if crew == NULL:
        raise MemoryError()  # uncovered: memory does not run out in tests
    crew.working = PyThread_allocate_lock()
    if crew.working == NULL:
        free(crew)  # uncovered: as above
        raise MemoryError()  # uncovered: as above
    PyThread_acquire_lock(crew.working, WAIT_LOCK)
    crew.work = work
    crew.parts = <char*> parts
    crew.size = size
    crew.count = count
    crew.members = 1
    for _ in range(1, num_threads):
        __atomic_fetch_add(&crew.members, 1, __ATOMIC_ACQ_REL)
        if PyThread_start_new_thread(run_thread, crew) == PYTHREAD_INVALID_THREAD_ID:
            leave(crew)  # uncovered: threads do not run out in tests
            break  # uncovered: as above
    with nogil:
        take_parts(crew)
        PyThread_acquire_lock(crew.working, WAIT_LOCK)
        leave(crew)
    return 0
