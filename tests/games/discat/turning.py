"""Seats in the messages of Discat. In the rules, the first seat is the only difference between seats."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "creator", "group_winner"}),
    one_each=frozenset({"seats"}),
)
