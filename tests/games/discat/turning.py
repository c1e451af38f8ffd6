"""Seats in the messages of Discat. By its rules none differs from another but by who begins."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "creator", "group_winner"}),
    one_each=frozenset({"seats", "hands"}),
)
