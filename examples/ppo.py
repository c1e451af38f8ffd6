"""Learn a game by proximal policy optimization (Schulman et al., 2017), in PyTorch.

    pip install torch tensorboard
    python examples/ppo.py --game discat --output build/ppo
    tensorboard --logdir build/ppo

Most games are played by the network against itself, and the others against past selves and rungs of the game's ladder.
The same command continues a run that was stopped, in the middle of the games. The results are in examples/README.md.
"""

import os
import pickle
import time
from collections import namedtuple
from copy import deepcopy
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from chatiere import bots, engine
from chatiere.arena.matches import Results, play_many, wilson_interval
from chatiere.bots import NetworkBot, hosting
from chatiere.bots.ladder import ladder
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs import Batch, TableEnv

UNITS, SECOND = 128, 64
LEARNING_RATE, ENTROPY_BONUS, CLIP, TRACE = 1e-3, 0.03, 0.2, 0.95
EPOCHS, MINIBATCH = 3, 2048
# Of 32 environments in a row, the first 4 play against a past self, and the next against a rung of the ladder.
PAST, RUNG = 4, 5
# The number of past selves, the iterations between them and between measurements, the games of a measurement, and the
# largest time of a rung's decision in seconds.
POOL, EVERY, MEASURED, SLOWEST = 8, 8, 1000, 0.001
# A count at its maximum has the effect of this number of flags. A lead counts up to this number of deviations.
COUNT, LEAD = 12.0, 3.0


