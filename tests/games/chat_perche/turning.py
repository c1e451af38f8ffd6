"""The fields with seats in Chat perché's messages. The rules distinguish only the first seat.

Ginger's start is at the left and black's at the right, but both touch only the first space of the trunk (rules:
"Components and setup"). The tree therefore looks the same from both sides.
"""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "token_owner", "cat_owner"}),
    one_each=frozenset({"seats"}),
    names=("ginger", "black"),
)
