"""Memory for the columns of batches: reusable memory, and memory that two processes share.

A block of memory is used again once no other object refers to it. Allocating large columns at each step costs more than
making the moves, because the operating system maps and clears the columns' pages each time.

Processes that share memory exchange packets of numbers, which `chatiere.service.ports.fast.shared` describes.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.object cimport PyObject
cimport cython
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* found)

cdef extern from *:
    """
    #include <errno.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #include <sys/socket.h>
    #define FLAGS(waits) (MSG_NOSIGNAL | ((waits) ? 0 : MSG_DONTWAIT))
    #else
    /* Only clients and services on Linux share memory. */
    #define FLAGS(waits) 0
    #define send(file, data, size, flags) (errno = ENOSYS, -1)
    #define recv(file, data, size, flags) (errno = ENOSYS, -1)
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
    int FLAGS(bint waits) nogil
    Py_ssize_t send(int file, const void* data, size_t size, int flags) nogil
    Py_ssize_t recv(int file, void* data, size_t size, int flags) nogil

cdef enum:
    # XLA, on which JAX runs, copies arrays that do not begin at a multiple of this number of bytes.
    ALIGNMENT = 64
    HUGE_PAGE = 1 << 21
    # The number of messages in an Area, a power of 2, and the maximum number of numbers in a packet.
    IN_FLIGHT = 2
    MOST = 12


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


@cython.final
cdef class Area:
    """Memory for messages, in two halves. Message i is in half i % 2.

    Attributes:
        memory: The buffer with the memory.
        half: The size of one half in bytes.
    """

    cdef Py_buffer buffer
    cdef readonly Py_ssize_t half

    def __cinit__(self, memory):
        PyObject_GetBuffer(memory, &self.buffer, PyBUF_SIMPLE)
        self.half = self.buffer.len // IN_FLIGHT

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)

    def __len__(self):
        return self.buffer.len

    @property
    def memory(self):
        return <object> self.buffer.obj

    cpdef Py_ssize_t put(self, Py_ssize_t number, pieces, Py_ssize_t alignment) except -1:
        """Write the pieces of message `number`. Each piece begins at a multiple of `alignment`, a power of 2.

        Returns:
            The size of the message. If the size exceeds `half`, or if the memory is read-only, the message was not
            fully written.
        """
        cdef Py_ssize_t half = 0 if self.buffer.readonly else self.half, at = 0
        cdef char* begin = <char*> self.buffer.buf + (number & IN_FLIGHT - 1) * self.half
        cdef Py_buffer piece
        for each in pieces:
            PyObject_GetBuffer(each, &piece, PyBUF_SIMPLE)
            if at + piece.len <= half:
                memcpy(begin + at, piece.buf, piece.len)
            at = at + piece.len + alignment - 1 & -alignment
            PyBuffer_Release(&piece)
        return at

    cpdef list take(self, Py_ssize_t number, sizes, Py_ssize_t alignment):
        """Return copies of the pieces of message `number`, given their sizes. For the other arguments see `put`.

        Raises:
            ValueError: If the message is larger than `half`.
        """
        cdef const char* begin = <const char*> self.buffer.buf + (number & IN_FLIGHT - 1) * self.half
        cdef Py_ssize_t at = 0
        cdef uint64_t size
        cdef list found = []
        for each in sizes:
            size = each
            if at > self.half or size > <uint64_t> (self.half - at):
                raise ValueError("the message is larger than its memory")
            found.append(PyBytes_FromStringAndSize(begin + at, size))
            at = at + <Py_ssize_t> size + alignment - 1 & -alignment
        return found


cpdef send_packet(int socket, numbers, bint waits):
    """Send a packet.

    Args:
        socket: The descriptor of a socket of type SOCK_SEQPACKET.
        numbers: At most 12 numbers below 2**64.
        waits: True to wait until the packet can be sent.

    Raises:
        OSError: If the packet was not sent.
    """
    cdef uint64_t[MOST] packet
    cdef size_t count = 0
    cdef Py_ssize_t sent = -1
    for each in numbers:
        if count == MOST:
            raise ValueError("too many numbers")
        packet[count] = each
        count += 1
    while sent < 0:
        with nogil:
            sent = send(socket, packet, count * sizeof(uint64_t), FLAGS(waits))
        if sent < 0:
            check_interrupted()


cpdef tuple receive_packet(int socket, Py_ssize_t count, bint waits):
    """Receive a packet.

    Args:
        socket: See `send_packet`.
        count: The number of numbers in the packet, at most 12.
        waits: True to wait for a packet, but not longer than the socket's timeout (SO_RCVTIMEO).

    Returns:
        The numbers. An empty tuple means that the other end has closed the connection, and None that no packet has
            arrived.

    Raises:
        OSError: If receiving failed.
        ValueError: If the packet does not have `count` numbers.
    """
    cdef uint64_t[MOST + 1] packet
    cdef Py_ssize_t received = -1, i
    while received < 0:
        with nogil:
            received = recv(socket, packet, (max(0, min(count, MOST)) + 1) * sizeof(uint64_t), FLAGS(waits))
        if received < 0:
            if errno == EAGAIN:
                return None
            check_interrupted()
    if received == 0:
        return ()
    if received != <Py_ssize_t> (count * sizeof(uint64_t)):
        raise ValueError("the packet has an unexpected size")
    return tuple([packet[i] for i in range(count)])


cdef int check_interrupted() except -1:
    # Handle signals if the last system call was interrupted. Otherwise raise OSError.
    if errno != EINTR:
        PyErr_SetFromErrno(OSError)
    PyErr_CheckSignals()
    return 0
