# The arguments of batches: columns, counts and limits.
from chatiere.engine.core.loops cimport LoopEnd

cdef bytes copy_of(name, values, Py_ssize_t item_size)
cdef bytes copy_for(name, values, Py_ssize_t item_size, Py_ssize_t count)
cdef bytes game_numbers_for(game_numbers, Py_ssize_t count)
cdef int require_seeds(game_numbers) except -1
cdef int check_size(Py_ssize_t size, max_bytes) except -1
cdef int check_playouts(asked, max_playouts) except -1
cdef Py_ssize_t check_count(name, Py_ssize_t count) except -1
cdef int require_done(LoopEnd end) except -1
