"""Arrays that other libraries can use without a copy."""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# The alignment of arrays, in bytes. XLA, the compiler behind JAX, copies arrays with a smaller alignment.
ALIGNMENT = 64

_Element = TypeVar("_Element", bound=np.generic)


def aligned_empty(shape: tuple[int, ...], dtype: type[_Element]) -> NDArray[_Element]:
    """Return a new, uninitialized array in C order whose address is a multiple of 64 bytes."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    return memory[first : first + size].view(dtype).reshape(shape)
