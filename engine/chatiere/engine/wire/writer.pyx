"""Writing messages in protobuf's wire format, without an object for each message and number."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from chatiere.engine.wire.reader cimport BYTES, MAX_VARINT_SIZE, VARINT


cdef class Writer:
    """A writer that writes a message field by field."""

    def __dealloc__(self):
        PyMem_Free(self.data)

    def __bytes__(self):
        """Return the bytes written so far."""
        return content(self)

    cdef int reserve(self, size_t more) except -1:
        cdef void* data
        # There is always spare capacity after a call, so `data` is not NULL.
        if self.capacity - self.size <= more:
            data = PyMem_Realloc(self.data, 2 * self.capacity + more + 256)
            if data == NULL:
                raise MemoryError()  # uncovered: memory does not run out in tests
            self.data = <uint8_t*> data
            self.capacity = 2 * self.capacity + more + 256
        return 0

    cpdef int number(self, int field, uint64_t value) except -1:
        """Write a number or a bool. 0 is omitted, because an absent field means 0."""
        return self.present(field, value) if value else 0

    cpdef int present(self, int field, uint64_t value) except -1:
        """Write a number into an optional field or a oneof, even if it is 0."""
        cdef uint8_t* at
        self.reserve(2 * MAX_VARINT_SIZE)
        at = put_varint(self.data + self.size, field << 3 | VARINT)
        self.size = put_varint(at, value) - self.data
        return 0

    cpdef size_t begin(self, int field) except 0:
        """Begin a message, list or text. All bytes written until `end` belong to it.

        Args:
            field: The number of the field.

        Returns:
            The argument for `end`.
        """
        self.reserve(MAX_VARINT_SIZE)
        # Reserve one byte for the size.
        self.size = put_varint(self.data + self.size, field << 3 | BYTES) - self.data + 1
        return self.size

    cpdef int end(self, size_t begun) except -1:
        """End the field for which `begin` returned `begun`."""
        cdef size_t size = self.size - begun, length
        cdef uint8_t varint[MAX_VARINT_SIZE]
        # Most fields are small, so their size fits into the byte that `begin` reserved.
        if size < 0x80:
            self.data[begun - 1] = <uint8_t> size
            return 0
        length = put_varint(varint, size) - varint
        self.reserve(length)
        memmove(self.data + begun + length - 1, self.data + begun, size)
        memcpy(self.data + begun - 1, varint, length)
        self.size += length - 1
        return 0

    cpdef int numbers(self, int field, numbers) except -1:
        """Write a list of numbers. Any iterable is accepted."""
        cdef uint64_t number
        cdef size_t before = self.size, begun = self.begin(field)
        for number in numbers:
            self.reserve(MAX_VARINT_SIZE)
            self.size = put_varint(self.data + self.size, number) - self.data
        if self.size > begun:
            return self.end(begun)
        # Omit an empty list.
        self.size = before
        return 0

    cdef int signed(self, int number) except -1:
        # Write a number of a list of sint32. The caller calls `begin` and `end` for the list.
        self.reserve(MAX_VARINT_SIZE)
        self.size = put_varint(self.data + self.size, (<uint32_t> number << 1) ^ <uint32_t> (number >> 31)) - self.data
        return 0

    cdef int byte_numbers(self, int field, const uint8_t* numbers, int count) except -1:
        # Write a list of numbers below 256.
        return put_small_numbers(self, field, numbers, count)

    cdef int short_numbers(self, int field, const uint16_t* numbers, int count) except -1:
        # Write a list of numbers below 65536.
        return put_small_numbers(self, field, numbers, count)

    cpdef int text(self, int field, str text) except -1:
        """Write a string. An empty string is omitted, because an absent field means an empty string."""
        cdef size_t begun
        if text:
            begun = self.begin(field)
            self.string(text)
            self.end(begun)
        return 0

    cpdef int fields(self, bytes data) except -1:
        """Write fields that are already in wire format."""
        cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
        self.reserve(size)
        memcpy(self.data + self.size, PyBytes_AS_STRING(data), size)
        self.size += size
        return 0

    cpdef int string(self, str text) except -1:
        """Write a piece of text."""
        cdef Py_ssize_t size
        cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
        self.reserve(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef int decimal(self, int number) except -1:
        # Write a number, 0 or more, as a piece of text.
        cdef uint8_t digits[MAX_VARINT_SIZE]
        cdef int count = 0
        while True:
            digits[count] = 48 + number % 10
            count += 1
            number //= 10
            if number == 0:
                break
        self.reserve(count)
        while count:
            count -= 1
            self.data[self.size] = digits[count]
            self.size += 1
        return 0

    cdef int characters(self, const char* begin, const char* end) except -1:
        # Write a piece of text: the UTF-8 from `begin` up to, but not including, `end`.
        self.reserve(end - begin)
        memcpy(self.data + self.size, begin, end - begin)
        self.size += end - begin
        return 0


ctypedef fused small_number:
    uint8_t
    uint16_t


cdef int put_small_numbers(Writer out, int field, const small_number* numbers, int count) except -1:
    cdef size_t begun
    cdef int i
    if count == 0:
        return 0
    begun = out.begin(field)
    # A varint of three bytes has 21 bits. This is sufficient for each number.
    out.reserve(3 * count)
    for i in range(count):
        out.size = put_varint(out.data + out.size, numbers[i]) - out.data
    return out.end(begun)


cdef bytes content(Writer out):
    return PyBytes_FromStringAndSize(<const char*> out.data, out.size)


def fill(message, put, *what):
    """Fill a message object with a put function, for example `fill(DiscatState(), codec.put_state, position)`."""
    # Make the message present even if it has no fields.
    message.SetInParent()
    message.MergeFromString(written(put, *what))
    return message


def written(put, *what):
    """Return the message that a put function writes, in wire format."""
    cdef Writer out = Writer()
    put(out, *what)
    return content(out)


def written_in(int field, put, *what):
    """Return a message whose single field contains the message that a put function writes."""
    cdef Writer out = Writer()
    cdef size_t begun = out.begin(field)
    put(out, *what)
    out.end(begun)
    return content(out)


def written_text(put, *what):
    """Return the text that a put function writes."""
    return written(put, *what).decode()
