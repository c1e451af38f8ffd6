"""Chat perché: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Found by
CMA-ES in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 4,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "enters": 39,  # an own cat enters the tree; the same, negative, for the other seat's
    "breaks": 31,  # for each cat that a break brings the other seat to lose more than the own one
    "full": -19,  # for each cat by which the own ones lead on a branch that the next animal breaks
    "nearly_full": -5,  # the same, if the one after that does
    "trunk": -14,  # an own cat ends on the trunk; the same, negative, for the other seat's
    "stop": -45,  # no cat moves
}
