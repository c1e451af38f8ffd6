"""chatiere arena."""

import json
import re
import sys
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from openskill.models import PlackettLuce
from tools.over import over, over_names

from chatiere import bots, engine
from chatiere.arena import tournament
from chatiere.arena.balance import Balance, Course
from chatiere.arena.matches import Results, deals_interval, play_many, wilson_interval
from chatiere.arena.sequential import Sprt
from chatiere.arena.tournament import Arena, Pairing, evidence, win_rate
from chatiere.envs import TableEnv

from .conftest import Run

pytestmark = pytest.mark.long

GAMES = [game.name for game in engine.games()]
# The smallest number of players, and the smallest number above two. With more than two players, a bot can play against
# several copies of another bot.
TABLES = [
    (game.name, players)
    for game in engine.games()
    for players in sorted({game.min_players, max(3, game.min_players)})
    if players <= game.max_players
]
# Games for two and for three players.
TWO = next(game.name for game in engine.games() if game.min_players == 2)
THREE = next(game.name for game in engine.games() if game.min_players <= 3 <= game.max_players)


def own(game: str) -> str:
    """Return the bot that is specific to the game."""
    return next(bot for bot in bots.names(game) if bot not in ("random", "flat", "ismcts"))


def without_time(output: str) -> str:
    return re.sub(r" in [\d.]+ s$", "", output, flags=re.MULTILINE)


def tables(output: str) -> list[list[list[str]]]:
    """Return the cells of the report's tables, without headings."""
    found = []
    for block in output.split("\n\n")[1:]:
        if not block.startswith("|"):
            continue
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        assert all(set("".join(row)) == {"-"} for row in rows[1:2])
        found.append(rows[2:])
    return found


def estimate(figures: dict[str, float], percent: bool = True) -> str:
    """Return a mean and its interval in the form of the report."""
    mean, low, high = (figures[name] * (100 if percent else 1) for name in ("mean", "low", "high"))
    return f"{mean:.1f}{' %' if percent else ''} ({low:.1f} to {high:.1f})"


def balance_rows(pairing: dict[str, Any], names: list[str]) -> tuple[list[str], list[str]]:
    """Return the rows with a pairing's balance in the report's two tables. `names` are the contents of first cells."""
    balance = pairing["balance"]
    return [
        *names,
        estimate(balance["length"], percent=False),
        str(balance["median_length"]),
        f"{balance['shortest']} to {balance['longest']}",
        estimate(balance["shared"]),
        estimate(balance["first_seat"]),
    ], [*names, *map(estimate, balance["kinds"].values())]


def results_of(returns: list[list[float]]) -> Results:
    """Return results of games of which only the returns are known. Bot 0 plays in every seat in turn."""
    results = Results.of(len(returns), len(returns[0]), len(returns[0]))
    results.returns[:] = returns
    return results


