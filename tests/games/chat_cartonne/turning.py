"""Seats in the messages of Chat Cartonne. In the rules, the first seat is the only difference between seats."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset(
        {"seat", "first_seat", "active_seat", "princess_drawn_by", "sleeping_cat", "cat", "cat_owner", "majority"}
    ),
    one_each=frozenset({"seats", "by_seat"}),
    ascending=frozenset({"majority"}),
)
