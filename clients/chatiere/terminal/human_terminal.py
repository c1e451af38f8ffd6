"""A game played in a terminal: the output, and the commands that people can type.

The output contains only information that the seat at the screen may know.
"""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from chatiere.clients import records
from chatiere.clients.calls.errors import ChatiereError
from chatiere.drawing import DRAWINGS
from chatiere.terminal.human_match import ADVISER, HumanMatch
from chatiere.terminal.line_input import LineInput
from chatiere.terminal.lines import event_lines, result_lines
from chatiere.v1.game_pb2 import Action, GameInfo

_ROWS = 12
_HINTS = 5
# More cards than any move draws.
_DEAL = 12
# Clears the screen and the scrollback buffer.
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
# Positions before spaces, and positions before spaces outside brackets. The bracket in a style's escape sequence does
# not count.
_SPACES = re.compile("(?<! )(?= )")
_OUTSIDE_BRACKETS = re.compile(_SPACES.pattern + r"(?!(?:\x1b\[|[^\[])*\])")
_HELP = """\
  a number        make the move with this number
  words           make the move whose text has these words in this order;
                  beginnings of words are enough
  moves [WORDS]   list the moves, or the moves with these words
  more            list more moves
  table           show the table again
  hint            ask a bot that knows only what you know
  undo            return to your previous decision, and undo all moves since
  save [FILE]     write the game to a file, to continue it later
  quit            leave the game; Ctrl-D and Ctrl-C also leave
In a terminal, Tab completes, and the up arrow recalls what you typed."""


class _Left(Exception):
    """Raised when a person quits."""


class Move(NamedTuple):
    """A legal action and its number in the lists shown to people, from 1."""

    number: int
    action: Action


