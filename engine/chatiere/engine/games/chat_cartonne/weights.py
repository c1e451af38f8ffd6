"""Chat Cartonne: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Chosen by
hand and compared in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 4,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "draw": 20,  # a card is drawn
    "sleep": 0,  # a cat is laid asleep
    "joint": 6,  # a carton forms a joint
    "own": 4,  # it joins a box with an own cat
    "others": 0,  # it joins one with a cat of others
    "own_toys": 6,  # for each toy that it brings an own box
    "own_sprayers": -10,  # for each sprayer
    "others_toys": -4,  # for each toy that it brings a box of others alone
    "others_sprayers": 6,  # for each sprayer
    "cat": 4,  # a cat follows
    "cat_points": 4,  # for each point of its box
    "crowd": 2,  # for each own cat that lies in it
    "princess": 4,  # the Princess takes the place of another seat's cat
    "own_princess": -12,  # of an own one
    "toy": 8,  # a toy card lies in a box with an own cat
}
