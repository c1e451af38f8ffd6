# The loops that process a batch of n packed states of one game, and a way to cancel these loops.
from libc.stddef cimport size_t
from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from chatiere.engine.core.cancellation cimport Control
from chatiere.engine.core.masks cimport MaskRows
from chatiere.engine.core.operations cimport Operations

cdef enum LoopEnd:
    # The result of a loop over a batch.
    DONE
    CANCELLED
    NO_MEMORY
    TOO_LARGE


ctypedef struct BatchLoop:
    # The batch over which a loop iterates.
    const Operations* ops
    int players
    int rules_version  # the version for games that the loop begins
    Py_ssize_t count
    Py_ssize_t packed_size
    bint sound  # True if the states need no check, because the table made them
    Control* control


ctypedef struct NewGames:
    # The options and streams of new games.
    const void* options
    bint sampled
    const uint64_t* seeds
    const uint64_t* game_numbers


ctypedef struct Restarts:
    # How a new game replaces each ended game. The new game has the options `options`, and the game number of the ended
    # game plus `stride`.
    const void* options
    uint64_t stride


ctypedef struct Described:
    # The columns of PositionColumns to fill. A column that was not requested is NULL.
    uint8_t* states
    int8_t* actors
    uint8_t* final
    uint32_t* legal_offsets
    int32_t* totals
    float* returns
    bint all_totals  # True to compute the totals of all games, False for ended games only
    uint8_t* observations
    MaskRows masks
    # The columns that are joined from the results of the parts.
    uint16_t* legal_ids
    uint8_t* final_observations


ctypedef struct Part:
    # The items `first` … `last` - 1 of a batch. One thread processes them. The columns belong to the whole batch.
    uint64_t taken  # not 0 if a thread has taken the part (Shift)
    const BatchLoop* batch
    const NewGames* new_games
    const Restarts* restarts  # NULL if no games begin in place of ended games
    const uint8_t* before
    const uint16_t* moves
    uint8_t* faults
    const Described* described
    Py_ssize_t first
    Py_ssize_t last
    # The results of the part.
    LoopEnd end
    Py_ssize_t ended  # the number of games that ended
    size_t largest_final_observations  # the maximum size of their final observations, in bytes
    uint8_t* final_observations  # the final observations of replaced games, if requested; allocated by the thread
    # The legal ids, in memory that grows as needed.
    uint16_t* legal_ids
    size_t capacity
    size_t legal  # the number of legal ids
    bint chance  # True if some item is at a chance event
    # The sums of `ended` and `legal` of the parts before this part.
    Py_ssize_t ended_before
    size_t legal_before
    # Threads write to neighbouring parts at the same time, which is slow within one line of the processor's cache.
    uint8_t padding[64]


# Begin games, or make moves, and fill the columns that describe the positions.
cdef void begin_part(void* work) noexcept nogil
cdef void move_part(void* work) noexcept nogil
cdef void weigh_all(
    const BatchLoop* batch, uint8_t* states, const int8_t* actors, const uint32_t* legal_offsets, uint32_t* weights
) noexcept nogil
cdef LoopEnd playout_all(
    const BatchLoop* batch,
    const uint8_t* states,
    uint32_t count,
    uint64_t seed,
    uint64_t first_game_number,
    uint8_t* faults,
    double* mean_returns,
    uint32_t* wins,
    uint64_t* moves,
) noexcept nogil
# Evaluate the states of a part that contains the whole batch.
cdef LoopEnd list_decisions(Part* part) noexcept nogil
cdef LoopEnd evaluate_all(
    const Part* part,
    uint32_t worlds,
    uint32_t playouts,
    uint64_t seed,
    uint64_t first_game_number,
    double* mean_returns,
    uint32_t* counts,
) noexcept nogil
cdef LoopEnd score_all(
    const BatchLoop* batch,
    const uint8_t* states,
    uint8_t* faults,
    int32_t* totals,
    uint8_t* final,
    uint8_t* ranks,
    float* returns,
) noexcept nogil
cdef LoopEnd resample_all(
    const BatchLoop* batch,
    const uint8_t* before,
    const uint8_t* seats,
    const uint64_t* seeds,
    const uint64_t* game_numbers,
    uint8_t* faults,
    uint8_t* states,
) noexcept nogil
cdef LoopEnd observe_all(
    const BatchLoop* batch, const uint8_t* states, const uint8_t* seats, uint8_t* faults, uint8_t* observations
) noexcept nogil