def find(text: str, moves: Sequence[Move], *, unfinished: bool = False) -> list[Move]:
    """Return the moves that the player's text may mean, in their order.

    If labels equal the text, return the moves with these labels. Otherwise, return the moves whose labels contain all
    words of the text in order. If no label contains the words, return the moves whose labels contain words that begin
    with the words of the text, in order. Numbers must match as a whole.

    Args:
        text: The text.
        moves: The moves to search.
        unfinished: True to match beginnings of words in any case, including a number at the end of the text.
    """
    typed = _words(text)
    if not typed:
        return []
    labels = [(move, _words(move.action.label)) for move in moves]
    if not unfinished:
        exact = [move for move, label in labels if label == typed]
        if exact:
            return exact
        whole = [move for move, label in labels if _in_order(typed, label, str.__eq__)]
        if whole:
            return whole
        return [move for move, label in labels if _in_order(typed, label, _begins)]
    *before, last = typed
    return [
        move
        for move, label in labels
        if any(word.startswith(last) and _in_order(before, label[:place], _begins) for place, word in enumerate(label))
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _in_order(wanted: Sequence[str], words: Sequence[str], fits: Callable[[str, str], bool]) -> bool:
    rest = iter(words)
    return all(any(fits(word, each) for word in rest) for each in wanted)


def _begins(word: str, beginning: str) -> bool:
    return word == beginning or (word.startswith(beginning) and not beginning.isdecimal())


def fit(line: str, width: int) -> Iterator[str]:
    """Break a styled line at spaces into lines of at most `width` characters, as far as possible.

    Text in brackets is kept together if possible.
    """
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    kept = ""
    for part in _OUTSIDE_BRACKETS.split(line):
        for word in _SPACES.split(part) if len(indent) + _length(part) > width else [part]:
            if kept and _length(kept + word) > width:
                yield kept
                kept = indent + word.lstrip()
            else:
                kept += word
    yield kept


def _length(styled: str) -> int:
    return len(click.unstyle(styled))


class HumanTerminal:
    """The user interface for people who play at one terminal, against bots or each other."""

    def __init__(
        self, match: HumanMatch, info: GameInfo, names: Sequence[str], lines: LineInput, path: Path | None = None
    ) -> None:
        """Create the user interface for a match. A match with several people needs a terminal.

        Args:
            match: The match.
            info: The description of the game.
            names: The names, one for each seat.
            lines: The source of input lines.
            path: The file from which the match was resumed, if any.
        """
        self._match = match
        self._info = info
        self._names = names
        self._lines = lines
        self._path = path
        # The actions stored in the file.
        self._saved = None if path is None else list(match.record().actions)
        self._viewer = match.people[0]
        self._is_shared = len(match.people) > 1
        # True if the viewer is at the screen. Several people change places before each turn.
        self._is_present = not self._is_shared
        # For each seat, the number of decisions whose events have been shown.
        self._shown = {seat: match.last_decision(seat) + 1 for seat in match.people}
        self._is_stale = True
        self._rest: Sequence[Move] = ()
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "hint": self._hint,
            "more": self._more,
            "moves": self._list_moves,
            "quit": self._quit,
            "save": self._save,
            "table": self._show,
            "undo": self._undo,
        }

    def run(self) -> None:
        """Play until a person quits or the input ends."""
        self._say(click.style(f"{self._info.title}, {len(self._names)} players", bold=True))
        for seat, name in enumerate(self._names):
            self._say(f"  seat {seat}: {name}{' (you)' if [seat] == self._match.people else ''}")
        try:
            while True:
                self._advance()
        except _Left:
            pass
        except (EOFError, KeyboardInterrupt):
            self._say("")
        self._say_how_to_go_on()

    def _advance(self) -> None:
        match = self._match
        if not self._is_shared:
            self._show_events()
        if match.seat in match.bots:
            try:
                match.play_bot()
                self._is_stale = True
            except ChatiereError as error:
                self._say(f"{error}. Enter tries again.")
                self._obey(self._read(f"Move {match.decisions + 1}> "))
            return
        if match.seat is not None and match.seat != self._viewer:
            self._viewer, self._is_present = match.seat, False
        if not self._is_present:
            self._change_places()
        if self._is_stale:
            self._show_events()
            self._show("")
        prompt = "Game over> " if match.seat is None else f"Move {match.decisions + 1}, seat {match.seat}> "
        self._obey(self._read(prompt))

    def _change_places(self) -> None:
        click.echo(_CLEAR, nl=False)
        self._read(f"Seat {self._viewer}, press Enter when no one else can see the screen> ")
        click.echo(_CLEAR, nl=False)
        self._is_present = self._is_stale = True

    def _read(self, prompt: str) -> str:
        return self._lines.read(prompt, self._complete, self._viewer)

    def _complete(self, typed: str) -> list[str]:
        if not typed.strip():
            return []
        commands = [command for command in self._commands if command.startswith(typed)]
        return commands + [move.action.label for move in find(typed, self._moves(), unfinished=True)]

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        try:
            if word in self._commands:
                self._commands[word](rest.strip())
            elif line:
                self._make_move(line)
        except ChatiereError as error:
            self._say(f"{error}. The game is unchanged: try again, or save it.")

    def _moves(self) -> list[Move]:
        # Return the moves of the person at the screen.
        if self._match.seat != self._viewer:
            return []
        return [Move(number, action) for number, action in enumerate(self._match.position.legal_actions, 1)]

    def _make_move(self, line: str) -> None:
        moves = self._moves()
        if not moves:
            self._say("There is no move to make now: undo, save FILE, quit or help.")
            return
        if re.fullmatch("[0-9]+", line):
            found = [move for move in moves if str(move.number) == line]
            if not found:
                self._say(f"There is no move {line}: their numbers are 1 to {len(moves)}.")
                return
        else:
            found = find(line, moves)
        if len(found) == 1:
            self._match.apply(found[0].action)
            self._is_stale = True
        elif found:
            self._say(f"{len(found)} moves have these words. Type a number, or more of the words:")
            self._list(found)
        else:
            self._say(f"No move has the words “{line}”. Type moves to list them, or help.")

    def _help(self, rest: str) -> None:
        for line in _HELP.splitlines():
            self._say(line)

    def _hint(self, rest: str) -> None:
        moves = {move.action.id: move for move in self._moves()}
        if not moves:
            self._say("There is no move to advise on.")
            return
        found = self._match.hint()
        players = len(self._names)
        self._say(f"{ADVISER}, with your information, would {found.action.label}:")
        for rating in sorted(found.ratings, key=lambda rating: rating.share, reverse=True)[:_HINTS]:
            number, action = moves[rating.id]
            # A return is players × (share of a win) - 1.
            wins = f"{(rating.value + 1) / players:.0%}" if rating.HasField("value") else "?"
            self._say(f"  {number:>3}  {action.label}: wins {wins}, {rating.share:.0%} of the search")

    def _list_moves(self, rest: str) -> None:
        moves = find(rest, self._moves(), unfinished=True) if rest else self._moves()
        if moves:
            self._list(moves)
        else:
            self._say(f"No move has the words “{rest}”." if rest else "There is no move to make now.")

    def _list(self, moves: Sequence[Move]) -> None:
        self._rest = moves
        self._more("")

    def _more(self, rest: str) -> None:
        if not self._rest:
            self._say("There are no more moves to list. Type moves to start again.")
            return
        cells = [f"{move.number:>3}  {move.action.label}" for move in self._rest]
        widest = max(map(len, cells)) + 2
        columns = max(1, (self._width() - 2) // widest)
        rows = min(_ROWS, -(-len(cells) // columns))
        shown = cells[: rows * columns]
        for row in range(rows):
            self._say("  " + "".join(cell.ljust(widest) for cell in shown[row::rows]).rstrip())
        self._rest = self._rest[len(shown) :]
        if self._rest:
            self._say(f"  and {len(self._rest)} more: type more, or moves WORDS to list moves with these words")

    def _quit(self, rest: str) -> None:
        raise _Left

    def _save(self, rest: str) -> None:
        path = Path(rest) if rest else self._path
        if path is None:
            self._say("Name the file: save FILE.")
            return
        record = self._match.record()
        try:
            if path != self._path and path.exists():
                self._say(f"There is a {path} already: choose another name.")
                return
            records.write_record(path, record)
        except (OSError, ValueError) as error:
            self._say(f"Cannot write the file: {error}. Choose another name.")
            return
        self._path, self._saved = path, list(record.actions)
        self._say(f"Saved in {path}. It contains hidden information: do not read it before the end.")

    def _undo(self, rest: str) -> None:
        if not self._match.undo():
            self._say("You have no decision to take back.")
            return
        count = self._match.decisions + 1
        self._shown = {seat: min(shown, count) for seat, shown in self._shown.items()}
        self._say(f"Back to move {count}.")
        self._is_stale = True

    def _show_events(self) -> None:
        count = self._match.decisions + 1
        for decisions in range(self._shown[self._viewer], count):
            events = self._match.events(self._viewer, decisions)
            hidden = [event for event in events if not event.everybody]
            if len(hidden) > _DEAL:
                # The table shows the cards of a deal.
                events = [event for event in events if event.everybody]
            for line in event_lines(events):
                self._say(line)
        self._shown[self._viewer] = count

    def _show(self, rest: str) -> None:
        # Show the table, with the moves or the result.
        self._is_stale = False
        match = self._match
        drawing = DRAWINGS.get(self._info.name)
        self._say("")
        if match.seat is not None:
            self._say(click.style(f"Move {match.decisions + 1}: seat {match.seat}, your turn", fg="cyan", bold=True))
        if drawing is not None:
            view = getattr(match.view(self._viewer), self._info.name)
            for line in drawing.draw_table([view] * len(self._names)):
                self._say(line)
        if match.seat is not None:
            prompt = match.view(self._viewer).prompt.label
            self._say(click.style(f"{prompt[:1].upper()}{prompt[1:]}.", bold=True))
            self._list_by_kind()
            return
        self._say("")
        self._say(click.style("Result", bold=True))
        for line in result_lines(self._info, self._names, match.position.score):
            self._say(line)
        self._say(f"The seed was {match.record().stream.seed}.")

    def _list_by_kind(self) -> None:
        moves = self._moves()
        kinds = []
        for kind in self._info.action_kinds:
            numbers = [str(move.number) for move in moves if kind.first_id <= move.action.id <= kind.last_id]
            if numbers:
                kinds.append(f"{'-'.join(dict.fromkeys([numbers[0], numbers[-1]]))} {kind.name}")
        self._say(f"Moves: {', '.join(kinds)}")
        self._list(moves)

    def _say_how_to_go_on(self) -> None:
        if self._saved is None or self._path is None:
            self._say("The game was not saved.")
            return
        if self._saved != list(self._match.record().actions):
            self._say("Moves made since you saved the game are not in the file.")
        self._say(f"To continue: chatiere play --resume {shlex.quote(str(self._path))}")

    def _say(self, line: str) -> None:
        for part in fit(line, self._width()):
            click.echo(part)

    def _width(self) -> int:
        return shutil.get_terminal_size().columns
