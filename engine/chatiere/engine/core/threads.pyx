"""Work without the GIL in several threads, which start with the first work and sleep between two batches.

A thread that waits first spins for some microseconds, because waking a thread takes longer than the shortest work. The
work never depends on the threads: the caller takes parts as well, and a thread that wakes late finds no place.

Each thread begins with the same share of the parts in every batch, because its core's cache has their memory. If two
cores have no common cache, reading what the other core wrote takes several times as long as reading the main memory.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport getpid

cdef extern from *:
    uint64_t __atomic_load_n(const uint64_t* value, int order) noexcept nogil
    uint64_t __atomic_exchange_n(uint64_t* value, uint64_t number, int order) noexcept nogil
    void __atomic_store_n(uint64_t* value, uint64_t number, int order) noexcept nogil
    int __ATOMIC_ACQUIRE
    int __ATOMIC_RELAXED

cdef extern from "<pthread.h>" nogil:
    int pthread_create(pthread_t* thread, const void* attributes, void* (*function)(void*) noexcept, void*) noexcept
    int pthread_join(pthread_t thread, void** result) noexcept
    int pthread_mutex_init(pthread_mutex_t* mutex, const void* attributes) noexcept
    int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept
    int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept
    int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept
    int pthread_cond_init(pthread_cond_t* condition, const void* attributes) noexcept
    int pthread_cond_destroy(pthread_cond_t* condition) noexcept
    int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) noexcept
    int pthread_cond_signal(pthread_cond_t* condition) noexcept
    int pthread_cond_broadcast(pthread_cond_t* condition) noexcept

cdef extern from "<sched.h>" nogil:
    int sched_yield() noexcept

cdef enum:
    # The time for which a thread spins before it sleeps, in nanoseconds.
    SPIN = 30_000


cdef int64_t clock() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return 1_000_000_000 * <int64_t> now.tv_sec + now.tv_nsec


cdef void spin(const uint64_t* number, bint zero) noexcept nogil:
    # Wait for a short time, or until a number is zero (if `zero` is False: not zero). Other threads can use this core
    # meanwhile.
    cdef int64_t end = clock() + SPIN
    while (__atomic_load_n(number, __ATOMIC_RELAXED) == 0) != zero and clock() < end:
        sched_yield()


cdef uint64_t* taken(Shift* shift, uint64_t part) noexcept nogil:
    return <uint64_t*> (shift.parts + part * shift.size)


cdef void take_parts(Shift* shift, uint64_t share) noexcept nogil:
    # Take the parts of a share, and then the parts that other threads have not taken.
    cdef uint64_t part = shift.count * share // shift.shares
    cdef uint64_t _
    for _ in range(shift.count):
        if not __atomic_load_n(taken(shift, part), __ATOMIC_RELAXED) and not __atomic_exchange_n(
            taken(shift, part), 1, __ATOMIC_RELAXED
        ):
            shift.work(taken(shift, part))
        part = part + 1 if part + 1 < shift.count else 0


cdef void* run_thread(void* of_crew) noexcept nogil:
    cdef Shift* shift = <Shift*> of_crew
    cdef uint64_t number
    pthread_mutex_lock(&shift.mutex)
    shift.begun += 1
    number = shift.begun
    pthread_mutex_unlock(&shift.mutex)
    while True:
        spin(&shift.places, False)
        pthread_mutex_lock(&shift.mutex)
        while not shift.places and not shift.ending:
            pthread_cond_wait(&shift.wake, &shift.mutex)
        if shift.ending:
            break
        set_number(&shift.places, shift.places - 1)
        set_number(&shift.inside, shift.inside + 1)
        pthread_mutex_unlock(&shift.mutex)
        # The caller has share 0.
        take_parts(shift, number % shift.shares)
        pthread_mutex_lock(&shift.mutex)
        # All parts are taken, so no other thread needs to join.
        set_number(&shift.places, 0)
        set_number(&shift.inside, shift.inside - 1)
        if not shift.inside:
            pthread_cond_signal(&shift.left)
        pthread_mutex_unlock(&shift.mutex)
    pthread_mutex_unlock(&shift.mutex)
    return NULL


cdef void set_number(uint64_t* number, uint64_t value) noexcept nogil:
    # Other threads may read the number without the mutex while they spin.
    __atomic_store_n(number, value, __ATOMIC_RELAXED)


cdef void open_places(Shift* shift, uint64_t places) noexcept nogil:
    pthread_mutex_lock(&shift.mutex)
    set_number(&shift.places, places)
    pthread_mutex_unlock(&shift.mutex)
    pthread_cond_broadcast(&shift.wake)


cdef void close_places(Shift* shift) noexcept nogil:
    # Wait until all threads that joined the work have left.
    pthread_mutex_lock(&shift.mutex)
    set_number(&shift.places, 0)
    pthread_mutex_unlock(&shift.mutex)
    spin(&shift.inside, True)
    pthread_mutex_lock(&shift.mutex)
    while shift.inside:
        pthread_cond_wait(&shift.left, &shift.mutex)
    pthread_mutex_unlock(&shift.mutex)


cdef class Crew:
    def __cinit__(self):
        self.begin()

    def __dealloc__(self):
        cdef int i
        # A forked process has none of the threads, and their mutex may be locked forever.
        if self.process != getpid():
            return  # uncovered: the debug build is not forked
        pthread_mutex_lock(&self.shift.mutex)
        self.shift.ending = True
        pthread_mutex_unlock(&self.shift.mutex)
        pthread_cond_broadcast(&self.shift.wake)
        for i in range(self.started):
            pthread_join(self.threads[i], NULL)
        pthread_mutex_destroy(&self.shift.mutex)
        pthread_cond_destroy(&self.shift.wake)
        pthread_cond_destroy(&self.shift.left)

    cdef void begin(self):
        # Prepare for this process, without threads.
        memset(&self.shift, 0, sizeof(Shift))
        pthread_mutex_init(&self.shift.mutex, NULL)
        pthread_cond_init(&self.shift.wake, NULL)
        pthread_cond_init(&self.shift.left, NULL)
        self.started = 0
        self.process = getpid()

    cdef void start(self, int threads):
        # Have at least this number of threads, or fewer if no more can be started.
        if self.process != getpid():
            self.begin()  # uncovered: the debug build is not forked
        while self.started < threads:
            if pthread_create(&self.threads[self.started], NULL, run_thread, &self.shift):
                break  # uncovered: threads do not run out in tests
            self.started += 1

    cdef void run(self, Work work, void* parts, size_t size, Py_ssize_t count, int num_threads):
        # Do `work` on each of `count` parts of `size` bytes, in this thread and at most `num_threads` - 1 others.
        cdef Shift* shift = &self.shift
        cdef Py_ssize_t i
        if num_threads > 1:
            self.start(num_threads - 1)
        shift.work, shift.parts, shift.size, shift.count = work, <char*> parts, size, count
        shift.shares = num_threads
        for i in range(count):
            taken(shift, i)[0] = 0
        with nogil:
            if num_threads > 1:
                open_places(shift, num_threads - 1)
            take_parts(shift, 0)
            if num_threads > 1:
                close_places(shift)
