"""Puzzles: positions from games of strong bots in which one action is much better than every other action.

The results are written to a file after each game, so that a search can be stopped and resumed. The web page shows the
puzzles in these files.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.bots import Bot
from chatiere.bots.games import GAME_BOTS
from chatiere.bots.hosting import choose, decisions_at, judge, luck
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.ladder import ladder
from chatiere.bots.version import BOTS_VERSION
from chatiere.engine import Position
from chatiere.engine.whole_files import write_whole

MARGIN = 0.25
"""The minimum difference between the returns of a puzzle's best and second-best actions."""
# The bounds on the number of legal actions in a puzzle.
_MIN_ACTIONS, _MAX_ACTIONS = 4, 40
# The number of full searches of a position, and the number by which the simulations are divided for a quick search. A
# position is searched fully only if the quick search finds a puzzle there.
_SEARCHES = 3
_QUICK_PART = 10
# The number of quick choices that measure a puzzle's difficulty, the playouts for each action in a quick choice, and
# the length of the line that refutes a wrong move.
_CHOICES, _GLANCE, _LINE = 100, 4, 4
# The same value as in web/pages/record_link.js.
_MARK, _SIZE_BITS, _LENGTH_BITS = "~", 6, 16


class PuzzlesError(ValueError):
    """The file contains the puzzles of another search."""


class Puzzles:
    """The puzzles found so far for a game, stored in a file. Each game played yields at most one puzzle."""

    def __init__(self, game: str, players: int, seed: int, simulations: int, path: Path, *, easy: bool = False) -> None:
        """Read the file, if it exists.

        Args:
            game: The name of the game.
            players: The number of players.
            seed: The seed of the games and of the searches, 0 … 2**64 - 1.
            simulations: The number of simulations for each action in each full search.
            path: The file of the puzzles.
            easy: True to include puzzles that the game's own bot solves.

        Raises:
            PuzzlesError: If the file contains the puzzles of another search.
            OSError: If the file cannot be read.
        """
        self._game, self._players, self._path = engine.game(game), players, path
        self._seed, self._simulations, self._easy = seed, simulations, easy
        self._bot_name = ladder(self._game)[-1].bot_for(players)
        setting = {
            "game": game,
            "players": players,
            "seed": seed,
            "bot": self._bot_name,
            "simulations": simulations,
            "searches": _SEARCHES,
            "margin": MARGIN,
            "easy": easy,
            "package_version": version("chatiere"),
            "rules_version": self._game.rules_version,
            "bots_version": BOTS_VERSION,
        }
        self._kept: dict[str, Any] = {"setting": setting, "games": 0, "puzzles": []}
        if path.exists():
            try:
                self._kept = json.loads(path.read_bytes())
                found = self._kept["setting"]
            except (ValueError, TypeError, KeyError) as error:
                raise PuzzlesError(f"{path} is no file of puzzles") from error
            if found != setting:
                raise PuzzlesError(f"{path} is of another search: {found}, not {setting}")

    @property
    def games(self) -> int:
        """The number of games searched for puzzles so far."""
        games: int = self._kept["games"]
        return games

    @property
    def puzzles(self) -> list[dict[str, Any]]:
        """The puzzles, as in the file. Each puzzle has six items.

        - `record`: the moves up to the position, in the encoding of the web page's links.
        - `seat`: the seat whose turn it is.
        - `actions`: the legal actions, the best first, with the mean return of each over the searches.
        - `margin`: the smallest difference between the best and the second-best action in any of the searches.
        - `wrong` and `line`: see `explain`.
        """
        puzzles: list[dict[str, Any]] = self._kept["puzzles"]
        return puzzles

    def look_through_next(self) -> bool:
        """Play the next game and look for a puzzle in it. Return True if a puzzle was found."""
        number = self.games
        bot = bots.get(self._bot_name, self._game, self._players)
        positions, actions = self._play(bot, number)
        plies = np.arange(len(positions))
        # Try the decisions in a random order, so that puzzles come from all parts of games.
        for ply in np.argsort(self._luck(_SEARCHES + 2, number, plies)).tolist():
            found = self._look(positions[ply], number, ply)
            if found is not None:
                self.puzzles.append({"record": self._record_word(number, actions[:ply]), **found})
                break
        self._kept["games"] = number + 1
        self._save()
        return found is not None

    def _play(self, bot: Bot, number: int) -> tuple[list[Position], list[int]]:
        # Return the positions of all decisions of a game, and the actions chosen there.
        position = self._game.new_game(self._players, seed=self._seed, game_number=number)
        positions: list[Position] = []
        actions: list[int] = []
        while not position.is_terminal():
            drawn = int(self._luck(0, number, np.array([len(actions)]))[0])
            action = int(choose(bot, decisions_at(position, bot, drawn))[0])
            positions.append(position.clone())
            actions.append(action)
            position.apply(action)
        return positions, actions

    def _look(self, position: Position, number: int, ply: int) -> dict[str, Any] | None:
        purposes = (*range(1, _SEARCHES + 2), _SEARCHES + 3)
        lucks = (int(self._luck(purpose, number, np.array([ply]))[0]) for purpose in purposes)
        return find(position, self._simulations, lucks, easy=self._easy)

    def _luck(self, purpose: int, number: int, plies: NDArray[np.int64]) -> NDArray[np.uint64]:
        return luck((self._seed + purpose) % 2**64, np.full(len(plies), number), plies)

    def _record_word(self, number: int, actions: Sequence[int]) -> str:
        begun = {
            "game": self._game.name,
            "rulesVersion": self._game.rules_version,
            "players": self._players,
            "stream": {"seed": str(self._seed), "gameNumber": str(number)},
        }
        text = json.dumps(begun, separators=(",", ":")).encode()
        bits = _bits_of(actions) + _bits_of([])
        moves = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8))
        data = len(text).to_bytes(2) + text + moves
        return _MARK + urlsafe_b64encode(data).rstrip(b"=").decode()

    def _save(self) -> None:
        # Each puzzle is one line of the file.
        head = {name: value for name, value in self._kept.items() if name != "puzzles"}
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in self.puzzles)
        text = f'{json.dumps(head)[:-1]}, "puzzles": [\n{lines}\n]}}\n'
        write_whole(self._path, text.encode())


