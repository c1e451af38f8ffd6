"""The fields with seats in Discat's messages. The rules distinguish only the first seat."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "creator", "group_winner"}),
    one_each=frozenset({"seats"}),
)
