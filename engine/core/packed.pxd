# Packed states: a header and the game's body, and the checks of both.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.game cimport (
    CHANCE,
    HEADER_NOT_ZERO,
    OK,
    OTHER_GAME,
    OTHER_RULES_VERSION,
    SAMPLED_CHANCE_IS_PENDING,
    STREAM_NOT_ZERO,
    Operations,
)

ctypedef struct Header:
    # The first bytes of every packed state, little-endian; the game's body follows.
    uint8_t game
    uint8_t rules_version
    uint8_t sampled  # 1: chance is sampled from the stream below; 0: chance is explicit and the rest is 0
    uint8_t zero[5]
    uint64_t seed
    uint64_t game_number
    uint64_t drawn


cdef inline int check_header(const Operations* ops, const Header* header) noexcept nogil:
    # OK, or the fault of a header.
    cdef int i
    if header.game != ops.number:
        return OTHER_GAME
    if header.rules_version != ops.rules_version:
        return OTHER_RULES_VERSION
    if header.sampled > 1:
        return HEADER_NOT_ZERO
    for i in range(5):
        if header.zero[i]:
            return HEADER_NOT_ZERO
    if header.sampled == 0 and (header.seed or header.game_number or header.drawn):
        return STREAM_NOT_ZERO
    return OK


cdef inline int check_body(const Operations* ops, const void* body, bint sampled) noexcept nogil:
    # OK, or the fault of an untrusted body.
    cdef int fault = ops.check(body)
    if fault == OK and sampled and ops.actor(body) == CHANCE:
        return SAMPLED_CHANCE_IS_PENDING
    return fault
