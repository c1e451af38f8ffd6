"""The parts into which a batch is divided for threads, and the joining of their results."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from chatiere.engine.core.blocks cimport Block
from chatiere.engine.core.integers cimport read_number
from chatiere.engine.core.operations cimport MAX_LEGAL
from chatiere.engine.core.threads cimport MAX_THREADS

cdef enum:
    # The initial capacity for the legal ids of each item.
    LEGAL_GUESS = 64
    # The number of parts for each thread, if there are several threads. Small parts shorten the wait for a slow thread.
    PARTS_EACH = 16


cdef bytes new_column(Py_ssize_t size):
    # Return a new bytes object. The caller may write to the object until other code receives the object.
    return PyBytes_FromStringAndSize(NULL, size)


cdef void* data_of(column):
    # Return the address of the data in a bytes object or a Block.
    return PyBytes_AS_STRING(column) if type(column) is bytes else (<Block> column).data


cdef int threads_for(Py_ssize_t items, num_threads) except -1:
    return min(<Py_ssize_t> read_number("num_threads", num_threads, 1, MAX_THREADS), max(items, 1))


cdef class Parts:
    def __cinit__(self, Py_ssize_t items, num_threads):
        self.num_threads = threads_for(items, num_threads)
        self.count = 1 if self.num_threads == 1 else min(PARTS_EACH * self.num_threads, items)
        self.items = items
        self.parts = <Part*> calloc(self.count, sizeof(Part))
        if self.parts == NULL:
            raise MemoryError()  # uncovered: memory does not run out in tests
        self.clear()

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.count if self.parts != NULL else 0):
            free(self.parts[i].legal_ids)
            free(self.parts[i].final_observations)
        free(self.parts)

    cdef bint are_for(self, Py_ssize_t items, num_threads) except -1:
        return items == self.items and threads_for(items, num_threads) == self.num_threads

    cdef void clear(self):
        # Prepare for a batch. The results of an earlier batch are discarded, but memory for legal ids is kept.
        cdef Part* part
        cdef Py_ssize_t i
        memset(&self.described, 0, sizeof(Described))
        for i in range(self.count):
            part = &self.parts[i]
            free(part.final_observations)
            part.batch, part.described = &self.batch, &self.described
            part.first, part.last = self.items * i // self.count, self.items * (i + 1) // self.count
            part.new_games, part.restarts, part.final_observations = NULL, NULL, NULL
            part.ended = part.legal = part.chance = 0

    cdef int reserve_legal_ids(self) except -1:
        cdef Part* part
        cdef Py_ssize_t i
        for i in range(self.count):
            part = &self.parts[i]
            if part.legal_ids != NULL:
                continue
            part.capacity = MAX_LEGAL + LEGAL_GUESS * (part.last - part.first)
            part.legal_ids = <uint16_t*> malloc(part.capacity * sizeof(uint16_t))
            if part.legal_ids == NULL:
                raise MemoryError()  # uncovered: memory does not run out in tests
        return 0

    cdef void add_up(self):
        # Add up the results of all parts, from which join_part determines the places of each part's results.
        cdef Part* part
        cdef Py_ssize_t i
        self.ended = self.legal = 0
        for i in range(self.count):
            part = &self.parts[i]
            part.ended_before, part.legal_before = self.ended, self.legal
            self.ended += part.ended
            self.legal += part.legal

    cdef bint any_chance(self):
        # Return True if some item is at a chance event.
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.parts[i].chance:
                return True
        return False


cdef void join_part(void* work) noexcept nogil:
    cdef const Part* part = <const Part*> work
    cdef const Described* described = part.described
    cdef size_t size = part.batch.players * part.batch.ops.observation_length
    cdef Py_ssize_t i
    if part.final_observations != NULL:
        memcpy(described.final_observations + part.ended_before * size, part.final_observations, part.ended * size)
    if described.legal_offsets != NULL:
        # The offsets of each part begin at 0.
        if part.legal_before:
            for i in range(part.first, part.last):
                described.legal_offsets[i] += part.legal_before
        memcpy(described.legal_ids + part.legal_before, part.legal_ids, part.legal * sizeof(uint16_t))