@over(("name", "players"), TABLES)
def test_the_report_matches_the_games(run: Run, tmp_path: Path, name: str, players: int) -> None:
    names = ["random", own(name), "flat:playouts=4"]
    asked = ("--game", name, "--players", players, "--games", 12, "--seed", 5)
    result = run("arena", *asked, "--bots", ",".join(names), "--output", tmp_path / "new" / "arena")
    assert result.exit_code == 0, result.stderr
    pairs = list(combinations(names, 2) if players == 2 else permutations(names, 2))
    assert result.stdout.startswith(f"{name}, {players} players: {len(pairs)} pairings of 12 games, seed 5; ")
    assert result.stdout.endswith(f"\nwritten to {tmp_path / 'new' / 'arena'}\n")
    figures = json.loads((tmp_path / "new" / "arena" / "arena.json").read_text("utf-8"))
    assert figures["game"] == name
    assert (figures["rules_version"], figures["players"]) == (engine.game(name).rules_version, players)
    assert (figures["bots"], figures["unrepeatable_bots"]) == (names, [])
    assert (figures["games_per_pairing"], figures["seed"], figures["even_share"]) == (12, 5, 1 / players)
    rates, ratings, balances, kinds = tables(result.stdout)
    others = "" if players == 2 else f"{players - 1} × "
    assert sorted((row[0], row[1].removeprefix(others)) for row in rates) == sorted(pairs)
    for row, *rows, pairing in zip(rates, balances, kinds, figures["pairings"], strict=True):
        assert row == [
            pairing["bot"],
            others + pairing["others"],
            f"{100 * pairing['wins']:.1f} %",
            f"{100 * pairing['low']:.1f} % to {100 * pairing['high']:.1f} %",
            f"{100 / players:.1f} %",
        ]
        assert (pairing["low"], pairing["high"]) == wilson_interval(pairing["wins"], 12)
        # Self-play assigns the same bots to the seats, and plays the same games.
        seated = ",".join([pairing["bot"], *[pairing["others"]] * (players - 1)])
        lengths, first = run("selfplay", *asked, "--bots", seated).stdout.splitlines()[1:3]
        assert first.startswith(f"{pairing['bot']}: wins {pairing['wins']:.1%} of 12 games ")
        balance = pairing["balance"]
        assert lengths.startswith(
            f"decisions per game: mean {balance['length']['mean']:.1f}, median {balance['median_length']}, "
        )
        assert lengths.endswith(f", shortest {balance['shortest']}, longest {balance['longest']}")
        assert list(balance["kinds"]) == [kind.name for kind in engine.game(name).description.action_kinds]
        assert sum(kind["mean"] for kind in balance["kinds"].values()) == pytest.approx(1)
        assert tuple(rows) == balance_rows(pairing, row[:2])
    assert ratings == [
        [rating["bot"], *(f"{rating[figure]:.1f}" for figure in ("mu", "sigma", "ordinal"))]
        for rating in figures["ratings"]
    ]
    assert [rating["mu"] for rating in figures["ratings"]] == sorted(
        (rating["mu"] for rating in figures["ratings"]), reverse=True
    )
    assert sorted(rating["bot"] for rating in figures["ratings"]) == sorted(names)
    for rating in figures["ratings"]:
        assert rating["ordinal"] == pytest.approx(rating["mu"] - 3 * rating["sigma"])
    assert imread(tmp_path / "new" / "arena" / "arena.png").size


@over(("name", "players"), TABLES)
def test_a_single_bot_plays_against_itself(run: Run, tmp_path: Path, name: str, players: int) -> None:
    result = run("arena", "--game", name, "--players", players, "--bots", "random", "--games", 6, "--output", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"{name}, {players} players: 1 pairing of 6 games, seed 1; ")
    figures = json.loads((tmp_path / "arena.json").read_text("utf-8"))
    (pairing,) = figures["pairings"]
    assert figures["ratings"] == []
    assert set(pairing) == {"bot", "others", "balance"}
    assert (pairing["bot"], pairing["others"]) == ("random", "random")
    against = "random" if players == 2 else f"{players - 1} × random"
    assert tables(result.stdout) == [[row] for row in balance_rows(pairing, ["random", against])]
    assert [path.name for path in tmp_path.iterdir()] == ["arena.json"]


def test_the_same_arguments_give_the_same_games(run: Run, tmp_path: Path) -> None:
    def figures(number: int, *arguments: object) -> tuple[str, bytes]:
        output = tmp_path / str(number)
        names = f"random,{own(TWO)},ismcts:simulations=3"
        result = run("arena", "--game", TWO, "--bots", names, "--games", 9, "--output", output, *arguments)
        return without_time(result.stdout).replace(str(output), "DIR"), (output / "arena.json").read_bytes()

    first = figures(0)
    assert figures(1) == first
    assert figures(0) == first
    assert figures(2, "--seed", 2) != first


@over_names
def test_the_stronger_bot_gets_the_higher_rating(run: Run, name: str) -> None:
    result = run("arena", "--game", name, "--bots", f"random,{own(name)}", "--games", 60)
    rates, ratings, *_ = tables(result.stdout)
    assert [row[0] for row in ratings] == [own(name), "random"]
    assert float(rates[0][2].removesuffix(" %")) < float(rates[0][4].removesuffix(" %"))


def test_win_rates_of_two_players() -> None:
    arena = Arena(TWO, 2, ("random", own(TWO), "flat"), 4)
    # Bot 0 has seats 0 and 1 alternately: it wins two games, shares one and loses one.
    first = results_of([[1, -1], [-1, 1], [0, 0], [1, -1]])
    assert win_rate(first) == (0.625, *wilson_interval(0.625, 4))
    never, always = results_of([[-1, 1], [1, -1]] * 2), results_of([[1, -1], [-1, 1]] * 2)
    played = dict(zip(arena.pairings(), (first, never, always), strict=True))
    assert list(played) == [(0, 1), (0, 2), (1, 2)]
    nan = np.nan
    expected = [[nan, 0.625, 0], [0.375, nan, 1], [1, 0, nan]]
    assert np.array_equal(arena.win_rates(played), expected, equal_nan=True)


