"""A bot as a program for other hosts: it answers the lines of the line protocol (docs/bot_protocol.md)."""

import binascii
import json
from base64 import b64decode
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.bots.bot import Bot, Decisions, SearchBot
from chatiere.bots.hosting import judge
from chatiere.bots.process import PROTOCOL, RATINGS
from chatiere.engine import Game


class ProtocolError(ValueError):
    """A host's line breaks the protocol."""


def play_lines(spec: str, lines: Iterable[str | bytes]) -> Iterator[str]:
    """Yield the answer to each line of a host.

    Args:
        spec: The bot, in the syntax of `chatiere.bots.get`.
        lines: The host's lines.

    Raises:
        ProtocolError: If a line breaks the protocol.
        ValueError: See chatiere.bots.get.
        EngineError: See chatiere.bots.get. If a world is not a valid state: INVALID_STATE.
    """
    read = map(_object, lines)
    hello = next(read, {})
    if not hello:
        return
    if (hello.get("type"), hello.get("protocol")) != ("hello", PROTOCOL):
        raise ProtocolError(f'the first line must have the type "hello" and the protocol {PROTOCOL}')
    game, players = engine.game(_field(hello, "game", str)), _field(hello, "players", int)
    bot = bots.get(spec, game, players)
    ratings = RATINGS if isinstance(bot, SearchBot) else ()
    yield json.dumps(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "name": spec[:100],
            "wants": ["observation"] * bot.needs_observations,
            "worlds": int(bot.needs_worlds),
            "ratings": ratings,
            "reproducible": bot.is_reproducible,
        }
    )
    for line in read:
        asked = _field(line, "decisions", list)
        answer: dict[str, Any] = {"id": line.get("id"), "actions": []} | {name: [] for name in ratings}
        if asked:
            decisions = _decisions(bot, game, players, asked)
            judgement = judge(bot, decisions)
            answer["actions"] = judgement.actions.tolist()
            for name in ratings:
                numbers = [None if np.isnan(each) else each for each in getattr(judgement, name).tolist()]
                answer[name] = [numbers[first:last] for first, last in pairwise(decisions.legal_offsets.tolist())]
        yield json.dumps(answer)


def _object(line: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"a line is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProtocolError(f"a line must be an object, not {json.dumps(found)[:100]}")
    return found


def _field(line: Any, name: str, kind: type) -> Any:
    value = line.get(name) if isinstance(line, dict) else None
    if type(value) is not kind:
        raise ProtocolError(f"{name} must be a JSON {_KINDS[kind]}, not {json.dumps(value)[:100]}")
    return value


_KINDS = {str: "string", int: "integer", list: "list"}


def _decisions(bot: Bot, game: Game, players: int, asked: list[Any]) -> Decisions:
    seats = [_field(each, "seat", int) for each in asked]
    legal = [_field(each, "legal", list) for each in asked]
    lucks = [_field(each, "luck", str) for each in asked]
    for seat, ids, luck in zip(seats, legal, lucks, strict=True):
        if not 0 <= seat < players:
            raise ProtocolError(f"seat must be from 0 to {players - 1}, not {seat}")
        are_ids = all(type(each) is int and 0 <= each < game.num_distinct_actions for each in ids)
        if not (ids and are_ids and all(one < other for one, other in pairwise(ids))):
            raise ProtocolError(f"legal must be ascending dense ids, one or more, not {str(ids)[:100]}")
        if not (luck.isascii() and luck.isdecimal() and len(luck) <= 20 and int(luck) < 2**64):
            raise ProtocolError(f"luck must be a decimal number from 0 to 2**64 - 1, not {luck[:100]!r}")
    offsets = np.zeros(len(asked) + 1, np.uint32)
    np.cumsum([len(ids) for ids in legal], out=offsets[1:])
    nothing = np.empty((0, 0), np.uint8)
    observations = [_field(each, "observation", str) for each in asked] if bot.needs_observations else []
    worlds = [(_field(each, "worlds", list) or [None])[0] for each in asked] if bot.needs_worlds else []
    return Decisions(
        game=game,
        players=players,
        actors=np.array(seats, np.int8),
        legal_offsets=offsets,
        legal_ids=np.array([each for ids in legal for each in ids], np.uint16),
        luck=np.array([int(luck) for luck in lucks], np.uint64),
        observations=_rows("observation", observations, game.observation_length) if observations else nothing,
        drawn=_rows("worlds", worlds, game.packed_size) if worlds else nothing,
    )


def _rows(name: str, texts: list[Any], size: int) -> NDArray[np.uint8]:
    try:
        rows = [b64decode(text, validate=True) for text in texts]
    except (TypeError, binascii.Error) as error:
        raise ProtocolError(f"{name} must be base64: {error}") from error
    if any(len(row) != size for row in rows):
        raise ProtocolError(f"{name} must have {size} bytes")
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), size)
