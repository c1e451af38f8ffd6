# Packed states: a header and the game's body, and the checks of both.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from chatiere.engine.core.operations cimport (
    BAD_FLAG,
    CHANCE,
    MAX_SEATS,
    OK,
    OTHER_GAME,
    OTHER_PACKED_VERSION,
    OTHER_RULES_VERSION,
    PLY_TOO_HIGH,
    SAMPLED_CHANCE_IS_PENDING,
    STREAM_NOT_ZERO,
    TWO_RULES_VERSIONS,
    Operations,
    is_played,
    rules_version_of,
)

ctypedef struct Header:
    # The first bytes of every packed state, little-endian. The game's body follows.
    uint8_t game
    uint8_t rules_version
    uint8_t sampled  # 1 if chance is sampled from the stream below; 0 if chance is explicit and the stream is 0
    uint8_t packed_version  # the version of the form of the body
    uint32_t ply  # the number of decisions made so far
    # The stream.
    uint64_t seed
    uint64_t game_number
    uint64_t drawn

cdef enum:
    GAMES = 256  # one more than the largest number of a game
    COUNTS = MAX_SEATS + 1  # one more than the largest number of players

# The maximum number of decisions in a game with any options, indexed by the game's number and the number of players.
cdef uint32_t MAX_PLIES[GAMES][COUNTS]
cdef void note_max_plies(const Operations* ops) noexcept


cdef inline uint32_t max_ply(const Operations* ops, const void* body) noexcept nogil:
    return MAX_PLIES[ops.number][(<const uint8_t*> body)[0]]


cdef inline void count_plies(const Operations* ops, const void* body, uint32_t* ply, uint64_t decisions) noexcept nogil:
    # Increase a ply up to the maximum. No game exceeds the maximum, but the ply in a state from outside may be too
    # high.
    cdef uint32_t left = max_ply(ops, body) - ply[0]
    ply[0] += <uint32_t> decisions if decisions < left else left


cdef inline int check_header(const Operations* ops, const Header* header) noexcept nogil:
    # Return OK, or the fault of a header.
    if header.game != ops.number:
        return OTHER_GAME
    if not is_played(ops, header.rules_version):
        return OTHER_RULES_VERSION
    if header.packed_version != ops.packed_version:
        return OTHER_PACKED_VERSION
    if header.sampled > 1:
        return BAD_FLAG
    if header.sampled == 0 and (header.seed or header.game_number or header.drawn):
        return STREAM_NOT_ZERO
    return OK


cdef inline int check_body(const Operations* ops, const void* body, bint sampled) noexcept nogil:
    # Return OK, or the fault of an untrusted body. The kernel must play the body's version of the rules.
    cdef int fault = ops.check(body)
    if fault == OK and sampled and ops.actor(body) == CHANCE:
        return SAMPLED_CHANCE_IS_PENDING
    return fault


cdef inline int check_packed(const Operations* ops, const Header* header, const void* body) noexcept nogil:
    # Return OK, or the fault of an untrusted packed state.
    cdef int fault = check_header(ops, header)
    if fault == OK and rules_version_of(body) != header.rules_version:
        fault = TWO_RULES_VERSIONS
    if fault == OK:
        fault = check_body(ops, body, header.sampled)
    if fault == OK and header.ply > max_ply(ops, body):
        fault = PLY_TOO_HIGH
    return fault