def test_win_rates_of_three_players() -> None:
    arena = Arena(THREE, 3, ("random", own(THREE)), 6)
    # Bot 0 has the seats 0, 2, 1 in turn. It wins, shares a win with one seat, shares with two seats, loses, loses to
    # two winners, and wins.
    games: list[list[float]] = [[2, -1, -1], [0.5, -1, 0.5], [0, 0, 0], [-1, 2, -1], [0.5, 0.5, -1], [-1, 2, -1]]
    first, never = results_of(games), results_of([[-1, 2, -1], [2, -1, -1], [-1, -1, 2]] * 2)
    assert win_rate(first).wins == pytest.approx((1 + 1 / 2 + 1 / 3 + 0 + 0 + 1) / 6)
    assert list(arena.pairings()) == [(0, 1), (1, 0)]
    rates = arena.win_rates({Pairing(0, 1): first, Pairing(1, 0): never})
    assert rates[0, 1] == win_rate(first).wins
    assert rates[1, 0] == 0
    assert np.isnan(rates.diagonal()).all()


def test_ratings_of_two_bots_are_openskill_s() -> None:
    generator = np.random.default_rng(3)
    games = [[[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]][kind] for kind in generator.integers(0, 3, 40)]
    model = PlackettLuce(tau=0.0)
    expected = {"random": model.rating(), own(TWO): model.rating()}
    for number, returns in enumerate(games):
        names = list(expected) if number % 2 == 0 else list(expected)[::-1]
        rated = model.rate([[expected[name]] for name in names], ranks=[-share for share in returns])
        expected |= {name: rating for name, (rating,) in zip(names, rated, strict=True)}
    arena = Arena(TWO, 2, tuple(expected), len(games))
    for bot, mu, sigma, ordinal in arena.rate_bots({Pairing(0, 1): results_of(games)}):
        assert (mu, sigma) == pytest.approx((expected[bot].mu, expected[bot].sigma))
        assert ordinal == pytest.approx(expected[bot].ordinal())


def test_ratings_stay_near_their_start_when_a_bot_has_several_seats() -> None:
    arena = Arena(THREE, 3, ("random", own(THREE)), 300)
    always = results_of([[2, -1, -1], [-1, -1, 2], [-1, 2, -1]] * 100)
    never = results_of([[-1, 2, -1], [2, -1, -1], [-1, -1, 2]] * 100)
    best, worst = arena.rate_bots({Pairing(0, 1): always, Pairing(1, 0): never})
    assert (best.bot, worst.bot) == ("random", own(THREE))
    assert best.mu - best.sigma > 25 > worst.mu + worst.sigma
    assert (best.mu + worst.mu) / 2 == pytest.approx(25, abs=2)


@over(("name", "players"), TABLES)
def test_a_bot_with_one_seat_plays_every_seat_equally_often(name: str, players: int) -> None:
    results, _ = Arena(name, players, ("random", own(name)), 2 * players).play(Pairing(0, 1))
    alone = np.nonzero(results.bots == 0)
    assert alone[0].tolist() == list(range(2 * players))
    assert Counter(alone[1].tolist()) == dict.fromkeys(range(players), 2)
    assert (results.lengths > 0).all()


def test_the_first_seat_counts_only_played_games() -> None:
    results, balance = Arena(TWO, 2, ("random", own(TWO)), 100, seed=7).play(Pairing(0, 1))
    same, other = (Balance.of(results, Course.of(TWO, 2, 100, seed)).first_seat for seed in (7, 1))
    assert same == balance.first_seat
    assert other != balance.first_seat


def test_a_bot_with_a_time_limit_is_reported(run: Run, tmp_path: Path) -> None:
    asked = ("--game", TWO, "--games", 2, "--output", tmp_path)
    result = run("arena", *asked, "--bots", "random,ismcts:milliseconds=1,flat:playouts=2")
    warning = "ismcts:milliseconds=1 is not reproducible: the same arguments may give other games"
    assert result.stdout.splitlines()[1:3] == [warning, ""]
    assert json.loads((tmp_path / "arena.json").read_text("utf-8"))["unrepeatable_bots"] == ["ismcts:milliseconds=1"]


