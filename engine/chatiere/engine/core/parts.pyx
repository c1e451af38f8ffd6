"""The parts into which a batch is divided for threads, and the joining of their results."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from chatiere.engine.core.blocks cimport Block
from chatiere.engine.core.game cimport MAX_LEGAL
from chatiere.engine.core.integers cimport read_number

cdef enum:
    # The initial capacity for the legal ids of each item.
    LEGAL_GUESS = 64
    MAX_THREADS = 256
    # The number of parts for each thread, if there are several threads. Small parts shorten the wait for a slow thread.
    PARTS_EACH = 4


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

    cdef Py_ssize_t ended(self):
        cdef Py_ssize_t ended = 0, i
        for i in range(self.count):
            ended += self.parts[i].ended
        return ended

    cdef void join_final_observations(self, Py_ssize_t size, char* place):
        # Write the final observations of all parts as one column. `size` is the size of one game's final observations.
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.parts[i].ended:
                memcpy(place, self.parts[i].final_observations, self.parts[i].ended * size)
                place += self.parts[i].ended * size

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

    cdef size_t join_offsets(self, uint32_t* offsets):
        # Join the parts' offsets into one sequence. In each part, the offsets begin at 0. Returns the total number of
        # legal ids.
        cdef size_t legal = 0
        cdef Py_ssize_t item, i
        for i in range(self.count):
            if legal:
                for item in range(self.parts[i].first, self.parts[i].last):
                    offsets[item] += legal
            legal += self.parts[i].legal
        offsets[self.batch.count] = legal
        return legal

    cdef void join_legal_ids(self, char* place):
        cdef Py_ssize_t i
        for i in range(self.count):
            memcpy(place, self.parts[i].legal_ids, self.parts[i].legal * sizeof(uint16_t))
            place += self.parts[i].legal * sizeof(uint16_t)

    cdef bint any_chance(self):
        # Return True if some item is at a chance event.
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.parts[i].chance:
                return True
        return False
