"""Chatpentiers: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Found by
CMA-ES in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 255,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "led_value": -1,  # for every two points of the value of a card that is led
    "followed_value": 5,  # the same of one that follows the colour led
    "discarded_value": -2,  # the same of one that does not
    "gain": 8,  # for each point that a card taken brings the board
    "opens": -10,  # it is the first of its colour
    "opened_limit": 6,  # for each card that its zone may hold
    "zero_zone": -10,  # its zone is the zero zone
}
