"""Chat perché: public and hidden. Resampling.

Only the values of the other seat's tokens are hidden, but for those at broken branches. A branch that has held n animals
has at least solidity n: the tokens that can lie beside a branch that has held more are a part of those that can lie
beside one that has held less. So giving the branches their tokens one after the other, the one that has held most first,
leaves each branch as many to choose from whatever was chosen before: equal chances at each branch make all spreads
equally likely.
"""

from libc.stdint cimport uint8_t

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.games.chat_perche.state cimport BRANCHES, LARGEST_SOLIDITY, TOKENS, State, is_broken


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef int other = 1 - seat
    # The values of the tokens that the seat has not seen, in hand and at branches: the largest first.
    cdef uint8_t unseen[TOKENS]
    cdef int tokens = 0, value, branch, load, fitting, chosen, i, shown
    for value in range(LARGEST_SOLIDITY, 0, -1):
        shown = 0
        for branch in range(BRANCHES):
            if (state.placed[other] & state.broken) >> branch & 1:
                shown += state.value[branch] == value
        for i in range(state.solidity[value - 1] - shown):
            unseen[tokens] = value
            tokens += 1
    for load in range(LARGEST_SOLIDITY, -1, -1):
        for branch in range(BRANCHES):
            if not state.placed[other] >> branch & 1 or is_broken(state, branch) or state.load[branch] != load:
                continue
            fitting = 0
            while fitting < tokens and unseen[fitting] >= load:
                fitting += 1
            chosen = number_below(stream, fitting)
            state.value[branch] = unseen[chosen]
            tokens -= 1
            for i in range(chosen, tokens):
                unseen[i] = unseen[i + 1]
    return OK
