"""The fields with seats in Chat Cartonne's messages. The rules distinguish only the first seat."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset(
        {"seat", "first_seat", "active_seat", "princess_drawn_by", "sleeping_cat", "cat", "cat_owner", "majority"}
    ),
    one_each=frozenset({"seats", "by_seat"}),
    ascending=frozenset({"majority"}),
)