def find(position: Position, simulations: int, lucks: Iterator[int], *, easy: bool = False) -> dict[str, Any] | None:
    """Return a position as a puzzle (see `Puzzles.puzzles`) without `record`, or None if it is not a puzzle.

    One quick search and then three full searches must agree on an action that is better than all other actions by
    MARGIN. The searches use only the knowledge of the seat whose turn it is.

    Args:
        position: The position.
        simulations: The number of simulations for each action in each full search.
        lucks: A random number for each search and one for `explain`, independent of the game.
        easy: True to include puzzles that the game's own bot solves. Otherwise, the best action must differ from the
            choice of that bot, which does not search.
    """
    count = len(position.legal_actions())
    if not _MIN_ACTIONS <= count <= _MAX_ACTIONS:
        return None
    own = bots.get(next(iter(GAME_BOTS[position.game.name])), position.game, position.num_players())
    quick = max(1, simulations // _QUICK_PART)
    best = -1
    found = []
    for each in (quick, *[simulations] * _SEARCHES):
        bot = IsmctsBot(simulations=each * count, even=True)
        number = next(lucks)
        decisions = decisions_at(position, bot, number)
        values = judge(bot, decisions).values
        first, second = np.argsort(-values, kind="stable")[:2].tolist()
        if values[first] - values[second] < MARGIN or best not in (-1, first):
            return None
        if best < 0 and not easy:
            (glance,) = choose(own, decisions_at(position, own, number))
            if decisions.legal_ids[first] == glance:
                return None
        best = first
        found.append(values)
    thorough = np.array(found[1:])
    means = thorough.mean(axis=0)
    order = np.argsort(-means, kind="stable").tolist()
    others = np.delete(thorough, best, axis=1)
    return {
        "seat": position.current_player(),
        "actions": [[int(decisions.legal_ids[place]), round(float(means[place]), 2)] for place in order],
        "margin": round(float((thorough[:, best] - others.max(axis=1)).min()), 3),
        **explain(position, [int(decisions.legal_ids[place]) for place in order], quick, next(lucks)),
    }


def explain(position: Position, actions: Sequence[int], simulations: int, number: int) -> dict[str, Any]:
    """Return the difficulty of a puzzle, and the reason why its natural wrong move is wrong.

    A quick choice is made after four playouts for each action. The natural wrong move is the wrong move of most quick
    choices, or the second-best action if all quick choices are right.

    Args:
        position: The position.
        actions: The legal actions, the best first.
        simulations: The number of simulations for each action in a search.
        number: A random number, independent of the game.

    Returns:
        `wrong`, the share of quick choices that are wrong, and `line`, which has the natural wrong move and the moves
        that a search makes after it.
    """
    glance = IsmctsBot(simulations=_GLANCE * len(actions), even=True)
    numbers = range(number, number + _CHOICES)
    chosen = [int(choose(glance, decisions_at(position, glance, each % 2**64))[0]) for each in numbers]
    wrong = [action for action in chosen if action != actions[0]]
    line = [max(actions[1:], key=wrong.count)]
    after = position.child(line[0])
    while len(line) < _LINE and not after.is_terminal():
        bot = IsmctsBot(simulations=simulations * len(after.legal_actions()))
        line.append(int(choose(bot, decisions_at(after, bot, number))[0]))
        after.apply(line[-1])
    return {"wrong": len(wrong) / _CHOICES, "line": line}


def _bits_of(numbers: Sequence[int]) -> str:
    size = max(*numbers, 1, 1).bit_length()
    return f"{size:0{_SIZE_BITS}b}{len(numbers):0{_LENGTH_BITS}b}" + "".join(f"{each:0{size}b}" for each in numbers)
