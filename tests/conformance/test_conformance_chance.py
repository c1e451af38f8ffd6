"""Every game: sampled chance draws from the outcomes that explicit chance lists, with the documented stream."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import chisquare

from chatiere.engine import EventLog, Game, Position

from .documented_stream import DocumentedStream
from .support import Table, body_of, moves_of, positions, random_options

# The p-value below which a test fails. With a few hundred tests, this happens by chance for one in 100,000 seeds.
P_VALUE = 1e-7
MAX_TREE = 120


def resolve(position: Position, stream: DocumentedStream) -> tuple[Position, list[tuple[Position, int]]]:
    """Resolve chance by the rules of the stream. Return the next decision, and the chance events with outcomes."""
    path = []
    while position.is_chance_node():
        weighted = position.chance_outcomes()
        number = stream.number_below(sum(weight for _, weight in weighted))
        for outcome, weight in weighted:  # noqa: B007
            if number < weight:
                break
            number -= weight
        path.append((position, outcome))
        position = position.child(outcome)
    return position, path


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1, 0x0123456789ABCDEF])
def test_a_sampled_game_is_the_explicit_game_resolved_by_the_documented_stream(table: Table, seed: int) -> None:
    game, players = table
    choices = random.Random(seed)
    options = random_options(game, players, choices)
    sampled = game.new_game(players, options, seed=seed, game_number=seed ^ 5)
    stream = DocumentedStream(seed, seed ^ 5)
    explicit, _ = resolve(game.new_game(players, options), stream)
    decisions = 0
    while True:
        assert body_of(sampled) == body_of(explicit)
        assert sampled.random_stream() == (seed, seed ^ 5, stream.drawn)
        if sampled.is_terminal():
            break
        action = choices.choice(sampled.legal_actions())
        sampled = sampled.child(action)
        explicit, _ = resolve(explicit.child(action), stream)
        decisions += 1
    assert decisions


def test_chance_after_any_move_is_sampled_from_the_listed_outcomes(table: Table) -> None:
    """Sampled states draw by the weights that explicit states list. This is checked word by word."""
    game, _ = table
    choices = random.Random("words")
    drawn = 0
    for position in positions(table, False):
        if position.is_terminal() or position.is_chance_node():
            continue
        for move in choices.sample(position.legal_actions(), min(3, len(position.legal_actions()))):
            seed, number, first = (choices.getrandbits(64) for _ in range(3))
            first //= 2
            stream = DocumentedStream(seed, number, first)
            explicit, path = resolve(position.child(move), stream)
            sampled = game.position(body_of(position), (seed, number, first)).child(move)
            assert body_of(sampled) == body_of(explicit)
            assert sampled.random_stream() == (seed, number, stream.drawn)
            drawn += len(path)
    assert drawn


def test_chance_drawn_in_one_step_is_the_same_as_event_by_event(table: Table) -> None:
    """Chance is drawn event by event if an EventLog is given, otherwise in one step up to the next decision."""
    game, players = table
    choices = random.Random("at once")
    for seed in range(12):
        options = random_options(game, players, choices)
        events_one_by_one = EventLog()
        one_by_one = game.new_game(players, options, seed=seed, events=events_one_by_one)
        at_once = game.new_game(players, options, seed=seed)
        assert at_once == one_by_one
        while not at_once.is_terminal():
            action = choices.choice(at_once.legal_actions())
            at_once.apply(action)
            one_by_one.apply(action, events_one_by_one)
            assert at_once == one_by_one


def test_a_playout_from_a_chance_event_draws_the_listed_outcomes(table: Table) -> None:
    for number, position in enumerate(positions(table, False)[::5]):
        played = position.clone()
        if not position.is_chance_node():
            continue
        decisions = played.playout(number, 3)
        stream = DocumentedStream(number, 3)
        by_hand, _ = resolve(position, stream)
        for _ in range(decisions):
            legal = by_hand.legal_actions()
            by_hand, _ = resolve(by_hand.child(legal[stream.number_below(len(legal))]), stream)
        assert by_hand.is_terminal()
        assert body_of(played) == body_of(by_hand)


def test_a_move_repeated_on_the_same_state_cannot_be_rerolled(table: Table) -> None:
    for position in positions(table, True)[:-1:7]:
        for move in moves_of(position):
            assert position.child(move) == position.child(move)


@pytest.mark.release_only
def test_the_first_chance_events_occur_in_proportion_to_their_weights(table: Table) -> None:
    game, players = table
    counts: dict[Position, Counter[int]] = {}
    for seed in range(4000):
        _, path = resolve(game.new_game(players), DocumentedStream(seed, 0))
        sampled = game.new_game(players, seed=seed)
        end = path[-1][0].child(path[-1][1]) if path else game.new_game(players)
        assert body_of(sampled) == body_of(end)
        # Check the first event and the next event on one branch only, because too few games reach later events.
        for node, outcome in path[:2]:
            counts.setdefault(node, Counter())[outcome] += 1
    for node, seen in counts.items():
        if seen.total() >= 10 * len(node.chance_outcomes()):
            assert fits(seen, node.chance_outcomes())


def fits(seen: Counter[int], weighted: list[tuple[int, int]]) -> bool:
    """Return whether counts are consistent with weights."""
    assert seen.keys() <= {outcome for outcome, _ in weighted}
    if len(weighted) == 1:
        return True
    weights = np.array([weight for _, weight in weighted])
    observed = [seen[outcome] for outcome, _ in weighted]
    return bool(chisquare(observed, weights / weights.sum() * seen.total()).pvalue > P_VALUE)


def ends_of_chance(position: Position) -> list[tuple[bytes, float]]:
    """Return the bodies of the next decisions to which chance can lead, with probabilities. Stops after MAX_TREE."""
    ends: defaultdict[bytes, float] = defaultdict(float)
    open_nodes = [(position, 1.0)]
    while open_nodes and len(open_nodes) + len(ends) <= MAX_TREE:
        node, probability = open_nodes.pop()
        weighted = node.chance_outcomes()
        if not weighted:
            ends[body_of(node)] += probability
        total = sum(weight for _, weight in weighted)
        open_nodes += [(node.child(outcome), probability * weight / total) for outcome, weight in weighted]
    return [] if open_nodes else sorted(ends.items())


def sampled_twin(game: Game, position: Position, seed: int) -> Position:
    """Return the same position with sampled chance."""
    return game.position(body_of(position), (seed, 0, 0))


@pytest.mark.release_only
def test_later_chance_events_occur_in_proportion_to_their_weights(game: Game) -> None:
    tested = 0
    follows_a_decision = False
    # With some numbers of players, all later chance events of a game may be whole deals. Deals are too large to test.
    tables = ((game, players) for players in range(game.min_players, game.max_players + 1))
    for position in (position for table in tables for position in positions(table, False)[::5]):
        for move in moves_of(position)[:1]:
            if position.is_chance_node():
                continue
            follows_a_decision |= position.child(move).is_chance_node()
            ends = ends_of_chance(position.child(move))
            if len(ends) < 2:
                continue
            samples = 20 * len(ends)
            seen = Counter(body_of(sampled_twin(game, position, seed).child(move)) for seed in range(samples))
            assert seen.keys() <= {body for body, _ in ends}
            observed = [seen[body] for body, _ in ends]
            expected = np.array([probability for _, probability in ends]) * samples
            assert chisquare(observed, expected).pvalue > P_VALUE
            tested += 1
    assert tested or not follows_a_decision
