"""A complete seeded game as readable text, and as hashes that pin it."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from games.building import view_of

import chatiere.engine
from chatiere.drawing import DRAWINGS
from chatiere.engine import EventLog, Game, Position
from chatiere.engine.wire import fill, written_text
from chatiere.v1.game_pb2 import Score

GAMES = Path(__file__).parents[1] / "games"
SEED = 1


def seeded_game(
    game: Game, players: int, options: dict[str, Any], seed: int
) -> Iterator[tuple[Position, int, EventLog]]:
    """Yield each position of a sampled game, with the move made there and the events before the position."""
    events = EventLog()
    position = game.new_game(players, options, seed=seed, events=events)
    step = 0
    while not position.is_terminal():
        legal = position.legal_actions()
        # Any fixed choice is sufficient. This choice needs no generator and makes all kinds of moves.
        move = legal[7 * step % len(legal)]
        yield position.clone(), move, events
        events = EventLog()
        position.apply(move, events)
        step += 1
    yield position, -1, events


def end_of(position: Position) -> str:
    """Return the name of a game's end."""
    end = position.end()
    assert end is not None
    return position.game.description.ends[end]


def text(game: Game, players: int) -> str:
    """Describe a game with default options: for each step the events, the table with open hands, and the actions."""
    codec, drawing = chatiere.engine.codec(game.name), DRAWINGS[game.name]
    lines = [f"{game.description.title}, {players} players, seed {SEED}, default options"]
    for step, (position, move, events) in enumerate(seeded_game(game, players, {}, SEED)):
        lines += [f"  {written_text(codec.put_event_label, event, True)}" for event in events]
        views = [view_of(position, seat) for seat in range(players)]
        lines += ["", f"{step}.", *map(click.unstyle, drawing.draw_table(views))]
        lines.append(f"totals: {' '.join(str(total) for total in position.totals())}")
        if position.is_terminal():
            score = Score()
            fill(getattr(score.detail, game.name), codec.put_score, position)
            lines += [f"  seat {seat}: {points}" for seat, points in enumerate(drawing.break_down(score))]
            lines += [f"end: {end_of(position)}", f"ranks: {position.ranks()}", f"winners: {position.winners()}"]
            break
        lines.append(f"seat {position.current_player()} may:")
        for action in position.legal_actions():
            lines.append(f"{'->' if action == move else '  '} {action:>4} {position.action_label(action)}")
    return "\n".join(lines) + "\n"


def signature(game: Game, players: int, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return hashes of a game: `play` pins the rules and the random stream, and `packed` the packed form of states."""
    play, packed = hashlib.sha256(), hashlib.sha256()
    decisions = 0
    for position, move, _ in seeded_game(game, players, options, seed):
        play.update(
            json.dumps([position.current_player(), position.legal_actions(), position.totals(), move]).encode("ascii")
        )
        packed.update(position.pack())
        decisions += move >= 0
        last = position
    return {
        "players": players,
        "options": options,
        "seed": seed,
        "decisions": decisions,
        "end": end_of(last),
        "totals": last.totals(),
        "winners": last.winners(),
        "play": play.hexdigest(),
        "packed": packed.hexdigest(),
    }
