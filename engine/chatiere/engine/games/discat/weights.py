"""Discat: the weights of the playout policy.

They are quarters of a doubling: of two actions whose scores differ by 4, one is twice as likely as the other. Chosen by
hand and compared in paired games (docs/bots.md); examples/tune_playouts.py looks for better ones.
"""

PLAYOUT_WEIGHTS = {
    "decisions": 4,  # that the policy makes at the beginning of a playout; those after them are uniform. 255: all
    "pair": 6,  # a group of two cards
    "triple": 12,  # of three
    "bonus_group": 24,  # of four
    "winning_group": 60,  # of five or six
    "partners": -3,  # for each other card of the hand that shares a digit with a card played alone
    "room": -1,  # for each eighth of the cards that the next top may be
    "blocks": 6,  # the next seat has no such card
    "exchange": 0,  # a card is exchanged
    "exchanged_partners": -4,  # for each other card of the hand that shares a digit with it
}
