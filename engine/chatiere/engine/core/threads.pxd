# Work in several threads, without the GIL.
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from posix.types cimport pid_t

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_t:
        pass
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass

cdef enum:
    MAX_THREADS = 256

ctypedef void (*Work)(void* part) noexcept nogil

ctypedef struct Shift:
    # The work that the threads of a crew share. Only a thread that holds the mutex changes `begun`, `places`, `inside`
    # and `ending`; the rest is constant while a thread is inside. Each part begins with a uint64_t, which is 0 until a
    # thread takes the part.
    Work work
    char* parts
    size_t size
    uint64_t count
    uint64_t shares  # the number of threads among which the parts are divided
    uint64_t begun  # the number of threads that have begun to run
    uint64_t places  # the number of threads that may still join the work
    uint64_t inside  # the number of threads that joined the work and have not left
    bint ending  # True if the threads have to end
    pthread_mutex_t mutex
    pthread_cond_t wake  # there are places, or the threads have to end
    pthread_cond_t left  # all threads have left


cdef class Crew:
    # Threads that live as long as this object. One call at a time may use them.
    cdef Shift shift
    cdef pthread_t threads[MAX_THREADS - 1]
    cdef int started
    cdef pid_t process

    cdef void begin(self)
    cdef void start(self, int threads)
    cdef void run(self, Work work, void* parts, size_t size, Py_ssize_t count, int num_threads)
