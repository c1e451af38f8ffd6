"""Seats in the messages of Discat. By the rules, seats differ only in which of them starts."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "creator", "group_winner"}),
    one_each=frozenset({"seats"}),
)