@pytest.mark.parametrize("name", ["arena.json", "arena.png"])
def test_a_full_disk_is_reported_with_the_file_and_leaves_no_partial_file(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / f".{name}.part").symlink_to("/dev/full")
    result = run("arena", "--game", TWO, "--games", 2, "--bots", f"random,{own(TWO)}", "--output", tmp_path)
    assert result.exit_code == 2
    full = "[Errno 28] cannot write the file: No space left on device"
    assert result.stderr == f"Error: {full}: '{tmp_path / name}'\n"
    assert not (tmp_path / name).exists()
    assert not list(tmp_path.glob(".*"))


def test_options_reach_the_games_and_the_report(run: Run, tmp_path: Path) -> None:
    result = run(
        "arena", "--game", "discat", "--games", 20, "--bots", "random", "--option", "first_seat=1", "--output", tmp_path
    )
    assert result.exit_code == 0, result.stderr
    assert json.loads((tmp_path / "arena.json").read_text("utf-8"))["options"]["first_seat"] == 1
    options = {"first_seat": 1}
    assert set(Course.of("discat", 2, 20, 1, options).first_seats.tolist()) == {1}


def test_a_custom_bot_plays_or_is_named_in_the_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = "from chatiere.bots.random import RandomBot\n\n\nclass Agent(RandomBot):\n    is_reproducible = False\n"
    (tmp_path / "mybot.py").write_text(code)
    asked = ("arena", "--game", TWO, "--games", 2, "--output", tmp_path / "out")
    result = run(*asked, "--bots", "mybot.py:Agent,random")
    told = "mybot.py:Agent is not reproducible: the same arguments may give other games"
    assert result.stdout.splitlines()[1:3] == [told, ""]
    result = run(*asked, "--bots", "mybot.py:Nobody,random")
    refusal = "Error: bot mybot.py:Nobody: mybot.py has no Nobody; its bots: RandomBot, Agent\n"
    assert (result.exit_code, result.stderr) == (2, refusal)


@over(("name", "players"), TABLES)
def test_each_deal_is_played_with_every_rotation(name: str, players: int) -> None:
    arena = Arena(name, players, ("random", own(name)), 4 * players, seed=5, paired=True)
    results, _ = arena.play(Pairing(0, 1))
    line_up = [bots.get(spec, name, players) for spec in ["random", *[own(name)] * (players - 1)]]
    for shift in range(players):
        alone = Results.of(4, players, players)
        with TableEnv(name, players, num_envs=4, games=4, observations=True) as env:
            for batch, _ in play_many(env, line_up[shift:] + line_up[:shift], 5):
                alone.add(batch.ended)
        assert np.array_equal(results.returns[shift::players], alone.returns)
        assert np.array_equal(results.totals[shift::players], alone.totals)
        assert np.array_equal(results.lengths[shift::players], alone.lengths)
    # In each deal, the bot with one seat has every seat once.
    seats = np.nonzero(results.bots == 0)[1].reshape(4, players)
    assert np.array_equal(np.sort(seats), np.tile(np.arange(players), (4, 1)))


@over("players", [2, 3])
def test_the_luck_of_the_deal_cancels(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, players: int) -> None:
    # If all bots make the same choices, all rotations are the same game. The seats then determine the winner.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").write_text("from chatiere.bots.random import RandomBot as Twin\n")
    name, deals = (TWO if players == 2 else THREE), 20
    asked = ("arena", "--game", name, "--players", players, "--bots", "mybot.py:Twin,random", "--games")
    result = run(*asked, deals * players, "--paired", "--output", "out")
    assert result.exit_code == 0, result.stderr
    told = f"of {deals * players} games ({deals} deals, seats rotated), seed 1; "
    assert told in result.stdout.splitlines()[0]
    figures = json.loads((tmp_path / "out" / "arena.json").read_text("utf-8"))
    assert figures["paired"] is True
    low, high = deals_interval(np.full(deals, 1 / players))
    for pairing in figures["pairings"]:
        assert (pairing["wins"], pairing["low"], pairing["high"]) == pytest.approx((1 / players, low, high))