class Policy(nn.Module):
    """A network that maps observations to logits of actions and the expected return."""

    def __init__(self, game: engine.Game) -> None:
        """Create an untrained network."""
        super().__init__()
        self.layout = ObservationLayout(game.description)
        packed = (np.arange(self.layout.packed_size) < self.layout.num_counts).astype(np.uint8)
        self.scales = np.where(self.layout.unpacked(packed) > 0, np.float32(COUNT), np.float32(1))
        self.first = nn.EmbeddingBag(self.layout.num_features, UNITS, mode="sum", include_last_offset=True)
        nn.init.normal_(self.first.weight, std=0.05)
        self.bias = nn.Parameter(torch.full((UNITS,), 0.25))
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(UNITS, SECOND), nn.ReLU())
        self.plays = game.name == "discat"
        self.rows = nn.Linear(SECOND, 3 * 90 + 7 if self.plays else game.num_distinct_actions)
        self.value = nn.Linear(SECOND, 1)
        nn.init.zeros_(self.rows.weight)
        if self.plays:
            # A play's dense id has the slot of the top card in the sorted hand, and a mask of the other slots.
            tops, masks = np.divmod(np.arange(6 << 5), 1 << 5)
            slots = np.arange(6)[:, None]
            others = (slots != tops) & (masks >> slots - (slots > tops) & 1 == 1)
            counts = slots == others.sum(axis=0)
            for name, matrix in (("top", slots == tops), ("others", others), ("counts", counts)):
                self.register_buffer(name, torch.from_numpy(matrix.astype(np.float32)), persistent=False)

    def forward(self, observations: NDArray[np.uint8], masks: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Return the logarithms of probabilities, with the legal actions given as bits, and the expected returns."""
        offsets, numbers, values = self.layout.sparse(observations)
        weights = torch.from_numpy(values * self.scales[numbers])
        inputs = self.first(torch.from_numpy(numbers), torch.from_numpy(offsets), per_sample_weights=weights)
        hidden = self.body(inputs + self.bias)
        logits = self.rows(hidden)
        if self.plays:
            logits = self.card_logits(logits, observations)
        is_legal = np.unpackbits(masks, axis=1, count=logits.shape[1], bitorder="little").view(np.bool_)
        logits = logits.masked_fill(torch.from_numpy(~is_legal), -1e9)
        return torch.log_softmax(logits, dim=1), self.value(hidden)[:, 0]

    def card_logits(self, rows: Tensor, observations: NDArray[np.uint8]) -> Tensor:
        """Return logits as sums of rows for the cards that an action plays, instead of a row for each action."""
        tops, others, exchanges, counts, keep = rows.split((90, 90, 90, 6, 1), dim=1)
        # The observation begins with a flag for each card of the own hand.
        hand = torch.from_numpy(observations[:, :90] * np.arange(90, 0, -1, dtype=np.uint8))
        found = hand.topk(6, dim=1).values.long()
        cards, held = (90 - found) % 90, found > 0
        top, other, exchange = (each.gather(1, cards) * held for each in (tops, others, exchanges))
        return torch.cat([top @ self.top + other @ self.others + counts @ self.counts, keep, exchange], dim=1)


Step = namedtuple("Step", "envs actors observations masks actions logarithms values")
"""Decisions of the network: columns with a row for each decision."""


def rows_of(step: Step, rows: Any) -> Step:
    """Return some of the decisions."""
    return Step(*(column[rows] for column in step))


class Run:
    """A run of training. A checkpoint is a pickled run, with environments in the middle of their games."""

    def __init__(self, name: str, num_envs: int, decisions: int, seed: int) -> None:
        """Begin a run with the game's smallest number of players."""
        torch.manual_seed(seed)
        self.game, self.budget, self.random = engine.game(name), decisions, np.random.default_rng(seed)
        players = self.game.min_players
        self.policy = Policy(self.game)
        self.optimizer = torch.optim.Adam(self.policy.parameters())
        self.rungs = [rung.bot_for(players) for rung in ladder(self.game) if rung.seconds <= SLOWEST]
        self.pool: list[Policy] = []
        self.env = TableEnv(name, players, num_envs, seed=seed, observations=True, mask="bits")
        self.batch = self.env.reset()
        self.steps: list[tuple[Any, ...]] = []
        self.iteration, self.decisions, self.seconds = 0, 0, 0.0

    def decide(self, policy: Policy, batch: Batch, rows: NDArray[np.intp]) -> Step:
        """Draw actions from a policy at some rows of a batch."""
        observations, masks = batch.observations[rows], batch.mask[rows]
        with torch.no_grad():
            logarithms, values = policy(observations, masks)
            sums = logarithms.double().exp().cumsum(dim=1)
            drawn = torch.from_numpy(self.random.random((len(rows), 1))) * sums[:, -1:]
            actions = (sums <= drawn).sum(dim=1, keepdim=True)
            made = actions[:, 0].numpy(), logarithms.gather(1, actions)[:, 0].numpy(), values.numpy()
        return Step(batch.envs[rows], batch.actors[rows], observations, masks, *made)

    def play(self) -> None:
        """Play until as many games have ended as there are environments, and store the network's decisions."""
        past = self.pool[self.random.integers(len(self.pool))]
        rung = bots.get(self.rungs[self.random.integers(len(self.rungs))], self.game, self.env.players)
        players, games = self.env.players, 0
        while games < self.env.num_envs:
            batch = self.batch
            actions = np.empty(len(batch), np.intp)
            kinds = batch.envs // players % 32
            is_own = (kinds >= RUNG) | (batch.game_numbers % players == batch.actors)
            step = self.decide(self.policy, batch, np.flatnonzero(is_own))
            actions[is_own] = step.actions
            if len(rows := np.flatnonzero(~is_own & (kinds < PAST))):
                actions[rows] = self.decide(past, batch, rows).actions
            if len(rows := np.flatnonzero(~is_own & (kinds >= PAST))):
                luck = hosting.luck(batch.seed, batch.game_numbers[rows], batch.decisions[rows])
                asked = hosting.decisions_of(batch, rows, rung, self.game, players, luck, self.env.resample)
                actions[rows] = hosting.choose(rung, asked)
            self.batch = self.env.step(actions)
            ended = self.batch.ended
            games += len(ended.envs)
            self.steps.append((step, ended.envs, ended.returns, ended.totals))

    def experience(self, rate: float) -> tuple[Step, NDArray[np.float32], NDArray[np.float32]]:
        """Return the decisions of games that ended, advantages and outcomes: returns, and leads with weight `rate`."""
        leads = [totals - totals.mean(axis=1, keepdims=True) for *_, totals in self.steps]
        scale = max(np.concatenate(leads).std(), 1e-8) * (-1 if self.game.description.lowest_total_wins else 1)
        outcomes, expected, later = np.zeros((3, self.env.num_envs, self.env.players), np.float32)
        is_over = np.zeros(self.env.num_envs, np.bool_)
        found, kept = [], []
        for (step, envs, returns, totals), lead in zip(reversed(self.steps), reversed(leads), strict=True):
            outcomes[envs] = expected[envs] = (1 - rate) * returns + rate * (lead / scale).clip(-LEAD, LEAD)
            is_over[envs], later[envs] = True, 0
            seats = step.envs, step.actors
            later[seats] = expected[seats] - step.values + TRACE * later[seats]
            expected[seats] = step.values
            over = is_over[step.envs]
            found.append((*rows_of(step, over), later[seats][over], outcomes[seats][over]))
            # None of the games of the kept decisions ended at this step or before.
            kept.append((rows_of(step, ~over), envs[:0], returns[:0], totals[:0]))
        self.steps = [each for each in reversed(kept) if len(each[0].envs)]
        *columns, advantages, outcomes = map(np.concatenate, zip(*found, strict=True))
        return Step(*columns), advantages, outcomes

    def learn(self) -> dict[str, float]:
        """Play and learn once, and return figures for the log."""
        begun = time.process_time()
        if self.iteration % EVERY == 0:
            self.pool = [*self.pool[-POOL + 1 :], deepcopy(self.policy)]
        self.play()
        rate = max(1 - self.decisions / self.budget, 0.02)
        step, advantages, outcomes = self.experience(rate)
        self.optimizer.param_groups[0]["lr"] = rate * LEARNING_RATE
        for _ in range(EPOCHS):
            shuffled = self.random.permutation(len(step.actions))
            for rows in np.array_split(shuffled, -(-len(shuffled) // MINIBATCH)):
                part, gains = rows_of(step, rows), torch.from_numpy(advantages[rows])
                logarithms, values = self.policy(part.observations, part.masks)
                chosen = logarithms.gather(1, torch.from_numpy(part.actions)[:, None])[:, 0]
                ratios = (chosen - torch.from_numpy(part.logarithms)).exp()
                gains = (gains - gains.mean()) / (gains.std() + 1e-8)
                clipped = torch.min(ratios * gains, ratios.clamp(1 - CLIP, 1 + CLIP) * gains)
                entropy = -(logarithms.exp() * logarithms).sum(dim=1).mean()
                error = ((values - torch.from_numpy(outcomes[rows])) ** 2).mean()
                self.optimizer.zero_grad()
                (-clipped.mean() - max(rate, 0.1) * ENTROPY_BONUS * entropy + 0.5 * error).backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
                self.optimizer.step()
        self.iteration += 1
        self.decisions += len(step.actions)
        self.seconds += time.process_time() - begun
        return {"entropy": entropy.item(), "error of values": error.item(), "processor seconds": self.seconds}

    def measure(self, opponent: str) -> tuple[float, float, float]:
        """Return the share of wins of the likeliest actions against a bot, with its 95 % interval."""

        def logits(observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
            with torch.no_grad():
                return self.policy(observations, np.packbits(masks, axis=1, bitorder="little"))[0].numpy()

        seated = [NetworkBot(logits, temperature=0), bots.get(opponent, self.game, self.env.players)]
        results = Results.of(MEASURED, self.env.players, 2)
        with TableEnv(self.game.name, self.env.players, MEASURED, games=MEASURED, observations=True) as env:
            for batch, _ in play_many(env, seated, 2**63):
                results.add(batch.ended)
        rate = float(results.wins(0).mean())
        return rate, *wilson_interval(rate, MEASURED)


@click.command()
@click.option("--game", default="discat", show_default=True, help="The game.")
@click.option("--decisions", default=4_000_000, show_default=True, help="The number of decisions to learn from.")
@click.option("--num-envs", default=1024, show_default=True, help="The number of environments.")
@click.option("--seed", default=1, show_default=True, help="The seed of all randomness.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The folder for logs and checkpoint.")
def main(game: str, output: Path, **given: int) -> None:
    """Learn a game, or continue the run in the folder."""
    # More threads are slower for networks of this size.
    torch.set_num_threads(1)
    output.mkdir(parents=True, exist_ok=True)
    checkpoint = output / "run.pickle"
    run = pickle.loads(checkpoint.read_bytes()) if checkpoint.exists() else Run(game, **given)
    # The first bot after those for any game is the game's own.
    opponent = bots.names(game)[3]
    with SummaryWriter(output, purge_step=run.decisions) as writer:
        while run.decisions < run.budget:
            for name, figure in run.learn().items():
                writer.add_scalar(name, figure, run.decisions)
            if run.iteration % EVERY == 0 or run.decisions >= run.budget:
                rate, low, high = run.measure(opponent)
                writer.add_scalar(f"wins against {opponent}", rate, run.decisions)
                found = f"{run.decisions:,} decisions: {rate:.1%} ({low:.1%} to {high:.1%}) against {opponent}"
                click.echo(f"{run.seconds:5.0f} s, {found}")
            checkpoint.with_suffix(".new").write_bytes(pickle.dumps(run))
            os.replace(checkpoint.with_suffix(".new"), checkpoint)


if __name__ == "__main__":
    main()
