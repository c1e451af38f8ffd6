"""Edits that make Momistigri states which random play rarely reaches, and the reference at an edited state."""

import random
from collections import Counter
from typing import Any

from .. import editing
from ..building import name_of
from .reference import ALL, LAST_TURN, PASS, STOP, Game, value

PENDING = {1: (None, 1), 2: ("swap", 1), 3: ("two", 2), 4: ("three", 3)}

# For each number of players, the number of edited states from which a test continues to play.
STATES = 300


def edit(state: Any, choices: random.Random) -> None:
    """Change a state in a random way. The changed state may be impossible."""
    hands = [seat.hand_cards for seat in state.seats]
    places = [*hands, state.discards]
    seat = choices.choice(state.seats)
    way = choices.randrange(12)
    if way == 0:
        editing.exchange(places, choices)
    elif way == 1:
        editing.shift(places, choices)
    elif way == 2:
        # Give a seat a hand of one or two values, or of one colour.
        points, colour = choices.sample(range(1, 10), 2), choices.randrange(5)
        by_value = choices.random() < 0.7
        wanted = {card for card in range(45) if (value(card) in points if by_value else card // 9 == colour)}
        editing.bring(choices.choice(hands), wanted, places)
    elif way == 3:
        # Leave few cards in the hands.
        put_away(state, hands, choices, choices.choice((1, 2, 6)))
    elif way == 4:
        # Remove a seat from the round.
        state.discards.extend(seat.hand_cards)
        del seat.hand_cards[:]
        seat.in_round = seat.pass_mark = False
    elif way == 5:
        for other in state.seats:
            other.pass_mark = other.in_round and choices.random() < 0.7
        if name_of(state, "phase") not in ("DRAW", "DISCARD"):
            state.seats[state.active_seat].pass_mark = False
    elif way == 6 and state.turn:
        state.turn = choices.choice((1, LAST_TURN - 2, LAST_TURN - 1, LAST_TURN))
    elif way == 7:
        state.reversed = not state.reversed
    elif way == 8 and state.turn:
        set_round(state, choices)
    elif way == 9 and name_of(state, "phase") == "DRAW":
        state.mark = choices.choice(list(PENDING))
        state.draws_left = min(PENDING[state.mark][1], state.draws_left + choices.randrange(3))
    elif way == 10:
        # Give all seats small hands of one value each.
        put_away(state, hands, choices, 2)
        for hand in hands:
            same = choices.randint(1, 9)
            editing.bring(hand, {card for card in range(45) if value(card) == same}, places)
    elif way == 11:
        # Leave only two seats in the round, and give the active seat a hand of one value.
        other = choices.randrange(len(hands))
        for number, out in enumerate(state.seats):
            if number not in (state.active_seat, other):
                state.discards.extend(out.hand_cards)
                del out.hand_cards[:]
                out.in_round = out.pass_mark = False
        put_away(state, hands, choices, 2)
        same = choices.randint(1, 8)
        editing.bring(hands[state.active_seat], {card for card in range(45) if value(card) == same}, places)
    editing.sort(places)
    set_knowledge(state, choices)


def put_away(state: Any, hands: Any, choices: random.Random, most: int) -> None:
    """Reduce each hand to a random size from 1 to `most`, unless it is smaller. The other cards move to the pile."""
    for hand in hands:
        limit = choices.randint(1, most)
        while len(hand) > limit:
            state.discards.append(hand.pop(choices.randrange(len(hand))))


def set_round(state: Any, choices: random.Random) -> None:
    """Set a later round, with penalties that are often tied."""
    state.round = choices.randint(2, 3)
    state.options.ClearField("first_seat")
    for seat in state.seats:
        del seat.round_points[:]
        seat.round_points.extend(choices.choice((0, 3, 4, 40)) for _ in range(state.round - 1))
    sums = [sum(seat.round_points) for seat in state.seats]
    state.round_first_seat = choices.choice([seat for seat, total in enumerate(sums) if total == max(sums)])


def set_knowledge(state: Any, choices: random.Random) -> None:
    """Give seats knowledge of some cards in other hands."""
    players = len(state.seats)
    noted = state.turn > 0
    for owner, seat in enumerate(state.seats):
        del seat.knowledge[:]
        ones = sum(value(card) == 1 for card in seat.hand_cards)
        share = choices.choice((0, 0, 0.3, 1))
        public = [card for card in seat.hand_cards if choices.random() < share]
        most = None
        if players == 5 and seat.in_round and choices.random() < 0.3 and ones < 8:
            most = choices.randint(ones, 8)
        if not noted:
            continue
        if public or most is not None:
            add_knowledge(seat, None, public, most)
        for knower in range(players):
            if knower != owner and choices.random() < 0.3:
                rest = Counter(seat.hand_cards) - Counter(public)
                more = sorted([*public, *(card for card in rest.elements() if choices.random() < 0.4)])
                least = most if most is None or choices.random() < 0.5 else choices.randint(ones, most)
                if (more, least) != (public, most):
                    add_knowledge(seat, knower, more, least)


def add_knowledge(seat: Any, knower: int | None, cards: list[int], most_ones: int | None) -> None:
    seat.knowledge.add(seat=knower, cards=cards, most_ones=most_ones)


def resumed(state: Any) -> Game | None:
    """Return the reference at a state in a turn, or None if more than the last step of an effect is pending."""
    phase = name_of(state, "phase")
    if phase not in ("DRAW", "SWAP_OUT", "DISCARD", "CHOICE", "GIVE", "AGAIN"):
        return None
    players = len(state.seats)
    options: dict[str, Any] = {"copies": list(state.options.copies)} if state.options.copies else {}
    game = Game(players, {**options, "first_seat": state.round_first_seat})
    game.hands = [Counter(seat.hand_cards) for seat in state.seats]
    game.pile = Counter(state.discards)
    game.penalties = [[seat.round_points[number] for seat in state.seats] for number in range(state.round - 1)]
    game.direction = -1 if state.reversed else 1
    game.turn = state.turn
    game.inside = {number for number, seat in enumerate(state.seats) if seat.in_round}
    game.passed = {number for number, seat in enumerate(state.seats) if seat.pass_mark}
    game.known, game.most_ones = {}, {}
    for owner, seat in enumerate(state.seats):
        entries = {entry.seat if entry.HasField("seat") else ALL: entry for entry in seat.knowledge}
        for knower in (*range(players), ALL):
            entry = entries.get(knower, entries.get(ALL))
            if knower != owner and entry is not None:
                game.known[knower, owner] = Counter(entry.cards)
                if entry.HasField("most_ones"):
                    game.most_ones[knower, owner] = entry.most_ones
    active = state.active_seat
    if phase == "DRAW":
        rest = game.draw(active, PENDING[state.mark][0], state.draws_left)
    elif phase == "SWAP_OUT":
        rest = game.draw(active, "swap", 0)
    elif phase in ("DISCARD", "AGAIN"):
        rest = game.discard(active, PASS if phase == "DISCARD" else STOP)
    else:
        rest = game.effect(active, 4 if phase == "GIVE" else state.pair_value)
    game.go_on(game.rounds(state.round_first_seat, game.turns(active, rest)))
    return game
