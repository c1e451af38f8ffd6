"""Chat perché: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Chosen by
hand and compared in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 4,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "enters": 12,  # an own cat enters the tree; the same, negative, for the other seat's
    "breaks": 12,  # for each cat that a break brings the other seat to lose more than the own one
    "full": -4,  # for each cat by which the own ones lead on a branch that the next animal breaks
    "nearly_full": -1,  # the same, if the one after that does
    "trunk": 2,  # an own cat ends on the trunk; the same, negative, for the other seat's
    "stop": -6,  # no cat moves
}
