"""Momistigri: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Chosen by
hand and compared in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 255,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "pair": 12,  # a pair is discarded
    "pair_value": 1,  # for every two points of its values
    "effect_1": 2,  # the pair is one of 1
    "effect_2": 2,  # the pair is one of 2
    "effect_3": 2,  # the pair is one of 3
    "effect_4": 2,  # the pair is one of 4
    "effect_5": 2,  # the pair is one of 5
    "effect_6": 2,  # the pair is one of 6
    "effect_7": 2,  # the pair is one of 7
    "effect_8": 2,  # the pair is one of 8
    "main": 6,  # its main effect, not the reversal
    "given_value": 2,  # for each point of a card named, given or swapped out
    "given_alone": 4,  # that forms no pair in the hand
    "handed_value": 2,  # for each point of a card handed out
    "taken_value": -2,  # for each point of a card swapped in
    "taken_partners": 4,  # it forms a pair in the hand
}
