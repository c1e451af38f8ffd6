"""The arguments of batches: columns, counts and limits. The functions raise EngineError, which names the argument."""

from libc.stdint cimport uint64_t

from chatiere.engine.core.cancellation import Cancelled
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import MAX_U64, column_of

from chatiere.engine.core.integers cimport read_number
from chatiere.engine.core.loops cimport LoopEnd

# The maximum number of items in a batch. With this limit, the offsets of legal ids fit into 32 bits in every game.
MAX_ITEMS = 524_288
# The maximum number of playouts for a state or an action. With this limit, the counts fit into their column.
MAX_COUNT = 2**32 - 1


cdef bytes copy_of(name, values, Py_ssize_t item_size):
    # Return an aligned copy of a small column. No other thread can change the copy while it is read.
    return values if type(values) is bytes else bytes(column_of(name, values, item_size))


cdef bytes copy_for(name, values, Py_ssize_t item_size, Py_ssize_t count):
    # Return an aligned copy of a column. Raises EngineError: INVALID_BATCH, if the column does not have `count` items.
    cdef bytes copy = copy_of(name, values, item_size)
    if len(copy) != item_size * count:
        raise EngineError(
            Reason.INVALID_BATCH,
            f"{name} must be uint{8 * item_size} ({count},), {item_size * count} bytes, not {len(copy)} bytes",
            field=name,
            metadata={"expected_size": str(item_size * count), "size": str(len(copy))},
        )
    return copy


cdef bytes game_numbers_for(game_numbers, Py_ssize_t count):
    # Return the game numbers of `count` seeds as a column. If `game_numbers` is None, all are 0.
    if game_numbers is None:
        return bytes(count * sizeof(uint64_t))
    return copy_for("game_numbers", game_numbers, sizeof(uint64_t), count)


cdef int require_seeds(game_numbers) except -1:
    # Raises EngineError if game numbers are given without seeds.
    if game_numbers is not None:
        raise EngineError(Reason.INVALID_SEED, "game numbers need seeds", field="game_numbers")
    return 0


cdef int check_size(Py_ssize_t size, max_bytes) except -1:
    if max_bytes is not None and size > read_number("max_bytes", max_bytes, 0, MAX_U64):
        raise EngineError(
            Reason.BATCH_TOO_LARGE,
            f"the response would exceed {max_bytes} bytes: send fewer items or ask for fewer columns",
            metadata={"limit": str(max_bytes), "asked": str(size)},
        )
    return 0


cdef int check_playouts(asked, max_playouts) except -1:
    if max_playouts is not None and asked > read_number("max_playouts", max_playouts, 0, MAX_U64):
        raise EngineError(
            Reason.BATCH_TOO_LARGE,
            f"a batch has at most {max_playouts} playouts here, not {asked}: worlds × playouts for each legal action",
            field="playouts",
            metadata={"limit": str(max_playouts), "asked": str(asked)},
        )
    return 0


cdef Py_ssize_t check_count(name, Py_ssize_t count) except -1:
    if count > MAX_ITEMS:
        raise EngineError(Reason.INVALID_BATCH, f"a batch has 0 to {MAX_ITEMS} items, not {count}", field=name)
    return count


cdef int require_done(LoopEnd end) except -1:
    if end == LoopEnd.CANCELLED:
        raise Cancelled("the batch was cancelled")
    if end == LoopEnd.NO_MEMORY:
        raise MemoryError()  # uncovered: memory does not run out in tests
    return 0
