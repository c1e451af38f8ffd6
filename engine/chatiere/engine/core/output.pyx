"""Callers' arrays into which results are written. Their dtype, shape and order are checked, but not converted."""

from libc.stdint cimport uint8_t

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import shown

# The buffer format of each dtype.
cdef dict FORMATS = {"bool": "?", "uint8": "B", "float16": "e", "float32": "f"}


cdef object writable_rows(name, array, Py_ssize_t rows, forms):
    # Check an array of `rows` rows. Returns its bytes as a writable memoryview, and its form. `forms` has the possible
    # forms. A form is a dtype and the length of a row. Raises EngineError: INVALID_BATCH.
    cdef object view
    try:
        view = memoryview(array)
    except TypeError:
        view = None
    for form in forms if view is not None else ():
        if view.ndim == 2 and view.shape == (rows, form[1]) and view.format == FORMATS[form[0]]:
            break
    else:
        asked = " or ".join(f"{dtype} ({rows}, {length})" for dtype, length in forms)
        raise EngineError(Reason.INVALID_BATCH, f"{name} must be {asked}, not {shown(array)}", field=name)
    if view.readonly or not view.c_contiguous:
        what = "writable" if view.readonly else "in C order"
        raise EngineError(Reason.INVALID_BATCH, f"{name} must be {what}", field=name)
    return view.cast("B") if rows else memoryview(b""), form


cdef object writable_masks(array, Py_ssize_t rows, Py_ssize_t num_actions, MaskRows* masks):
    # Make `masks` refer to an array for masks of legal actions. Returns a memoryview. `masks` is valid during the
    # lifetime of this memoryview.
    cdef Py_ssize_t bytes_of_bits = (num_actions + 7) // 8
    cdef uint8_t[::1] data
    view, (_, length) = writable_rows(
        "mask", array, rows, (("bool", num_actions), ("uint8", num_actions), ("uint8", bytes_of_bits))
    )
    masks.row_size = length
    masks.are_bits = length == bytes_of_bits
    if rows:
        data = view
        masks.rows = &data[0]
    return view
