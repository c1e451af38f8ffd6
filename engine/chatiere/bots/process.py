"""A bot in another process. The host and the process exchange lines of JSON (docs/bot_protocol.md)."""

import json
import os
import shlex
import signal
import subprocess
import threading
from base64 import b64encode
from collections import deque
from contextlib import suppress
from importlib.metadata import version
from itertools import count
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from google.protobuf import json_format
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, BotError, Decisions, Forfeit, Judgement
from chatiere.drawing import view_of
from chatiere.engine import Game
from chatiere.text import describe

PROTOCOL = 1
"""The version of the line protocol."""
WANTS = ("labels", "observation", "text", "view")
"""The parts of a decision that a program may request."""
RATINGS = ("shares", "values")
"""The ratings that a program may give."""
DECISIONS_PER_LINE = 256
"""The maximum number of decisions in a line."""
MAX_WORLDS = 10_000
"""The maximum number of worlds for each decision."""
# The maximum length in bytes of a program's line, and the number of lines of its error output that are kept and their
# maximum length.
_MAX_LINE, _LAST_LINES, _MAX_ERROR_LINE = 1 << 24, 10, 500
# The time in seconds in which a process should end after its input is closed.
_LAST_SECONDS = 1.0


class ProcessBot(Bot):
    """A program that plays by the line protocol. Several threads may use the bot; they take turns.

    The program starts when the bot is made. After a failure, it is started again for the next line.
    """

    def __init__(self, command: str, game: Game, players: int, seconds: float = 60.0) -> None:
        """Start the program, and exchange the first lines with it.

        Args:
            command: The command, split into words like a shell's. No shell runs it.
            game: The game to play.
            players: The number of players.
            seconds: The time limit for each line, above 0.

        Raises:
            ValueError: If `seconds` is not above 0.
            BotError: If the program cannot be started, or its first line breaks the protocol.
        """
        if not seconds > 0:
            raise ValueError(f"seconds must be a number above 0, not {seconds}")
        self._settings = command, game, players, seconds
        self._lock, self._numbers = threading.Lock(), count(1)
        self._program: _Program | None = _Program(command, game, players, seconds)
        self._greeting = greeting = self._program.greeting
        self.title, self.description = greeting.name or command, f"The program {command}."
        self.is_reproducible = greeting.is_reproducible
        self.needs_observations = "observation" in greeting.wants
        self.needs_worlds = bool(greeting.worlds or greeting.wants - {"observation"})

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments, so that a copy of the bot starts its own program."""
        command, game, players, seconds = self._settings
        return _made_again, (command, game.name, players, seconds)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose. Raises Forfeit if the program fails."""
        return self.judge(decisions).actions

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge. Raises Forfeit if the program fails."""
        offsets = decisions.legal_offsets
        actions = decisions.legal_ids[offsets[:-1]]
        ratings = {name: np.full(len(decisions.legal_ids), np.nan) for name in self._greeting.ratings}
        failures: list[str] = []
        failed: list[int] = []
        for first in range(0, len(decisions), DECISIONS_PER_LINE):
            rows = range(first, min(first + DECISIONS_PER_LINE, len(decisions)))
            legal = [decisions.legal_ids[offsets[row] : offsets[row + 1]].tolist() for row in rows]
            try:
                answer = self._ask(decisions, rows, legal)
            except BotError as error:
                failed += rows
                failures.append(str(error))
                continue
            for row, action, ids in zip(rows, answer["actions"], legal, strict=True):
                if action in ids:
                    actions[row] = action
                else:
                    failed.append(row)
                    failures.append(
                        f"bot cmd:{self._settings[0]}: action {action} is not legal at a decision of seat "
                        f"{decisions.actors[row]}; legal actions: {ids}"
                    )
            for name, found in ratings.items():
                given = [np.nan if each is None else each for numbers in answer[name] for each in numbers]
                found[offsets[rows[0]] : offsets[rows[-1] + 1]] = given
        nothing = np.empty(0)
        judgement = Judgement(actions, ratings.get("values", nothing), ratings.get("shares", nothing))
        if failed:
            raise Forfeit(failures[0], np.array(failed, np.intp), judgement)
        return judgement

    def _ask(self, decisions: Decisions, rows: range, legal: list[list[int]]) -> dict[str, Any]:
        # Return the program's valid answer to a line. Raises BotError.
        described = [_described(decisions, row, ids, self._greeting) for row, ids in zip(rows, legal, strict=True)]
        with self._lock:
            if self._program is None:
                self._program = _Program(*self._settings)
            program, number = self._program, next(self._numbers)
            line = {"type": "decide", "id": number, "seconds": self._settings[-1], "decisions": described}
            try:
                answer = program.exchange(line)
                _check_answer(answer, number, legal, self._greeting.ratings, self._settings[2])
            except _LineError as error:
                self._program = None
                raise program.failed(error) from error
        return answer


def _made_again(command: str, game: str, players: int, seconds: float) -> ProcessBot:
    return ProcessBot(command, engine.game(game), players, seconds)


def _described(decisions: Decisions, row: int, legal: list[int], greeting: "_Greeting") -> dict[str, Any]:
    # Return a decision as the program receives it.
    seat, wants = int(decisions.actors[row]), greeting.wants
    found: dict[str, Any] = {"seat": seat, "luck": str(decisions.luck[row]), "legal": legal}
    if "observation" in wants:
        found["observation"] = _base64(decisions.observations[row])
    if greeting.worlds:
        found["worlds"] = [_base64(world) for world in decisions.worlds([row], greeting.worlds)[0]]
    if wants - {"observation"}:
        # The seat knows the same in a drawn world as in the true state.
        world = decisions.game.unpack(decisions.drawn[row])
        if "labels" in wants:
            found["labels"] = [world.action_label(action) for action in legal]
        if "view" in wants:
            found["view"] = json_format.MessageToDict(view_of(world, seat))
        if "text" in wants:
            found["text"] = describe(world, seat)
    return found


def _base64(data: NDArray[np.uint8]) -> str:
    return b64encode(data.tobytes()).decode("ascii")


class _LineError(Exception):
    """A program did not answer a line, or its line breaks the protocol."""


def _require(fits: object, field: str, given: object, wanted: str) -> None:
    if not fits:
        raise _LineError(f"{field} must be {wanted}, not {json.dumps(given)[:100]}")


class _Greeting(NamedTuple):
    # A program's first line.
    name: str
    wants: set[str]
    worlds: int
    ratings: list[str]
    is_reproducible: bool

    @classmethod
    def read(cls, line: dict[str, Any]) -> "_Greeting":
        kind, protocol = line.get("type"), line.get("protocol")
        name, worlds, reproducible = line.get("name", ""), line.get("worlds", 0), line.get("reproducible", False)
        _require(kind == "hello", "type", kind, '"hello"')
        _require(protocol == PROTOCOL, "protocol", protocol, str(PROTOCOL))
        _require(isinstance(name, str) and len(name) <= 100, "name", name, "a text of at most 100 characters")
        _require(type(worlds) is int and 0 <= worlds <= MAX_WORLDS, "worlds", worlds, f"from 0 to {MAX_WORLDS}")
        _require(isinstance(reproducible, bool), "reproducible", reproducible, "true or false")
        for field, known in ("wants", WANTS), ("ratings", RATINGS):
            given = line.get(field, [])
            fits = isinstance(given, list) and all(each in known for each in given)
            _require(fits, field, given, f"a list of {', '.join(known)}")
        return cls(name, set(line.get("wants", ())), worlds, line.get("ratings", []), reproducible)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_answer(line: dict[str, Any], number: int, legal: list[list[int]], ratings: list[str], players: int) -> None:
    # Check everything except whether the actions are legal.
    _require(line.get("id") == number, "id", line.get("id"), str(number))
    actions = line.get("actions")
    fits = isinstance(actions, list) and len(actions) == len(legal) and all(type(each) is int for each in actions)
    _require(fits, "actions", actions, f"a list of {len(legal)} integers")
    shape = [len(ids) for ids in legal]
    for name in ratings:
        given: Any = line.get(name)
        lowest, highest = (-1, players - 1) if name == "values" else (0, 1)
        fits = isinstance(given, list) and [len(each) if isinstance(each, list) else -1 for each in given] == shape
        fits = fits and all(
            (type(each) in (int, float) and lowest <= each <= highest) or (each is None and name == "values")
            for numbers in given
            for each in numbers
        )
        _require(fits, name, given, f"lists of numbers from {lowest} to {highest}, one for each legal action")


class _Program:
    """A running program and its greeting."""

    def __init__(self, command: str, game: Game, players: int, seconds: float) -> None:
        self._command, self._seconds = command, seconds
        try:
            words = shlex.split(command)
            if not words:
                raise ValueError("the command is empty")
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise BotError(f"bot cmd:{command} cannot be started: {error}") from error
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._errors = threading.Thread(target=_keep_lines, args=(self._process.stderr, self._last_lines), daemon=True)
        self._errors.start()
        self._end = finalize(self, _end, self._process)
        try:
            self.greeting = _Greeting.read(
                self.exchange(
                    {
                        "type": "hello",
                        "protocol": PROTOCOL,
                        "version": version("chatiere"),
                        "game": game.name,
                        "players": players,
                        "actions": game.num_distinct_actions,
                        "observation_length": game.observation_length,
                        "packed_size": game.packed_size,
                    }
                )
            )
        except _LineError as error:
            raise self.failed(error) from error

    def exchange(self, line: dict[str, Any]) -> dict[str, Any]:
        """Send a line, and return the program's next line. Raises _LineError."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        # A killed process ends both the writing and the reading.
        is_late = threading.Event()
        limit = threading.Timer(self._seconds, _kill, [process, is_late])
        limit.start()
        try:
            process.stdin.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline(_MAX_LINE)
        except OSError:
            answer = b""
        finally:
            limit.cancel()
        if is_late.is_set():
            raise _LineError(f"no line within {self._seconds:g} s")
        if not answer.endswith(b"\n"):
            raise _LineError(self._why_no_line(answer))
        try:
            found = json.loads(answer, parse_constant=_refuse_constant)
        except ValueError as error:
            raise _LineError(f"a line of standard output is not JSON: {answer[:80]!r}") from error
        _require(isinstance(found, dict), "a line", found, "an object")
        return dict(found)

    def _why_no_line(self, answer: bytes) -> str:
        if len(answer) == _MAX_LINE:
            return f"a line is longer than {_MAX_LINE} bytes"
        with suppress(subprocess.TimeoutExpired):
            return f"the program ended with exit status {self._process.wait(_LAST_SECONDS)}"
        return "the program closed its output"

    def failed(self, error: _LineError) -> BotError:
        """End the program, and return the error with the last lines of its error output."""
        self._end()
        self._errors.join(_LAST_SECONDS)
        told = "".join(f"\n  {line}" for line in self._last_lines)
        return BotError(f"bot cmd:{self._command}: {error}" + (f"; its last lines:{told}" if told else ""))


def _keep_lines(stream: Any, lines: deque[str]) -> None:
    with stream:
        while line := stream.readline(_MAX_ERROR_LINE):
            lines.append(line.decode(errors="replace").rstrip())


def _end(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        with suppress(OSError):
            stream.close()
    try:
        process.wait(_LAST_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(process, threading.Event())
        process.wait()


def _kill(process: "subprocess.Popen[bytes]", is_late: threading.Event) -> None:
    is_late.set()
    # Kill the process's own children too, because they could keep its output open.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
