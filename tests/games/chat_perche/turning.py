"""Seats in the messages of Chat perché. By the rules, seats differ only in who begins.

Ginger's start lies at the left and black's at the right, but both touch the trunk's first space and no other (rules:
"Components and setup"), so the tree is the same seen from either.
"""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "token_owner", "cat_owner"}),
    one_each=frozenset({"seats"}),
    names=("ginger", "black"),
)