def test_intervals_of_paired_games_are_over_deals() -> None:
    arena = Arena(TWO, 2, ("random", own(TWO)), 80, paired=True)
    results, balance = arena.play(Pairing(0, 1))
    course = Course.of(TWO, 2, 40, 1)
    wins = results.wins(0).reshape(40, 2).mean(axis=1)
    assert win_rate(results) == pytest.approx((wins.mean(), *deals_interval(wins)))
    lengths = results.lengths.reshape(40, 2).mean(axis=1)
    half = 1.96 * lengths.std(ddof=1) / 40**0.5
    mean = lengths.mean()
    assert balance.length == pytest.approx((mean, mean - half, mean + half), rel=1e-4)
    first = (results.returns[np.arange(80), np.repeat(course.first_seats, 2)] + 1) / 2
    deals = first.reshape(40, 2).mean(axis=1)
    assert balance.first_seat == pytest.approx((deals.mean(), *deals_interval(deals)))


@pytest.mark.parametrize("paired", [(), ("--paired",)])
def test_a_test_decides_early_which_bot_is_stronger(run: Run, tmp_path: Path, paired: tuple[str, ...]) -> None:
    asked = ("arena", "--game", "discat", "--games", 2000, "--output", tmp_path, *paired, "--sprt", "0.5,0.55")
    for names, accepted, words in (
        ("largest,random", "H1", "H1: 55.0 % or more"),
        ("random,largest", "H0", "H0: 50.0 % or less"),
    ):
        result = run(*asked, "--bots", names)
        assert result.exit_code == 0, result.stderr
        assert ": 1 pairing of at most 2,000 games" in result.stdout.splitlines()[0]
        figures = json.loads((tmp_path / "arena.json").read_text("utf-8"))
        assert figures["sprt"] == {"p0": 0.5, "p1": 0.55, "alpha": 0.05, "beta": 0.05}
        test = figures["pairings"][0]["sprt"]
        assert test["accepted"] == accepted
        assert test["games"] <= 96
        assert (test["upper"], test["lower"]) == pytest.approx((np.log(19), -np.log(19)))
        assert (test["llr"] >= test["upper"]) if accepted == "H1" else (test["llr"] <= test["lower"])
        assert tables(result.stdout)[1] == [
            [*names.split(","), str(test["games"]), f"{test['llr']:.2f}", "-2.94 to 2.94", words]
        ]


