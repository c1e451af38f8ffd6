"""Seats in the messages of Momistigri. By its rules none differs from another but by who is first in a round."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "receiver", "drawn_from", "other_seat"}),
    one_each=frozenset({"seats"}),
    ascending=frozenset({"knowledge"}),
    # Rules: "End of a round". All seats lay their hands open at once.
    told_in_seat_order=frozenset({"HAND_SHOWN", "PENALTY_TAKEN"}),
)
