"""Seats in the messages of Chat Cartonne. By the rules, seats differ only in which of them starts."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset(
        {"seat", "first_seat", "active_seat", "princess_drawn_by", "sleeping_cat", "cat", "cat_owner", "majority"}
    ),
    one_each=frozenset({"seats", "by_seat"}),
    ascending=frozenset({"majority"}),
)
