"""Moves, sampled chance, playouts and perft for any game, using its operations."""

from libc.stdint cimport int16_t, uint8_t
from libc.string cimport memcpy

from chatiere.engine.core.operations cimport CHANCE, BODY_WORDS, MAX_LEGAL, MAX_OUTCOMES, OK, TERMINAL, debug_assert
from chatiere.engine.core.packed cimport count_plies
from chatiere.engine.core.stream cimport number_below

cdef enum:
    # The maximum difference between the best score and another score. The playout policy reduces larger differences to
    # this number.
    MAX_LEAD = 63
    # A policy with this number of decisions makes all decisions of a playout.
    ALL_DECISIONS = 255


cdef int make_move(
    const Operations* ops, void* body, Stream* stream, uint32_t* ply, int move, Events* events
) noexcept nogil:
    # Make a move: a dense id at a decision, or an outcome at a chance event. A decision increases the ply, unless `ply`
    # is NULL. With a stream (sampled chance), the game then continues to the next decision. `events` receives only the
    # events of the move.
    cdef int fault
    if ops.actor(body) == CHANCE:
        fault = ops.apply_outcome(body, move, events)
    else:
        fault = ops.apply(body, move, events)
        if fault == OK and ply != NULL:
            count_plies(ops, body, ply, 1)
    if fault == OK:
        debug_assert(ops.check(body) == OK)
        if stream != NULL:
            ops.settle(ops, body, stream)
    return fault


cdef void draw(const Operations* ops, void* body, Stream* stream, Events* events) noexcept nogil:
    # Resolve the pending chance event.
    cdef int fault = ops.apply_outcome(body, ops.sample_outcome(body, stream), events)
    debug_assert(fault == OK)
    debug_assert(ops.check(body) == OK)


cdef int settle(const Operations* ops, void* body, Stream* stream) noexcept nogil:
    # The operation `settle` for games that do not have a faster implementation.
    cdef int actor = ops.actor(body)
    while actor == CHANCE:
        draw(ops, body, stream, NULL)
        actor = ops.actor(body)
    return actor


cdef uint64_t playout(const Operations* ops, void* body, Stream* stream) noexcept nogil:
    # Play uniformly random legal actions to the end of the game. Returns the number of decisions.
    cdef uint16_t ids[MAX_LEGAL]
    cdef uint64_t decisions = 0
    cdef int action, fault
    while ops.settle(ops, body, stream) != TERMINAL:
        if ops.sample_action != NULL:
            action = ops.sample_action(body, stream)
        else:
            action = ids[number_below(stream, ops.legal_actions(body, ids))]
        fault = ops.apply(body, action, NULL)
        debug_assert(fault == OK)
        debug_assert(ops.check(body) == OK)
        decisions += 1
    return decisions


# For each score, 16 × 2 ** (score / 4), rounded between doublings. The table is filled once, at import.
cdef uint32_t LIKELIHOODS[MAX_LEAD + 1]


cdef void write_likelihoods() noexcept:
    cdef int score
    for score in range(MAX_LEAD + 1):
        LIKELIHOODS[score] = (0x1B171310 >> 8 * (score & 3) & 0xFF) << (score >> 2)


write_likelihoods()


cdef uint64_t weigh_actions(
    const Operations* ops, const void* body, const uint16_t* ids, int count, uint32_t* likelihoods
) noexcept nogil:
    # Compute the likelihoods of legal actions by the playout policy. All are above 0. Returns their sum.
    cdef int16_t scores[MAX_LEGAL]
    cdef uint64_t total = 0
    cdef int16_t best
    cdef int i
    ops.advise(body, ops.weights, ids, count, scores)
    best = scores[0]
    for i in range(1, count):
        best = scores[i] if scores[i] > best else best
    for i in range(count):
        likelihoods[i] = LIKELIHOODS[max(0, MAX_LEAD - best + scores[i])]
        total += likelihoods[i]
    return total


cdef int draw_action(
    const Operations* ops, const void* body, const uint16_t* ids, int count, Stream* stream
) noexcept nogil:
    # Draw one of the legal actions by the playout policy. If there is only one, no word of the stream is drawn.
    cdef uint32_t likelihoods[MAX_LEGAL]
    cdef uint64_t number
    cdef int i = 0
    if count == 1:
        return ids[0]
    number = number_below(stream, weigh_actions(ops, body, ids, count, likelihoods))
    while number >= likelihoods[i]:
        number -= likelihoods[i]
        i += 1
    return ids[i]


cdef uint64_t advised_playout(const Operations* ops, void* body, Stream* stream) noexcept nogil:
    # Play to the end of the game. The first decisions are made by the playout policy, the others as in `playout`.
    # Returns the number of decisions.
    cdef uint16_t ids[MAX_LEGAL]
    cdef uint64_t decisions = 0, advised = (<const uint8_t*> ops.weights)[0]
    cdef int fault
    while (decisions < advised or advised == ALL_DECISIONS) and ops.settle(ops, body, stream) != TERMINAL:
        fault = ops.apply(body, draw_action(ops, body, ids, ops.legal_actions(body, ids), stream), NULL)
        debug_assert(fault == OK)
        debug_assert(ops.check(body) == OK)
        decisions += 1
    return decisions + playout(ops, body, stream)


cdef uint64_t count_paths(const Operations* ops, const void* body, const Stream* stream, int depth) noexcept nogil:
    # Perft: return the number of sequences of `depth` moves. Each chance outcome counts as one move, regardless of its
    # weight. With a stream, chance is sampled, and only decisions count. A game that ends earlier counts as one
    # sequence.
    cdef uint64_t child[BODY_WORDS]
    cdef uint16_t moves[MAX_LEGAL]
    cdef uint32_t weights[MAX_OUTCOMES]
    cdef Stream child_stream
    cdef uint64_t paths = 0
    cdef int actor = ops.actor(body)
    cdef int count, i
    if depth == 0 or actor == TERMINAL:
        return 1
    if actor == CHANCE:
        count = ops.chance_outcomes(body, moves, weights)
    else:
        count = ops.legal_actions(body, moves)
        if depth == 1:
            return count
    for i in range(count):
        memcpy(child, body, ops.body_size)
        if stream != NULL:
            child_stream = stream[0]
        make_move(ops, child, &child_stream if stream != NULL else NULL, NULL, moves[i], NULL)
        paths += count_paths(ops, child, stream if stream == NULL else &child_stream, depth - 1)
    return paths
