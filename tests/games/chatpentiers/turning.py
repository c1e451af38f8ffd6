"""The fields with seats in Chatpentiers' messages. The rules distinguish only the first seat of a round."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "active_seat", "leader", "ranking"}),
    one_each=frozenset({"seats"}),
    # Rules: "Decisions of the engine", at the end of a round.
    in_seat_order=frozenset({"ROUND_SCORED"}),
)
