"""Chat perché: resampling of the hidden information (rules file: Public and hidden).

The only hidden information is the values of the other seat's tokens, except tokens at broken branches. The load of a
branch is the largest number of animals that the branch has held. The solidity of the branch is at least the load. The
tokens that are possible at a branch with a higher load are therefore also possible at a branch with a lower load.
Branches get tokens in descending order of their loads. The number of choices for each branch then does not depend on
earlier choices, so uniform choices make all assignments equally likely.
"""

from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.operations cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from .state cimport BRANCHES, MAX_SOLIDITY, TOKENS, State, at_branch, branch_spaces, first_space, has_branch


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef uint64_t shown = state.placed[1 - seat] & state.broken
    cdef uint64_t hidden = state.placed[1 - seat] & ~state.broken
    # The values of the tokens that the seat has not seen (in hand and at branches), in descending order.
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
