"""A training run in a folder. The run can be stopped at any time, and resumes after its last complete iteration."""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import numpy as np

from chatiere import bots, engine
from chatiere.bots import Bot, IntegerNetworkBot
from chatiere.bots.network_file import NetworkFile
from chatiere.bots.trained import network_of
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs import TableEnv
from chatiere.training.curve import Point, measure, plot
from chatiere.training.network import FIRST, SECOND, Network, new_state
from chatiere.training.ppo import Learner

# The number of measurements in a run, not counting the measurement at the beginning.
_MEASUREMENTS = 20
# The factor by which the last measurement has more games than the other measurements.
_LAST = 4
# The search against which networks are measured.
_SEARCH = "flat:playouts=50"


class RunError(ValueError):
    """The folder contains another run, or files that are not a run."""


@dataclass(frozen=True)
class Setting:
    """The parameters of a run. The same parameters give the same network on the same machine."""

    game: str
    players: int
    decisions: int
    """The number of decisions to learn from. The last iteration may exceed this number."""
    games: int
    """The number of games of an iteration."""
    measure_games: int
    """The number of games against each opponent in a measurement."""
    seed: int
    against: str | None = None
    """The network against which to learn a best response, as a file's path or `trained`. None means self-play."""

    @property
    def given(self) -> dict[str, str | int]:
        """Return the parameters that were given, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    @property
    def command(self) -> str:
        """The command that starts a run with these parameters."""
        options = {name.replace("_", "-"): value for name, value in self.given.items()}
        return " ".join(["chatiere train", *(f"--{name} {value}" for name, value in options.items())])


class Run:
    """A run and its progress."""

    def __init__(self, setting: Setting, folder: Path) -> None:
        """Begin a run in a folder, or resume the run there.

        Raises:
            RunError: If the folder contains another run or an unreadable one, or the network of `Setting.against`
                cannot be played against.
            OSError: If a file cannot be read or written.
        """
        self.setting, self.folder = setting, folder
        self.iteration = self.decisions = 0
        self.seconds = 0.0
        """The processor time in seconds, including measurements."""
        self.curve: list[Point] = []
        # The contents of the network's file at the last measurement of self-play. Empty before the first measurement.
        self._past = b""
        game = engine.game(setting.game)
        network = Network(game, setting.players)
        parameters = network.new_parameters(setting.seed)
        seen = np.zeros(ObservationLayout(game.description).packed_size, np.uint8)
        self._against = None
        if setting.against is not None:
            try:
                self._against = network_of(setting.against, game, setting.players)
                self._against.require(game, setting.players)
                # A network trained against another begins as a copy of it, and only has to learn the improvements.
                parameters, seen = network.parameters_of(self._against.weights)
            except ValueError as error:
                raise RunError(f"{setting.against} cannot be played against: {error}") from error
        against = self._against and self._against.network()
        self._learner = Learner(network, parameters, new_state(parameters), seen, against)
        folder.mkdir(parents=True, exist_ok=True)
        if self._checkpoint.exists():
            self._load()

    @property
    def is_done(self) -> bool:
        """True once the run has learned from the requested number of decisions and has measured the result."""
        return self.decisions >= self.setting.decisions and len(self.curve) > 0 and self._is_measured

    def go_on(self, report: Callable[[int], object], say: Callable[[Point], object]) -> None:
        """Learn and measure until the run is done, and write the network, its card and the curve's picture.

        Args:
            report: A function that is called with the number of decisions made since its previous call. The first call
                gets the number of decisions made before the run was resumed.
            say: A function that is called with each point of the curve.

        Raises:
            OSError: If a file cannot be written.
        """
        setting = self.setting
        report(min(self.decisions, setting.decisions))
        with TableEnv(
            setting.game, setting.players, num_envs=setting.games, games=setting.games, features="packed", mask="bits"
        ) as env:
            while not self.is_done:
                begun = time.process_time()
                made = 0
                if not self._is_measured:
                    for point in self._measured():
                        say(point)
                        self.curve.append(point)
                else:
                    rate = 1 - self.decisions / setting.decisions
                    made = self._learner.learn(env, setting.seed * 2**20 + self.iteration, rate)
                    self.iteration += 1
                    self.decisions += made
                self.seconds += time.process_time() - begun
                self._save()
                report(made)
        self._write()

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "run.npz"

    @property
    def _is_measured(self) -> bool:
        # Return True if the curve has all points that should be measured by now.
        due = min(self.decisions * _MEASUREMENTS // self.setting.decisions, _MEASUREMENTS)
        last = self.curve[-1].decisions * _MEASUREMENTS // self.setting.decisions if self.curve else -1
        return min(last, _MEASUREMENTS) >= due

    def _opponents(self) -> dict[str, Bot]:
        setting = self.setting
        if self._against is not None:
            return {f"{setting.against} alone": IntegerNetworkBot(self._against)}
        # Choose the first of the game's own bots. They are listed after the bots for any game.
        own = next(name for name in bots.names(setting.game) if name not in ("random", "flat", "ismcts"))
        found = {name: bots.get(name, setting.game, setting.players) for name in ("random", own, _SEARCH)}
        if self._past:
            found["its previous network"] = IntegerNetworkBot(NetworkFile.from_bytes(self._past))
        return found

    def _measured(self) -> list[Point]:
        setting = self.setting
        file = self._learner.file()
        games = setting.measure_games * (_LAST if self.decisions >= setting.decisions else 1)
        # Use a different seed than for learning, because the network must not have learned from these games.
        seed = 2**63 + setting.seed
        bot, opponents = IntegerNetworkBot(file), self._opponents()
        points = list(measure(setting.game, setting.players, bot, opponents, games, self.decisions, seed))
        self._past = b"" if setting.against else file.to_bytes()
        return points

    def _save(self) -> None:
        told = {
            "setting": self.setting.given,
            "iteration": self.iteration,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "curve": [list(point) for point in self.curve],
        }
        learner = self._learner
        leaves = jax.tree.leaves((learner.parameters, learner.state))
        arrays: dict[str, Any] = {f"leaf_{number}": np.asarray(leaf) for number, leaf in enumerate(leaves)}
        # Replace the checkpoint in one step, so that a run stopped during this step keeps the last checkpoint.
        written = self._checkpoint.with_suffix(".new.npz")
        past = np.frombuffer(self._past, np.uint8)
        np.savez(written, told=np.array(json.dumps(told)), seen=learner.seen, past=past, **arrays)
        os.replace(written, self._checkpoint)

    def _load(self) -> None:
        try:
            with np.load(self._checkpoint) as found:
                told = json.loads(str(found["told"]))
                if told["setting"] != self.setting.given:
                    there = Setting(**told["setting"]).command
                    raise RunError(f"{self.folder} has another run: {there}")
                learner = self._learner
                kept, tree = jax.tree.flatten((learner.parameters, learner.state))
                leaves = [found[f"leaf_{number}"] for number in range(len(kept))]
                if [leaf.shape for leaf in leaves] != [leaf.shape for leaf in kept]:
                    raise RunError(f"{self.folder} has a run of another version, whose network has other layers")
                learner.parameters, learner.state = jax.tree.unflatten(tree, leaves)
                learner.seen = found["seen"]
                # Runs of earlier versions have no previous network.
                self._past = found["past"].tobytes() if "past" in found else b""
        except RunError:
            raise
        except (KeyError, TypeError, EOFError, ValueError, BadZipFile) as error:
            raise RunError(f"{self._checkpoint} is no run: {error}") from error
        self.iteration, self.decisions, self.seconds = told["iteration"], told["decisions"], told["seconds"]
        self.curve = [Point(*point) for point in told["curve"]]

    def _write(self) -> None:
        setting, title = self.setting, engine.game(self.setting.game).description.title
        file = self._learner.file()
        (self.folder / "network.net").write_bytes(file.to_bytes())
        plot(self.curve, f"{title}, {setting.players} players", self.folder / "curve.png")
        (self.folder / "card.md").write_text(self._card(title, len(file.to_bytes())), "utf-8")

    def _card(self, title: str, size: int) -> str:
        setting = self.setting
        opponents, games = setting.against or "itself", self.iteration * setting.games
        lines = [
            f"# A network for {title}, {setting.players} players",
            "",
            f"- Data: {self.decisions:,} decisions of {games:,} games against {opponents} alone",
            f"- Command: `{setting.command}`",
            f"- Seed: {setting.seed}",
            f"- Processor time: {self.seconds:,.0f} s ({self.seconds / 3600:.2f} hours), measurements included",
            f"- Method: proximal policy optimization with a bonus for indecision; {FIRST} and {SECOND} units",
            f"- Rules version {engine.game(setting.game).rules_version}; {size:,} bytes",
            "",
            "The network plays without a search: it evaluates each decision once, and takes the action with the",
            "highest logit. A shared win counts in parts.",
            "",
            "| decisions learned from | against | games | won | 95 % interval |",
            "| --- | --- | --- | --- | --- |",
        ]
        for point in self.curve:
            interval = f"{point.low:.1%} to {point.high:.1%}"
            lines.append(
                f"| {point.decisions:,} | {point.opponent} | {point.games:,} | {point.rate:.1%} | {interval} |"
            )
        return "\n".join([*lines, ""])
