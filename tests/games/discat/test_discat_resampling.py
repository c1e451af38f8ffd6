"""Public and hidden: resampling reaches every state consistent with a seat's information, equally often.

knowledge.py counts these states by playing the game backwards, and shares no code with the kernel.
"""

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from scipy.stats import chisquare
from tools.over import over

from chatiere.engine import Position
from chatiere.engine.wire import Reader

from ..building import state_of, view_of
from ..script import OVER
from .building import CODEC, GAME
from .knowledge import Knowledge, Placement
from .reference import EXCHANGE, KEEP, Game

pytestmark = [pytest.mark.rules("discat", "Public and hidden", "Decisions of the engine"), pytest.mark.long]

# The p-value below which a test fails. Seeds are fixed.
P_VALUE = 1e-6
DRAWS = 40  # for each state
MAX_STATES = {2: 60, 3: 300}
GAMES = {2: 60, 3: 250}


def placement(position: Position) -> Placement:
    state = state_of(position)
    return tuple(frozenset(seat.hand_cards) for seat in state.seats), tuple(state.queue_cards)


def small_positions(players: int, style: str, seed: int) -> Iterator[tuple[Position, Knowledge]]:
    """Yield late positions of a random game, each with a seat for which few hidden placements are possible."""
    choices = random.Random(f"{players} {style} {seed}")
    position, game = GAME.new_game(players), Game(players)
    while game.question.actor != OVER:
        moves = game.question.moves
        if len(game.unknown) <= 3 and choices.random() < 0.4:
            knowledge = Knowledge(game, choices.randrange(players))
            if 2 <= knowledge.num_candidates() <= MAX_STATES[players]:
                yield position.clone(), knowledge
        if style == "exchanges" and moves[0] == KEEP and len(moves) > 1:
            moves = tuple(move for move in moves if move >= EXCHANGE)
        move = choices.choice(moves)
        position.apply(move)
        game.move(move)


@pytest.mark.release_only
@pytest.mark.parametrize("style", ["random", "exchanges"])
@over("players", [2, 3])
def test_resampling_reaches_every_consistent_state_equally_often(players: int, style: str) -> None:
    exact = restricted = unseen = 0
    for seed in range(GAMES[players]):
        for position, knowledge in small_positions(players, style, seed):
            if players > 2 and knowledge.card_passed_unseen():
                # With more players, most positions are of this kind. Two-player games and
                # test_discat_resampling_pinned.py are sufficient to test it.
                unseen += 1
                continue
            possible = knowledge.placements()
            drawn = Counter(
                placement(position.resample(knowledge.seat, number)) for number in range(DRAWS * len(possible))
            )
            assert placement(position) in possible
            if knowledge.card_passed_unseen():
                # Such a card is treated as any card: every possible state is reached, and perhaps further states.
                unseen += 1
                assert set(drawn) >= possible
            else:
                exact += 1
                restricted += len(possible) < knowledge.num_candidates()
                assert set(drawn) == possible
                if len(possible) > 1:
                    assert chisquare([drawn[each] for each in possible]).pvalue > P_VALUE
    # Each kind of position that the test needs occurs.
    assert exact > 5
    assert restricted
    assert unseen


@over("players", range(2, 7))
def test_no_state_reached_by_play_is_refused(players: int) -> None:
    choices = random.Random(players)
    for _ in range(8):
        position = GAME.new_game(players, seed=choices.getrandbits(64))
        while not position.is_terminal():
            for seat in range(players):
                drawn = position.resample(seat, choices.getrandbits(64))
                drawn.resample((seat + 1) % players, 1).check()
            moves = position.legal_actions()
            position.apply(choices.choice(moves[1:] if moves[0] == KEEP and len(moves) > 1 else moves))


def holds_more_than_passes_allow(game: Game, hands: list[list[int]]) -> bool:
    """Return whether a hand has more cards that its seat's last pass excluded than the seat has drawn since."""
    drawn = [0] * game.players
    passed = [False] * game.players
    for fact in reversed(game.facts):
        if fact.kind in ("draw", "draw_queue"):
            drawn[fact.seat] += 1
        elif fact.kind == "unable" and not passed[fact.seat]:
            passed[fact.seat] = True
            constraint = fact.cards[0]
            held = sum(card > constraint if constraint in game.up else card < constraint for card in hands[fact.seat])
            if held > drawn[fact.seat]:
                return True
    return False


@pytest.mark.parametrize(("players", "up_arrows"), [(4, 0), (6, 0), (6, 2**90 - 1)], ids=["4", "6", "6-up"])
def test_resampling_stays_consistent_beyond_the_30_recorded_cards(players: int, up_arrows: int) -> None:
    # "Decisions of the engine": the state records the last 30 cards drawn from the queue. Here, all seats exchange
    # whenever they can, and play single cards that few seats can follow. More cards then pass through the queue.
    choices = random.Random(players)
    options = {"up_arrows": up_arrows}
    position, game = GAME.new_game(players, options), Game(players, options)
    most = 0
    while game.question.actor != OVER:
        redrawn = [card for fact in game.facts if fact.kind == "draw_queue" for card in fact.cards]
        most = max(most, len(redrawn))
        state = state_of(position)
        assert list(state.redrawn_cards) == redrawn[-30:]
        if len(redrawn) > 30 and game.question.actor >= 0:
            GAME.unpack(position.pack()).check()
            assert GAME.position(CODEC.read_state(Reader(state), GAME.rules_version), ply=position.ply()) == position
            seat = choices.randrange(players)
            drawn = position.resample(seat, choices.getrandbits(64))
            drawn.check()
            assert view_of(drawn, seat) == view_of(position, seat)
            hands = [list(seat.hand_cards) for seat in state_of(drawn).seats]
            assert not holds_more_than_passes_allow(game, hands)
            # A resampled position can be resampled again.
            assert view_of(drawn.resample(seat, 1), seat) == view_of(position, seat)
            drawn.resample((seat + 1) % players, 1).check()
        moves = game.question.moves
        if game.question.actor < 0:
            move = choices.choice(moves)
        elif moves[0] == KEEP:
            move = moves[-1]
        else:
            singles = [each for each in moves if each % 32 == 0]
            move = singles[-1 if up_arrows else 0]
        position.apply(move)
        game.move(move)
    assert position.is_terminal()
    assert most > 30
