"""The fields with seats in Momistigri's messages. The rules distinguish only the first seat of a round."""

from ..turning import Seats

SEATS = Seats(
    named=frozenset({"seat", "first_seat", "round_first_seat", "active_seat", "receiver", "drawn_from", "other_seat"}),
    one_each=frozenset({"seats"}),
    ascending=frozenset({"knowledge"}),
    # Rules: "End of a round". All seats show their hands at the same time.
    in_seat_order=frozenset({"HAND_SHOWN", "PENALTY_TAKEN"}),
)
