# Callers' arrays into which results are written.
from chatiere.engine.core.masks cimport MaskRows

cdef object writable_rows(name, array, Py_ssize_t rows, forms)
cdef object writable_masks(array, Py_ssize_t rows, Py_ssize_t num_actions, MaskRows* masks)
