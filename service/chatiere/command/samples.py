"""Sample games: files of JSON lines with the correct result of every step of a game.

Line 1 describes the game: {"game": name, "players": number of seats, "options": {name: value, …}}. The options have the
names and values of the rules file (a set of cards is an integer with bit card - 1 set for each card). Other fields,
such as the seed, are ignored. Each further line is a step, with explicit chance:

- a chance event: {"actor": -1, "outcomes": [[outcome, weight], …], "move": outcome}, with all possible outcomes in
  ascending order, and their smallest integer weights;
- a decision: {"actor": seat, "legal": [dense id, …], "totals": [total, …], "move": dense id}, with all legal actions in
  ascending order, and the score that each seat would have if the game ended there;
- the end, as the last line: {"actor": -2, "totals": [total, …], "winners": [seat, …]}.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

CHANCE = -1
OVER = -2


class MalformedSampleError(ValueError):
    """A file is not a sample game. The message contains the file and the line."""


class SampleStep(NamedTuple):
    """A step in a line of a sample game: the expected values, and the move (None at the end of the game)."""

    line: int
    expected: dict[str, Any]
    move: int | None


class SampleGame(NamedTuple):
    """The content of a sample game: the description of the game, and the steps."""

    path: Path
    game: str
    players: int
    options: dict[str, Any]
    steps: list[SampleStep]


def read_sample(path: Path) -> SampleGame:
    """Read a sample game. Raises MalformedSampleError, and OSError if the file cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise MalformedSampleError(f"{path}: not a text file in UTF-8") from error
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    records = [_record(path, number, lines[number - 1]) for number in numbers]
    if not records:
        raise MalformedSampleError(f"{path}, line 1: the file is empty")
    _check_fields(path, numbers[0], records[0], _BEGINNING)
    steps = [_step(path, number, record) for number, record in zip(numbers[1:], records[1:], strict=True)]
    for step in steps[:-1]:
        if step.move is None:
            raise MalformedSampleError(f"{path}, line {step.line}: the game is over, but the file continues")
    if not steps or steps[-1].move is not None:
        raise MalformedSampleError(f"{path}, line {numbers[-1]}: the file ends before the game is over")
    return SampleGame(path, records[0]["game"], records[0]["players"], records[0]["options"], steps)


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedSampleError(f"{path}, line {number}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise MalformedSampleError(f"{path}, line {number}: not a JSON object")
    return record


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_pairs(value: object) -> bool:
    return isinstance(value, list) and all(_is_numbers(pair) and len(pair) == 2 for pair in value)


_Fields = dict[str, tuple[Callable[[object], bool], str]]

_NUMBER = (_is_number, "an integer")
_NUMBERS = (_is_numbers, "a list of integers")
_PAIRS = (_is_pairs, "a list of pairs of integers")

_BEGINNING: _Fields = {
    "game": (lambda value: isinstance(value, str), "a name"),
    "players": _NUMBER,
    "options": (lambda value: isinstance(value, dict), "an object"),
}
_CHANCE_EVENT: _Fields = {"outcomes": _PAIRS, "move": _NUMBER}
_DECISION: _Fields = {"legal": _NUMBERS, "totals": _NUMBERS, "move": _NUMBER}
_END: _Fields = {"totals": _NUMBERS, "winners": _NUMBERS}


def _check_fields(path: Path, number: int, record: dict[str, Any], fields: _Fields) -> None:
    for name, (is_right, meaning) in fields.items():
        if name not in record:
            raise MalformedSampleError(f"{path}, line {number}: {name!r} is missing")
        if not is_right(record[name]):
            raise MalformedSampleError(f"{path}, line {number}: {name!r} must be {meaning}")


def _step(path: Path, number: int, record: dict[str, Any]) -> SampleStep:
    _check_fields(path, number, record, {"actor": _NUMBER})
    actor = record["actor"]
    fields = {CHANCE: _CHANCE_EVENT, OVER: _END}.get(actor, _DECISION)
    if actor < OVER:
        raise MalformedSampleError(f"{path}, line {number}: 'actor' must be a seat, {CHANCE} or {OVER}")
    _check_fields(path, number, record, fields)
    listed = [outcome for outcome, _ in record["outcomes"]] if actor == CHANCE else record.get("legal", [])
    if "move" in fields and record["move"] not in listed:
        raise MalformedSampleError(f"{path}, line {number}: 'move' is not in the line's list")
    for name in record:
        if name != "actor" and name not in fields:
            raise MalformedSampleError(f"{path}, line {number}: {name!r} is not allowed for actor {actor}")
    expected = {name: value for name, value in record.items() if name != "move"}
    return SampleStep(number, expected, record.get("move"))
