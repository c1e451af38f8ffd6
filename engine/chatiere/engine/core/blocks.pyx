"""Reusable memory for the columns of batches. A block of memory is used again once no other object refers to it.

Allocating large columns at each step costs more than making the moves, because the operating system maps and clears the
columns' pages each time.
"""

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* found)

cdef extern from *:
    """
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    static void advise_huge_pages(void* data, size_t size) {
    #ifdef MADV_HUGEPAGE
        /* Advice only: a kernel without huge pages refuses it. */
        (void) madvise(data, size, MADV_HUGEPAGE);
    #else
        (void) data, (void) size;
    #endif
    }
    """
    void advise_huge_pages(void* data, size_t size)

cdef enum:
    # XLA, on which JAX runs, copies arrays that do not begin at a multiple of this number of bytes.
    ALIGNMENT = 64
    HUGE_PAGE = 1 << 21


cdef class Block:
    """A buffer of bytes from a BlockPool. NumPy reads the buffer in place. It begins at a multiple of 64 bytes."""

    def __dealloc__(self):
        free(self.allocated)

    def __len__(self):
        return self.size

    def __reduce__(self):
        # A copy has its own memory.
        return bytes, (bytes(self),)

    def __getbuffer__(self, Py_buffer* view, int flags):
        # `__releasebuffer__` is not needed. A block is not reused while arrays and memoryviews refer to it.
        PyBuffer_FillInfo(view, self, self.data, self.size, not self.writable, flags)

    cdef int resize(self, Py_ssize_t size) except -1:
        # Keep the memory if it is large enough. The contents are lost.
        cdef Py_ssize_t capacity, alignment
        if size > self.capacity or self.allocated == NULL:
            # Reserve a margin for columns whose size varies, so that they are seldom enlarged.
            capacity = size + size // 4 if self.capacity else size
            alignment = HUGE_PAGE if capacity >= HUGE_PAGE else ALIGNMENT
            free(self.allocated)
            self.size = self.capacity = 0
            self.allocated = malloc(capacity + alignment)
            if self.allocated == NULL:
                raise MemoryError()  # uncovered: memory does not run out in tests
            self.data = <char*> (<uintptr_t> self.allocated + alignment - <uintptr_t> self.allocated % alignment)
            self.capacity = capacity
            if alignment == HUGE_PAGE:
                advise_huge_pages(self.data, capacity)
        self.size = size
        return 0


cdef class BlockPool:
    """A pool of memory for one column of successive batches.

    A block is used again once only the pool refers to it. Arrays and memoryviews refer to their block, so their
    contents never change. Several threads may use a pool.
    """

    def __init__(self, Py_ssize_t most=4):
        """Initialize a pool without blocks.

        Args:
            most: The largest number of blocks to keep.
        """
        self.blocks = []
        self.most = most

    cpdef Block take(self, Py_ssize_t size, bint writable=False):
        """Return a block of `size` bytes with undefined contents.

        Args:
            size: The number of bytes, 0 or more.
            writable: True to get a block whose arrays are writable.
        """
        cdef Block block
        cdef Py_ssize_t i
        for i in range(len(self.blocks)):
            block = self.blocks[i]
            # A block without users has two references: from the list, and from the variable `block`.
            if Py_REFCNT(<PyObject*> block) == 2:
                break
        else:
            block = Block()
            if len(self.blocks) < self.most:
                self.blocks.append(block)
            else:
                # The pool drops its reference to the oldest block. The block exists as long as its users need it.
                self.blocks[self.oldest] = block
                self.oldest = (self.oldest + 1) % self.most
        block.resize(size)
        block.writable = writable
        return block
