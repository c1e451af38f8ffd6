"""Conversion of integers and columns from callers. Every type that `operator.index` accepts is allowed, except bool."""

import reprlib
from array import array
from collections.abc import Sequence
from operator import index

from chatiere.engine.core.errors import EngineError, Reason

MAX_U64 = 2**64 - 1

# CODES maps the size of a number in bytes to the type code for `array`, and LIMITS maps it to the largest number.
cdef dict CODES = {1: "B", 2: "H", 8: "Q"}
cdef dict LIMITS = {1: 2**8 - 1, 2: 2**16 - 1, 8: 2**64 - 1}
# The format codes of unsigned integers in buffers.
cdef frozenset UNSIGNED = frozenset("BHILQN")
# MAX_U64 as a C variable. A C variable is faster to read than a Python global.
cdef object MAX_NUMBER = MAX_U64


# Single integers

cpdef object as_integer(value):
    """Return the value as an int, or None if it is not an integer. Booleans are not integers."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


cpdef object integer_in(value, lowest, highest):
    """Return the value as an int, or None if it is not an integer from `lowest` to `highest`."""
    number = as_integer(value)
    return number if number is not None and lowest <= number <= highest else None


cpdef object require_integer(name, value):
    """Return the value as an int. Raises TypeError."""
    number = as_integer(value)
    if number is None:
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
    return number


def unsigned(name, value, bits):
    """Return a value as an unsigned int.

    Args:
        name: The name of the value, for error messages.
        value: The value.
        bits: The maximum number of bits of the value.

    Raises:
        TypeError: If the value is not an integer.
        ValueError: If the value is negative or has more bits.
    """
    number = require_integer(name, value)
    if not 0 <= number < 2**bits:
        raise ValueError(must_be(name, number, 0, 2**bits - 1))
    return number


cdef uint64_t read_u64(name, value) except? 0:
    # Return a number of a random stream as an integer. Raises EngineError: INVALID_SEED.
    number = as_integer(value)
    if number is None or number < 0 or number > MAX_NUMBER:
        raise EngineError(Reason.INVALID_SEED, must_be(name, value, 0, MAX_NUMBER), field=name)
    return number


cdef uint64_t read_number(name, value, uint64_t lowest, uint64_t highest) except? 0:
    # Return a parameter of a batch as an integer. Raises EngineError: INVALID_BATCH.
    number = integer_in(value, lowest, highest)
    if number is None:
        raise EngineError(Reason.INVALID_BATCH, must_be(name, value, lowest, highest), field=name)
    return number


def must_be(name, value, lowest, highest):
    """Return the error message for a value that is not an integer from `lowest` to `highest`."""
    if lowest == highest:
        return f"{name} must be the integer {lowest}, not {shown(value)}"
    last = f"2**{highest.bit_length()} - 1" if highest >= 2**31 - 1 else highest
    return f"{name} must be an integer from {lowest} to {last}, not {shown(value)}"


def shown(value):
    """Return a short text that represents a value in an error message."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if hasattr(value, "dtype") and getattr(value, "shape", ()):
        return f"{value.dtype} {tuple(value.shape)}"
    return reprlib.repr(value)


# Columns

def column_of(name, values, Py_ssize_t item_size, row=None):
    """Return a column of unsigned integers as a memoryview of bytes.

    The values are copied unless they already have the column's layout.

    Args:
        name: The name of the column, for error messages.
        values: The column's bytes (bytes, a bytearray or a memoryview of bytes), or its integers: an array of any
            integer dtype, a buffer of other numbers, or a sequence. Booleans are not accepted.
        item_size: The size of an integer in bytes.
        row: The length of a row if the column has two dimensions. In this case, `values` may have one or two
            dimensions. None means that the column has one dimension.

    Raises:
        EngineError: INVALID_BATCH.
    """
    cdef object view
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        # Either the value is not a buffer, or its dtype does not exist in the buffer protocol.
        return copied(name, values, item_size, row)
    if view.format == "B" and isinstance(values, (bytes, bytearray, memoryview)):
        return view if view.ndim == 1 and view.c_contiguous else memoryview(view.tobytes())
    if (
        view.itemsize == item_size
        and view.format in UNSIGNED
        and view.c_contiguous
        and (view.ndim == 1 or row is not None and view.ndim == 2 and view.shape[1] == row)
    ):
        return view.cast("B") if view.nbytes else memoryview(b"")
    return copied(name, values, item_size, row)


cdef object copied(name, values, Py_ssize_t item_size, row):
    # Return a copy of a column. The parameters are the same as for `column_of`.
    cdef object numbers = values.__array__() if hasattr(values, "__array__") else values
    if getattr(numbers, "shape", None) == ():
        refuse_column(name, shown(values), item_size, row)
    if hasattr(numbers, "dtype"):
        return copied_array(name, numbers, item_size, row)
    if isinstance(numbers, memoryview):
        try:
            numbers = numbers.tolist()
        except NotImplementedError:
            refuse_column(name, f"a memoryview of format {numbers.format!r}", item_size, row)
    elif isinstance(numbers, str) or not isinstance(numbers, (Sequence, array)):
        refuse_column(name, shown(values), item_size, row)
    if row is not None and len(numbers) and as_integer(numbers[0]) is None:
        for place, each in enumerate(numbers):
            if not hasattr(each, "__len__") or len(each) != row:
                refuse_column(f"{name}[{place}]", shown(each), item_size, row, f"({row},)")
        numbers = [number for each in numbers for number in each]
    for each in numbers:
        if isinstance(each, bool):
            refuse_first(name, numbers, item_size)
    try:
        return memoryview(array(CODES[item_size], numbers)).cast("B")
    except (TypeError, OverflowError):
        refuse_first(name, numbers, item_size)


cdef object copied_array(name, numbers, Py_ssize_t item_size, row):
    # Return a copy of an array as a column. Only methods of the array are used, because NumPy is not imported here.
    if not numbers.size:
        return memoryview(b"")
    if numbers.ndim != 1 and (row is None or numbers.ndim != 2 or numbers.shape[1] != row):
        refuse_column(name, shown(numbers), item_size, row)
    if numbers.dtype.kind == "O":
        # The array has integers that are too large for NumPy's types, or other objects.
        return copied(name, numbers.ravel().tolist(), item_size, None)
    if numbers.dtype.kind not in "iu":
        refuse_column(name, shown(numbers), item_size, row)
    if numbers.min() < 0 or numbers.max() > LIMITS[item_size]:
        refuse_first(name, numbers.ravel().tolist(), item_size)
    return memoryview(numbers.astype(f"<u{item_size}").tobytes())


cdef object refuse_column(name, found, Py_ssize_t item_size, row, shape=None):
    if shape is None:
        shape = "(n,)" if row is None else f"(n, {row})"
    raise EngineError(
        Reason.INVALID_BATCH,
        f"{name} must be uint{8 * item_size} {shape}, or integers that fit in it, not {found}",
        field=name,
    )


cdef object refuse_first(name, numbers, Py_ssize_t item_size):
    # Raise an error that names the first number that is out of range.
    cdef object limit = LIMITS[item_size]
    place, wrong = next((i, each) for i, each in enumerate(numbers) if integer_in(each, 0, limit) is None)
    raise EngineError(Reason.INVALID_BATCH, must_be(f"{name}[{place}]", wrong, 0, limit), field=name)
