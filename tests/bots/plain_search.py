"""A second, independent implementation of the tree search. It uses `Position`, searches one position, and is slow."""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chatiere.engine import Game, Position
from chatiere.engine.core.stream import words


@dataclass
class Node:
    """A node. `children` has a node for each known action."""

    visits: int = 0
    available: int = 1
    prior: float = 0.0
    totals: list[float] = field(default_factory=list)
    children: dict[int, "Node"] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of nodes in this subtree."""
        return 1 + sum(child.size for child in self.children.values())

    def count(self, returns: Sequence[float]) -> None:
        self.totals = [a + b for a, b in zip(self.totals or [0.0] * len(returns), returns, strict=True)]
        self.visits += 1

    def mean(self, seat: int) -> float:
        return (self.totals[seat] / self.visits + 1) / len(self.totals)


def at_stream(game: Game, packed: bytes, seed: int, number: int, drawn: int) -> Position:
    """Return the position with another random stream. The stream is in bytes 8 … 31 of the header."""
    header = bytes([*packed[:2], 1, *packed[3:8]]) + b"".join(n.to_bytes(8, "little") for n in (seed, number, drawn))
    return game.unpack(header + packed[32:])


def below(position: Position, n: int) -> tuple[Position, int]:
    """Draw a number below n from a position's stream. No word is rejected in these short games."""
    packed = position.pack()
    stream = position.random_stream()
    assert stream is not None
    (word,) = words(*stream, 1)
    return at_stream(position.game, packed, *stream[:2], stream[2] + 1), (word * n) >> 64


def play_out(position: Position) -> tuple[Position, int]:
    """Return the final position and the number of decisions made until then."""
    advised = position.game.playout_weights["decisions"]
    decisions = 0
    while not position.is_terminal():
        actions = position.legal_actions()
        if decisions >= advised and advised != 255:
            position, place = below(position, len(actions))
        elif len(actions) == 1:
            place = 0
        else:
            position, place = by_weight(position, position.action_likelihoods())
        position.apply(actions[place])
        decisions += 1
    return position, decisions


def by_weight(position: Position, likelihoods: Sequence[int]) -> tuple[Position, int]:
    """Draw an index by weight from a position's stream."""
    ends = list(itertools.accumulate(likelihoods))
    position, number = below(position, ends[-1])
    return position, bisect.bisect(ends, number)


def search_plainly(
    game: Game,
    seed: int,
    worlds: Sequence[bytes],
    exploration: float,
    evaluate: Any = None,
    max_nodes: int = 1 << 30,
    advised: bool = False,
) -> dict[int, tuple[int, float]]:
    """Return the visits and the mean return of each legal action after one simulation in each world.

    Once there are `max_nodes` nodes, only the root gets children. `evaluate(position)` returns the priors of the legal
    actions, and the seats' values, clockwise from the actor. With `advised`, the priors are the playout policy's.
    """
    root = Node()
    seat = game.unpack(worlds[0]).current_player()
    if evaluate is not None:
        _simulate(root, at_stream(game, worlds[0], seed, 0, 0), exploration, evaluate, max_nodes)
    for number, world in enumerate(worlds):
        start = at_stream(game, world, seed, number, 0)
        if advised:
            _simulate_advised(root, start, exploration, max_nodes)
        else:
            _simulate(root, start, exploration, evaluate, max_nodes)
    return {
        action: (child.visits, child.totals[seat] / child.visits if child.visits else math.nan)
        for action, child in sorted(root.children.items())
    }


def _simulate(node: Node, position: Position, exploration: float, evaluate: Any, max_nodes: int) -> None:
    path = [node]
    room = max_nodes - node.size
    returns: Sequence[float] | None = None
    decisions = 0
    while not position.is_terminal():
        seat = position.current_player()
        legal = position.legal_actions()
        known = [action for action in legal if action in node.children]
        scores = {
            action: _ucb1(node.children[action], seat, exploration)
            if evaluate is None
            else _puct(node, node.children[action], seat, exploration, node.children[action].prior)
            for action in known
        }
        for action in known:
            node.children[action].available += 1
        missing = [action for action in legal if action not in node.children]
        has_room = len(path) == 1 or room >= (1 if evaluate is None else len(missing))
        if missing and evaluate is not None:
            priors, values = evaluate(position)
            for action, prior in zip(legal, priors, strict=True):
                if has_room:
                    node.children.setdefault(action, Node(prior=prior / sum(priors)))
            players = position.num_players()
            returns = [values[(other - seat) % players] for other in range(players)]
            break
        if missing and not has_room:
            position, decisions = play_out(position)
            break
        if missing:
            likelihoods = dict(zip(legal, position.action_likelihoods(), strict=True))
            position, place = by_weight(position, [likelihoods[action] for action in missing])
            node.children[missing[place]] = Node()
            node = node.children[missing[place]]
            position.apply(missing[place])
            path.append(node)
            position, decisions = play_out(position)
            break
        action = max(known, key=scores.__getitem__)
        node = node.children[action]
        position.apply(action)
        path.append(node)
    _back_up(path, returns or position.returns(), decisions)


def advised_priors(position: Position) -> dict[int, float]:
    """Return the prior of each legal action: the playout policy's probabilities, mixed with 10 % of equal ones."""
    likelihoods = position.action_likelihoods()
    return {
        action: 0.9 * likelihood / sum(likelihoods) + 0.1 / len(likelihoods)
        for action, likelihood in zip(position.legal_actions(), likelihoods, strict=True)
    }


def _simulate_advised(root: Node, position: Position, exploration: float, max_nodes: int) -> None:
    path = [root]
    while not position.is_terminal():
        node, seat, priors = path[-1], position.current_player(), advised_priors(position)
        if node is root or root.size + len(priors) <= max_nodes:
            for action in priors:
                node.children.setdefault(action, Node())
        known = {action: node.children[action] for action in priors if action in node.children}
        scores = {action: _puct(node, child, seat, exploration, priors[action]) for action, child in known.items()}
        for child in known.values():
            child.available += 1
        if len(known) < len(priors):
            break
        action = max(scores, key=scores.__getitem__)
        position.apply(action)
        path.append(known[action])
        if not path[-1].visits:
            break
    position, decisions = play_out(position)
    _back_up(path, position.returns(), decisions)


def _back_up(path: Sequence[Node], returns: Sequence[float], decisions: int) -> None:
    left = 1 - min(64, len(path) - 1 + decisions) / 2048
    for each in path:
        each.count([left * value for value in returns])


def _ucb1(child: Node, seat: int, exploration: float) -> float:
    return child.mean(seat) + exploration * math.sqrt(math.log(child.available) / child.visits)


def _puct(node: Node, child: Node, seat: int, exploration: float, prior: float) -> float:
    mean = 0.0
    if node.visits:
        mean = child.mean(seat) if child.visits else node.mean(seat)
    return mean + exploration * prior * math.sqrt(child.available) / (1 + child.visits)


def values_of(observation: bytes, actions: Sequence[int], players: int) -> tuple[np.ndarray, np.ndarray]:
    """Return arbitrary priors and values that depend only on the observation and the legal actions."""
    mark = sum(value * (place % 89 + 1) for place, value in enumerate(observation)) % 1009
    priors = np.array([(action * 31 + mark) % 13 for action in actions], float)
    priors[0] += 1
    values = np.array([(mark * (seat + 3)) % 17 / 17 * players - 1 for seat in range(players)])
    return priors, values
