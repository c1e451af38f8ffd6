"""Kinds of events in Chatpentiers, including the variants that the rules page distinguishes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from chatiere.engine import Position

from ..building import score_of, state_of, view_of
from ..script import Happening
from .reference import ZERO_ZONE

KINDS = (
    "first seat chosen",
    "second round",
    "third round",
    "card dealt",
    "extra card turned",
    "lead",
    "followed",
    "did not follow",
    "void shown",
    "trick in one colour",
    "trick in several colours",
    "trick in which no seat follows",
    *(f"{count} equal values off-colour" for count in ("two", "three", "four")),
    "own card taken",
    "another's card taken",
    "extra card taken",
    "first of a colour, into a section",
    "first of a colour, into the zero zone",
    "into a section with the colour",
    "into the zero zone with the colour",
    "section becomes perfect",
    "section exceeds its limit",
    "card discarded",
    "extra card discarded",
    "the leader stays",
    "another leader",
    *(f"round scored with {count} perfect" for count in range(5)),
    "round scored, the sum below 0",
    "round scored, the sum 0",
    "end",
    "tie broken by perfect sections",
    "shared",
)
EQUAL = {2: "two", 3: "three", 4: "four"}


def open_facts(state: Any) -> None:
    """Return None, because viewers know no other facts."""


def kinds_of(before: Position, happened: Sequence[Happening], after: Position) -> Iterator[str]:
    """Yield the kinds of events in a move."""
    if not happened:
        return
    view = view_of(before, None)
    for event in happened:
        match event.kind:
            case "FIRST_SEAT_CHOSEN":
                yield "first seat chosen"
            case "ROUND_BEGUN":
                yield "second round" if event.values[-1] == 2 else "third round"
            case "CARD_DEALT":
                yield "card dealt"
            case "EXTRA_CARD_TURNED":
                yield "extra card turned"
            case "CARD_PLAYED":
                led = view.plays[0].card // 12 if view.plays else None
                yield "lead" if led is None else "followed" if event.values[0] // 12 == led else "did not follow"
            case "VOID_SHOWN":
                yield "void shown"
            case "TRICK_RANKED":
                yield from kinds_of_trick(view_of(after, None))
            case "CARD_TAKEN":
                yield from kinds_of_taking(view, event)
            case "CARD_DISCARDED":
                extra = view.HasField("extra_card") and view.extra_card == event.values[0]
                yield "extra card discarded" if extra else "card discarded"
            case "LEADER_CHOSEN":
                yield "the leader stays" if event.seat == view.leader else "another leader"
            case "ROUND_SCORED":
                yield from kinds_of_round(before, happened, event)
            case "GAME_ENDED":
                yield "end"
                yield from kinds_of_result(after)


def kinds_of_trick(view: Any) -> Iterator[str]:
    """Yield the kinds of a trick to which all seats have played."""
    colours = Counter(play.card // 12 for play in view.plays)
    led = view.plays[0].card // 12
    yield "trick in one colour" if len(colours) == 1 else "trick in several colours"
    if colours[led] == 1:
        yield "trick in which no seat follows"
    values = Counter(play.card % 12 for play in view.plays if play.card // 12 != led)
    for count in values.values():
        if count in EQUAL:
            yield f"{EQUAL[count]} equal values off-colour"


def kinds_of_taking(view: Any, event: Happening) -> Iterator[str]:
    """Yield the kinds of taking a card."""
    card, zone = event.values
    if view.HasField("extra_card") and view.extra_card == card:
        yield "extra card taken"
    else:
        own = any(play.card == card and play.seat == event.seat for play in view.plays)
        yield "own card taken" if own else "another's card taken"
    there = next((len(held.cards) for held in view.seats[event.seat or 0].zones if held.zone == zone), 0)
    where = "the zero zone" if zone == ZERO_ZONE else "a section"
    yield f"into {where} with the colour" if there else f"first of a colour, into {where}"
    if zone != ZERO_ZONE and there + 1 == view.section_limits[zone]:
        yield "section becomes perfect"
    if zone != ZERO_ZONE and there == view.section_limits[zone]:
        yield "section exceeds its limit"


def kinds_of_round(before: Position, happened: Sequence[Happening], event: Happening) -> Iterator[str]:
    """Yield the kinds of a seat's score for a round, from its board including the card that it took last."""
    state, view = state_of(before), view_of(before, None)
    counts = {zone.zone: len(zone.cards) for zone in state.seats[event.seat or 0].zones}
    for taken in happened:
        if taken.kind == "CARD_TAKEN" and taken.seat == event.seat:
            counts[taken.values[1]] = counts.get(taken.values[1], 0) + 1
    limits = list(view.section_limits)
    perfect = sum(counts.get(section, 0) == limit for section, limit in enumerate(limits))
    yield f"round scored with {perfect} perfect"
    points = (0, 0, 1, 2, 4)[perfect] - counts.get(ZERO_ZONE, 0)
    for section, limit in enumerate(limits):
        count = counts.get(section, 0)
        points += count if count <= limit else limit - count
    if points <= 0:
        yield "round scored, the sum below 0" if points < 0 else "round scored, the sum 0"


def kinds_of_result(after: Position) -> Iterator[str]:
    """Yield how a tie was resolved."""
    totals = after.totals()
    if totals.count(max(totals)) > 1:
        perfect = [seat.perfect_sections for seat in score_of(after).seats]
        leading = [count for count, total in zip(perfect, totals, strict=True) if total == max(totals)]
        yield "shared" if leading.count(max(leading)) > 1 else "tie broken by perfect sections"
