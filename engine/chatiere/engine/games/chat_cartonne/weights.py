"""Chat Cartonne: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Found by
CMA-ES in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 4,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "draw": 19,  # a card is drawn
    "sleep": -6,  # a cat is laid asleep
    "joint": 28,  # a carton forms a joint
    "own": 15,  # it joins a box with an own cat
    "others": -6,  # it joins one with a cat of others
    "own_toys": 10,  # for each toy that it brings an own box
    "own_sprayers": -2,  # for each sprayer
    "others_toys": 9,  # for each toy that it brings a box of others alone
    "others_sprayers": 0,  # for each sprayer
    "cat": 15,  # a cat follows
    "cat_points": 20,  # for each point of its box
    "crowd": 6,  # for each own cat that lies in it
    "princess": 8,  # the Princess takes the place of another seat's cat
    "own_princess": -5,  # of an own one
    "toy": 11,  # a toy card lies in a box with an own cat
}
