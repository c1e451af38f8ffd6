"""Chat perché: public and hidden. Resampling.

Only the values of the other seat's tokens are hidden, except those at broken branches. A branch that has held n animals
has at least solidity n, so the tokens that can lie beside a branch that has held more are a subset of those that can
lie beside one that has held less. The branches get their tokens one by one, in descending order of what they have
held: each then has the same number to choose from whatever was chosen before, so uniform choices make all spreads
equally likely.
"""

from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.games.chat_perche.state cimport (
    BRANCHES,
    MAX_SOLIDITY,
    TOKENS,
    State,
    at_branch,
    branch_spaces,
    first_space,
    has_branch,
)


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef uint64_t shown = state.placed[1 - seat] & state.broken
    cdef uint64_t hidden = state.placed[1 - seat] & ~state.broken
    # The values of the tokens that the seat has not seen, in hand and at branches, the largest first.
    cdef uint8_t unseen[TOKENS]
    cdef int tokens = 0, value, branch, load, copies, fitting, chosen, _copy, i
    for value in range(MAX_SOLIDITY, 0, -1):
        copies = state.solidity[value - 1]
        for branch in range(BRANCHES):
            copies -= has_branch(shown, branch) and at_branch(state.values, branch) == value
        for _copy in range(copies):
            unseen[tokens] = value
            tokens += 1
    for load in range(MAX_SOLIDITY, -1, -1):
        for branch in range(BRANCHES):
            if not has_branch(hidden, branch) or at_branch(state.loads, branch) != load:
                continue
            fitting = 0
            while fitting < tokens and unseen[fitting] >= load:
                fitting += 1
            chosen = number_below(stream, fitting)
            state.values &= ~branch_spaces(branch)
            state.values |= <uint64_t> unseen[chosen] << first_space(branch)
            tokens -= 1
            for i in range(chosen, tokens):
                unseen[i] = unseen[i + 1]
    return OK
