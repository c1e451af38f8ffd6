"""Records of games as GameRecord messages and as text.

    >>> from chatiere.clients import Client, records
    >>> with Client(address) as client:  # such as "127.0.0.1:50051"
    ...     begun = client.new_game("discat", 3, seed=7)
    ...     record = records.begin_record(begun, 3, seat_names=["Anna", "Ben", "Cleo"])
    ...     record.actions.append(client.list_legal_actions(begun.state).legal_actions[0].id)
    >>> text = records.to_text(record)
    >>> text.splitlines()[0]
    'game: discat'
    >>> records.from_text(text) == record
    True

docs/records.md describes the text format.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, SupportsIndex

from chatiere import engine
from chatiere.engine import EngineError, Game, Position
from chatiere.engine.core.record import Kind, Record, check_date, check_lengths, check_names
from chatiere.engine.whole_files import write_whole
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2
from chatiere.v1.game_pb2 import Options
from chatiere.v1.record_pb2 import GameRecord, RecordOutcomes, RecordStream

SUFFIX = ".chatiere"
"""The suffix of files that contain a record as text."""

MAX_CHARACTERS = 2_000_000
"""The maximum number of characters in the text of a record."""

# The maximum number of characters in a line, and of characters that an error message quotes.
_MAX_LINE_LENGTH, _MAX_QUOTE_LENGTH = 10_000, 40
_MAX_U64 = 2**64 - 1

_TAG = re.compile(r"([a-z_]+)(?: ([a-z_0-9]+))?: (.+)")
_ACTION = re.compile(r"([0-9]+)\. seat ([0-9]+): ([0-9]+)")
_OUTCOME = re.compile(r"chance: ([0-9]+)")
_EXPLICIT = "explicit"
# The last lines of records: of a finished game, and of an unfinished game.
_OVER, _SO_FAR = "over", "so far"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Tags that consist of one word.
_TAGS = ("game", "rules_version", "players", "chance", "seed", "game_number", "date")


class MalformedRecordError(ValueError):
    """A record cannot be read or replayed. The message names the line or the field."""


def begin_record(
    beginning: game_pb2.Position,
    players: SupportsIndex,
    *,
    options: Options | None = None,
    seat_names: Sequence[str] = (),
    date: str = "",
) -> GameRecord:
    """Return the record of a game before its first move.

    Append the dense id of each action to `actions`. With explicit chance, also append each outcome to
    `outcomes.outcomes`.

    Args:
        beginning: The position returned by Client.new_game.
        players: The number of players passed to Client.new_game.
        options: The options passed to Client.new_game.
        seat_names: The names of the players, one per seat. Empty means no names.
        date: The date as YYYY-MM-DD, or "".
    """
    state = beginning.state
    record = GameRecord(
        game=state.WhichOneof("game"),
        rules_version=state.rules_version,
        players=players.__index__(),
        options=options,
        seat_names=seat_names,
        date=date,
    )
    if state.HasField("stream"):
        record.stream.CopyFrom(RecordStream(seed=state.stream.seed, game_number=state.stream.game_number))
    else:
        record.outcomes.SetInParent()
    return record


def to_text(record: GameRecord) -> str:
    """Return a record as text.

    Raises:
        MalformedRecordError: The record cannot be replayed.
    """
    try:
        return "".join(f"{line}\n" for line in _lines(record))
    except EngineError as error:
        error.lies_below("record")
        raise MalformedRecordError(_message_of(error, f"{error.field}: ")) from error


def from_text(text: str, source: str = "record") -> GameRecord:
    """Parse the text of a record.

    Args:
        text: The text.
        source: The name of the text in error messages.

    Raises:
        MalformedRecordError: The text is not a record, or its game cannot be replayed. The message names the line and
            the rule.
    """
    if len(text) > MAX_CHARACTERS:
        raise MalformedRecordError(f"{source}: {len(text)} characters; a record has at most {MAX_CHARACTERS}")
    return _Text(text, source).record()


def read_record(path: Path) -> GameRecord:
    """Read a record from a file.

    Raises:
        MalformedRecordError: See `from_text`.
        OSError: The file cannot be read.
    """
    # A character has at most 4 bytes in UTF-8.
    with path.open("rb") as file:
        data = file.read(4 * MAX_CHARACTERS + 1)
    if len(data) > 4 * MAX_CHARACTERS:
        raise MalformedRecordError(f"{path}: too large; a record has at most {MAX_CHARACTERS} characters")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedRecordError(f"{path}: not a text file in UTF-8") from error
    return from_text(text, str(path))


def write_record(path: Path, record: GameRecord) -> None:
    """Write a record to a file, as text.

    Raises:
        MalformedRecordError: See `to_text`.
        OSError: The file cannot be written.
    """
    write_whole(path, to_text(record).encode())


def printable(text: str) -> str:
    """Return a string in which all unprintable characters are escaped as in JSON."""
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def _lines(record: GameRecord) -> Iterator[str]:
    # Yield the lines of a record's text. Raises EngineError with a path relative to the record.
    game = engine.game(record.game)
    game.check_rules_version(record.rules_version)
    try:
        options = _options_of(record.options, game)
        chance = record.WhichOneof("chance")
        if chance is None:
            raise MalformedRecordError("record.stream: the record has neither a stream nor outcomes")
        stream = (record.stream.seed, record.stream.game_number) if chance == "stream" else None
        played = Record(
            game, record.rules_version, record.players, options, stream, record.outcomes.outcomes, record.actions
        )
        position = played.begin()
    except EngineError as error:
        if error.reason == engine.Reason.INVALID_OPTION:
            error.lies_below(f"options.{game.name}")
        raise
    check_lengths(game, record.players, len(record.actions), len(record.outcomes.outcomes))
    check_names(record.seat_names, record.players)
    check_date(record.date)

    yield f"game: {game.name}"
    yield f"rules_version: {record.rules_version}"
    yield f"players: {record.players}"
    yield from (f"option {name}: {json.dumps(value)}" for name, value in options.items())
    if stream is None:
        yield f"chance: {_EXPLICIT}"
    else:
        yield f"seed: {stream[0]}"
        yield f"game_number: {stream[1]}"
    yield from (
        f"name {seat}: {printable(json.dumps(name, ensure_ascii=False))}" for seat, name in enumerate(record.seat_names)
    )
    if record.date:
        yield f"date: {record.date}"
    yield ""
    for kind, index, move in played.moves(position):
        before, seat = position.clone(), position.current_player()
        try:
            position.apply(move)
        except EngineError as error:
            error.lies_below(kind.value, index)
            raise
        if kind is Kind.OUTCOME:
            yield f"chance: {move}  # {before.outcome_label(move)}"
        else:
            yield f"{index + 1}. seat {seat}: {move}  # {before.action_label(move)}"
    yield f"{_OVER}  # {_result(position)}" if position.is_terminal() else _SO_FAR


def _options_of(options: Options, game: Game) -> dict[str, Any]:
    # Return the options by name. Raises EngineError (INVALID_OPTION).
    name = options.WhichOneof("game")
    if name is None:
        return {}
    if name != game.name:
        raise EngineError(engine.Reason.INVALID_OPTION, f"{name} options for a {game.name} game")
    found: dict[str, Any] = engine.codec(name).read_options(Reader(getattr(options, name)))
    return found


def _result(position: Position) -> str:
    winners = " and ".join(f"seat {seat}" for seat in position.winners() or [])
    return f"{winners} won; totals {' '.join(map(str, position.totals()))}"


def _message_of(error: EngineError, place: str) -> str:
    rule = f" ({error.rule})" if error.rule else ""
    return f"{place}{error.message}{rule}"


def _clipped(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTE_LENGTH else f"{text[:_MAX_QUOTE_LENGTH]}…")


def _content(line: str) -> str:
    # Return a line without its comment.
    return line.partition("#")[0].rstrip(" ")


class _Text:
    """A parser of the text of a record."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        # Editors may add a byte order mark, CRLF or spaces at the ends of lines.
        self._lines = [line.rstrip(" \r") for line in text.removeprefix("\ufeff").split("\n")]
        # The number of the current line, from 1.
        self._number = 0
        # The line number of each tag, and the value as written.
        self._tags: dict[str, tuple[int, str]] = {}

    def record(self) -> GameRecord:
        """Parse the whole text."""
        line = self._header()
        return self._moves(line, *self._beginning())

    def _fail(self, message: str, number: int | None = None) -> NoReturn:
        place = self._number if number is None else number
        raise MalformedRecordError(f"{self._source}, line {place}: {message}")

    def _next(self) -> str:
        """Return the next line that is neither empty nor a comment."""
        while self._number < len(self._lines):
            line = self._lines[self._number]
            self._number += 1
            if len(line) > _MAX_LINE_LENGTH:
                self._fail(f"a line has at most {_MAX_LINE_LENGTH} characters, not {len(line)}")
            if _CONTROL.search(line):
                self._fail("a control character")
            if line and not line.startswith("#"):
                return line
        self._fail(f"truncated: the last line must be {_OVER!r} or {_SO_FAR!r}")

    def _header(self) -> str:
        # Read the tags, and return the line after them.
        while True:
            line = self._next()
            found = None if _OUTCOME.match(line) else _TAG.fullmatch(line)
            if found is None:
                self._check_form(line)
                return line
            kind, word, value = found.groups()
            tag = kind if word is None else f"{kind} {word}"
            if tag in self._tags:
                self._fail(f"duplicate tag {tag!r}, first given in line {self._tags[tag][0]}")
            if kind not in (("option", "name") if word is not None else _TAGS):
                self._fail(f"unknown tag {_clipped(tag)}; tags are {', '.join(_TAGS)}, option NAME and name SEAT")
            self._tags[tag] = self._number, value

    def _beginning(self) -> tuple[GameRecord, Position]:
        game = self._of_engine(self._line("game"), engine.game, self._tag("game"))
        version = self._number_of("rules_version", 2**32 - 1)
        self._of_engine(self._line("rules_version"), game.check_rules_version, version)
        players = self._of_engine(self._line("players"), game.read_players, self._number_of("players", 2**32 - 1))
        record = GameRecord(game=game.name, rules_version=version, players=players)
        options = self._options()
        stream = self._stream()
        position = self._begin(Record(game, version, players, options, stream, (), ()))
        if options:
            own = getattr(record.options, game.name)
            own.SetInParent()
            fill(own, engine.codec(game.name).put_options, options)
        if stream is None:
            record.outcomes.CopyFrom(RecordOutcomes())
        else:
            record.stream.CopyFrom(RecordStream(seed=stream[0], game_number=stream[1]))
        self._read_names(record)
        if "date" in self._tags:
            record.date = self._tag("date")
            self._of_engine(self._line("date"), check_date, record.date)
        return record, position

    def _line(self, tag: str) -> int | None:
        return self._tags[tag][0] if tag in self._tags else None

    def _tag(self, tag: str) -> str:
        if tag not in self._tags:
            self._fail(f"no line '{tag}: …' before the moves")
        return self._tags[tag][1]

    def _number_of(self, tag: str, most: int) -> int:
        return self._integer(self._tag(tag), tag, most, self._line(tag))

    def _integer(self, text: str, what: str, most: int, number: int | None = None) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)) or int(text) > most:
            self._fail(f"{what} must be an integer from 0 to {most}, not {_clipped(text)}", number)
        return int(text)

    def _of_engine(self, number: int | None, function: Any, *arguments: Any) -> Any:
        """Call a function of the engine, and report its errors at line `number`."""
        try:
            return function(*arguments)
        except EngineError as error:
            self._fail(_message_of(error, ""), number)

    def _json(self, tag: str) -> Any:
        number, value = self._tags[tag]
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            self._fail(f"the value is not JSON: {_clipped(value)}", number)

    def _options(self) -> dict[str, Any]:
        return {tag.removeprefix("option "): self._json(tag) for tag in self._tags if tag.startswith("option ")}

    def _stream(self) -> tuple[int, int] | None:
        # Return the seed and the game number, or None for explicit chance.
        if "chance" not in self._tags and "seed" not in self._tags:
            self._fail(f"neither 'seed: …' nor 'chance: {_EXPLICIT}' before the moves")
        if "chance" not in self._tags:
            return self._number_of("seed", _MAX_U64), (
                self._number_of("game_number", _MAX_U64) if "game_number" in self._tags else 0
            )
        number, value = self._tags["chance"]
        if value != _EXPLICIT:
            self._fail(f"chance must be {_EXPLICIT!r}, not {_clipped(value)}", number)
        for tag in ("seed", "game_number"):
            if tag in self._tags:
                self._fail(f"explicit chance has no {tag}", self._line(tag))
        return None

    def _begin(self, record: Record) -> Position:
        try:
            return record.begin()
        except EngineError as error:
            name = error.field.partition("[")[0]
            self._fail(_message_of(error, ""), self._line(f"option {name}"))

    def _read_names(self, record: GameRecord) -> None:
        given = [tag for tag in self._tags if tag.startswith("name ")]
        if not given:
            return
        seats = [f"name {seat}" for seat in range(record.players)]
        for tag in given:
            if tag not in seats:
                self._fail(f"no such seat: seats are 0 to {record.players - 1}", self._line(tag))
        for tag in seats:
            if tag not in self._tags:
                self._fail(f"no line '{tag}: …': give the names of all seats, or none", self._line(given[-1]))
            name = self._json(tag)
            if not isinstance(name, str) or re.search("[\ud800-\udfff]", name):
                self._fail("a name must be a JSON string of valid characters", self._line(tag))
            record.seat_names.append(name)
            self._of_engine(self._line(tag), check_names, [name] * record.players, record.players)

    def _moves(self, line: str, record: GameRecord, position: Position) -> GameRecord:
        while True:
            content = _content(line)
            if content in (_OVER, _SO_FAR):
                break
            action, outcome = _ACTION.fullmatch(content), _OUTCOME.fullmatch(content)
            if position.is_terminal():
                self._fail(f"the game is over: the last line must be {_OVER!r}")
            if outcome is not None:
                move = self._integer(outcome[1], "an outcome", 2**32 - 1)
                if record.HasField("stream"):
                    self._fail("outcomes are not allowed: chance comes from the seed")
                if not position.is_chance_node():
                    self._fail(f"no chance event is pending: seat {position.current_player()} has to act")
                record.outcomes.outcomes.append(move)
            else:
                assert action is not None
                move = self._action(action, record, position)
                record.actions.append(move)
            self._of_engine(None, position.apply, move)
            line = self._next()
            self._check_form(line)
        if position.is_terminal() != (content == _OVER):
            self._fail("the game is over" if position.is_terminal() else "the game is not over yet")
        self._check_end()
        return record

    def _check_form(self, line: str) -> None:
        content = _content(line)
        if not (content in (_OVER, _SO_FAR) or _ACTION.fullmatch(content) or _OUTCOME.fullmatch(content)):
            self._fail(
                "a move must be 'NUMBER. seat SEAT: ID' or 'chance: OUTCOME', and the last line "
                f"{_OVER!r} or {_SO_FAR!r}, not {_clipped(content)}"
            )

    def _action(self, found: re.Match[str], record: GameRecord, position: Position) -> int:
        if position.is_chance_node():
            self._fail("an outcome is missing: a chance event is pending")
        number, seat, move = (self._integer(text, "a number", 2**32 - 1) for text in found.groups())
        if number != len(record.actions) + 1:
            self._fail(f"this is move {len(record.actions) + 1}, not {number}")
        if seat != position.current_player():
            self._fail(f"seat {position.current_player()} has to act, not seat {seat}")
        return move

    def _check_end(self) -> None:
        for number, line in enumerate(self._lines[self._number :], self._number + 1):
            if line:
                self._fail("text after the end of the record", number)