@pytest.mark.parametrize("paired", [False, True])
def test_a_test_ends_at_the_same_game_with_any_number_of_simultaneous_games(
    monkeypatch: pytest.MonkeyPatch, paired: bool
) -> None:
    arena = Arena(THREE, 3, ("random", own(THREE)), 960, 2, {}, paired, Sprt(0.5, 0.52))
    many, balance = arena.play(Pairing(1, 0))
    monkeypatch.setattr(tournament, "_GAMES_AT_ONCE", 20)
    few, same_balance = arena.play(Pairing(1, 0))
    assert 48 <= len(few.lengths) < 960
    assert np.array_equal(few.returns, many.returns)
    assert same_balance == balance
    # The games are the first games of a run without a test.
    games = len(few.lengths)
    untested, _ = Arena(THREE, 3, arena.bots, games + 48, 2, {}, paired).play(Pairing(1, 0))
    assert np.array_equal(few.returns, untested.returns[:games])
    assert np.array_equal(few.bots, untested.bots[:games])
    # The test ends at the first evaluation that decides. There is an evaluation after every 16 games of each seat.
    assert games % 48 == 0
    assert arena.sprt is not None
    assert evidence(arena.sprt, few).accepted == "H1"
    rotations = 3 if paired else 1
    assert arena.sprt.evidence(few.deal_means(few.wins(0))[: (games - 48) // rotations], rotations).accepted is None


def test_an_undecided_test_accepts_neither_hypothesis(run: Run) -> None:
    result = run("arena", "--game", TWO, "--bots", f"random,{own(TWO)}", "--games", 5, "--sprt", "0.01,0.99,1e-9,1e-9")
    assert result.exit_code == 0, result.stderr
    assert tables(result.stdout)[1][0][2::3] == ["5", "neither"]


def test_pairings_that_end_at_different_games_are_rated_together(run: Run, tmp_path: Path) -> None:
    names = f"random,{own(TWO)},flat:playouts=4"
    result = run("arena", "--game", TWO, "--bots", names, "--games", 70, "--sprt", "0.01,0.04", "--output", tmp_path)
    assert result.exit_code == 0, result.stderr
    figures = json.loads((tmp_path / "arena.json").read_text("utf-8"))
    assert len({pairing["sprt"]["games"] for pairing in figures["pairings"]}) > 1
    assert len(figures["ratings"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sprt", "0.6,0.5"), "the shares of a sequential test must be 0 < p0 < p1 < 1, not 0.6 and 0.5"),
        (("--sprt", "0.5"), "'0.5' must be P0,P1[,ALPHA,BETA], such as 0.5,0.55"),
        (("--sprt", "even,better"), "'even,better' must be P0,P1[,ALPHA,BETA]"),
        (("--sprt", "0.5,0.6,0.05"), "must be P0,P1[,ALPHA,BETA]"),
        (("--paired", "--games", 5), "with paired deals, games must be a multiple of 2, at least 4, not 5"),
        (("--paired", "--games", 2), "with paired deals, games must be a multiple of 2, at least 4, not 2"),
        (("--paired", "--bots", "random"), "paired deals and sequential tests compare bots: there must be two or more"),
        (("--sprt", "0.5,0.6", "--bots", "random"), "compare bots: there must be two or more"),
    ],
)
def test_invalid_comparisons_are_refused(run: Run, arguments: tuple[object, ...], message: str) -> None:
    result = run("arena", "--game", TWO, "--bots", "random,flat", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_missing_packages_are_reported_before_a_game(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("arena", "--game", TWO, "--bots", f"random,{own(TWO)}", "--games", 2)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run(*asked).exit_code == 0
    result = run(*asked, "--output", tmp_path / "output")
    assert result.exit_code == 2
    # No game has been played, so there is no progress bar.
    assert result.stderr == "Error: the picture needs matplotlib: pip install 'chatiere[arena]'\n"
    assert not (tmp_path / "output").exists()
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    result = run(*asked)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: ratings need openskill: pip install 'chatiere[arena]'\n"


def test_a_directory_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("arena", "--game", TWO, "--bots", f"random,{own(TWO)}", "--games", 2, "--output", output)
        assert (result.exit_code, result.stdout) == (2, "")
        assert str(output) in result.stderr
    # The results of the games played are printed even so.
    (tmp_path / "arena.json").mkdir()
    result = run("arena", "--game", TWO, "--bots", f"random,{own(TWO)}", "--games", 2, "--output", tmp_path)
    assert result.exit_code == 2
    assert str(tmp_path / "arena.json") in result.stderr
    assert len(tables(result.stdout)[0]) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("random,flat,random", "bot 'random' is given twice"),
        ("random,cheater", "unknown bot 'cheater'"),
        ("random,", "unknown bot ''"),
        ("random,flat:playouts=0", "playouts must be a whole number from 1 to"),
    ],
)
def test_invalid_combinations_of_bots_are_refused(run: Run, names: str, message: str) -> None:
    result = run("arena", "--game", TWO, "--bots", names)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: {message}" in result.stderr or f": {message}" in result.stderr


def test_unknown_games_and_tables_are_refused(run: Run) -> None:
    result = run("arena", "--game", "tarock", "--bots", "random,flat")
    assert (result.exit_code, result.stderr) == (
        2,
        f"Error: UNKNOWN_GAME: unknown game 'tarock'; known games: {', '.join(GAMES)}\n",
    )
    for players in (-1, 1, 99):
        result = run("arena", "--game", TWO, "--bots", "random,flat", "--players", players)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"Error: {TWO} is for ")


@pytest.mark.parametrize("option", ["--games", "--seed"])
@pytest.mark.parametrize("value", [-1, "many"])
def test_invalid_numbers_are_named(run: Run, option: str, value: object) -> None:
    result = run("arena", "--game", TWO, "--bots", "random,flat", option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr


@pytest.mark.parametrize("games", [0, 1])
def test_too_few_games_are_refused(run: Run, games: int) -> None:
    result = run("arena", "--game", TWO, "--bots", "random,flat", "--games", games)
    assert "Invalid value for '--games'" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TWO, 2, ("random", "flat"), 1), "games must be 2 or more, not 1"),
        ((TWO, 2, ("random", "flat"), 2, -1), "seed must"),
        ((TWO, 2, ("random", "flat"), 2, 2**64), "seed must"),
        ((TWO, 2, (), 2), "bots must have one or more items"),
        ((TWO, 99, ("random", "flat"), 2), "players"),
        (("tarock", 2, ("random", "flat"), 2), "tarock"),
    ],
)
def test_a_tournament_out_of_range_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Arena(*arguments)
