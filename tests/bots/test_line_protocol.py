"""Programs that play by the line protocol, and the package's bots as such programs."""

import copy
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tools.over import over, over_names

from chatiere import bots, engine
from chatiere.arena.matches import LostGames, Results, play_many
from chatiere.bots import Bot, BotError, Decisions, Forfeit, hosting
from chatiere.bots.line_player import ProtocolError, play_lines
from chatiere.bots.process import ProcessBot, _described, _Greeting
from chatiere.command import main
from chatiere.envs import TableEnv
from chatiere.envs.gymnasium import SeatEnv

from .support import GAMES, SIMPLE, TABLES, Host

# A program that plays the first legal action. `{}` is a statement that it runs for each line of decisions.
PROGRAM = """\
import json, os, sys
print("starting", file=sys.stderr)
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    answer = {"type": "hello", "protocol": 1, "name": "First", "reproducible": True, "wants": [], "ratings": []}
    if asked["type"] == "decide":
        decisions = asked["decisions"]
        answer = {"id": asked["id"], "actions": [each["legal"][0] for each in decisions]}
    STATEMENT
    print(json.dumps(answer), flush=True)
"""
HELLO = {"type": "hello", "protocol": 1, "version": "0", "game": "discat", "players": 2}
DECISION = {"seat": 0, "luck": "5", "legal": [1, 2]}


def command_of(path: Path, statement: str = "pass") -> str:
    """Write a program to a file, and return the command that runs it."""
    path.write_text(PROGRAM.replace("STATEMENT", statement))
    return f"{sys.executable} {path}"


def first(path: Path, statement: str = "pass", seconds: float = 60.0) -> ProcessBot:
    return ProcessBot(command_of(path, statement), engine.game("discat"), 2, seconds)


def program(name: str) -> str:
    """Return the spec of a bot of the package that plays as a program."""
    return f'cmd:{sys.executable} -c "from chatiere.command import main; main()" bot {name}'


def played(bot: Bot, name: str, players: int, games: int = 4) -> list[list[int]]:
    with TableEnv(name, players, num_envs=games, games=games, observations=True) as env:
        return [actions.tolist() for _, actions in play_many(env, [bot] * players, 3)]


def decisions_of(bot: Bot, games: int = 5) -> Decisions:
    host = Host("discat", 2, games, 1)
    luck = np.arange(games, dtype=np.uint64)
    return hosting.decisions_of(
        host.positions, np.arange(games), bot, engine.game("discat"), 2, luck, lambda *_: host.positions.states
    )


@over_names
def test_a_bot_plays_the_same_games_as_a_program(name: str) -> None:
    game = engine.game(name)
    for spec in (*SIMPLE[name], "ismcts:simulations=8"):
        own, other = bots.get(spec, game, game.min_players), bots.get(program(spec), game, game.min_players)
        assert isinstance(other, ProcessBot)
        assert other.is_reproducible
        assert played(own, name, game.min_players) == played(other, name, game.min_players)


def test_a_bot_rates_the_same_actions_as_a_program() -> None:
    own, other = (bots.get(spec, "discat", 2) for spec in ("ismcts:simulations=8", program("ismcts:simulations=8")))
    one, another = own.judge(decisions_of(own)), other.judge(decisions_of(other))
    assert one.actions.tolist() == another.actions.tolist()
    assert np.array_equal(one.values, another.values, equal_nan=True)
    assert np.array_equal(one.shares, another.shares)


@over(("name", "players"), TABLES)
def test_a_program_receives_only_what_its_seat_may_know(name: str, players: int) -> None:
    game = engine.game(name)
    greeting = _Greeting("", {"labels", "observation", "text", "view"}, 2, [], is_reproducible=False)

    class All(Bot):
        needs_observations = needs_worlds = True

        def choose(self, decisions: Decisions) -> np.ndarray:
            return decisions.random_actions()

    host = Host(name, players, 4, 7)
    for step in range(12):
        positions = host.positions
        count = len(positions.actors)
        luck = np.arange(count, dtype=np.uint64)
        lines = []
        for seed in (step, step + 1000):
            # States that differ from the true ones only in what the seat cannot know.
            table = engine.Table(game, players)
            drawn, _ = table.resample(
                positions.states.data,
                positions.actors,
                seeds=np.full(count, seed, np.uint64),
                game_numbers=np.arange(count, dtype=np.uint64),
            )
            states = np.frombuffer(drawn, np.uint8).reshape(count, -1)
            decisions = hosting.decisions_of(
                positions, np.arange(count), All(), game, players, luck, lambda *_, s=states: s
            )
            legal = np.split(decisions.legal_ids, decisions.legal_offsets[1:-1])
            lines.append([_described(decisions, row, legal[row].tolist(), greeting) for row in range(count)])
        assert lines[0] == lines[1]
        assert all(set(each) == {"seat", "luck", "legal", *greeting.wants, "worlds"} for each in lines[0])
        assert all("\x1b" not in each["text"] for each in lines[0])
        host.step(All().choose(decisions))
        if not len(host.positions.actors):
            break


# Map each statement to a part of the reason.
FAILURES = {
    "os._exit(3)": "ended with exit status 3",
    "print('oh no', file=sys.stderr); raise ValueError('no idea')": "ValueError: no idea",
    "os.close(1); sys.stdin.read()": "closed its output",
    "print('not json', flush=True)": "a line of standard output is not JSON",
    "answer = []": "a line must be an object, not []",
    "answer['id'] = 0": "id must be",
    "answer['actions'] = [0]": "actions must be a list of 5 integers, not [0]",
    "answer['actions'] = [True] * 5": "actions must be a list of 5 integers",
    "answer['actions'] = None": "actions must be a list of 5 integers, not null",
    "answer['actions'][0] = 60000": "action 60000 is not legal",
}


@pytest.mark.parametrize(("statement", "reason"), FAILURES.items())
def test_a_failure_has_a_reason(tmp_path: Path, statement: str, reason: str) -> None:
    bot = first(tmp_path / "bot.py", f"if number: {statement}")
    with pytest.raises(Forfeit) as raised:
        bot.choose(decisions_of(bot))
    assert str(raised.value).startswith(f"bot cmd:{sys.executable} ")
    assert reason in str(raised.value)
    assert raised.value.rows.tolist() == ([0] if "60000" in statement else [*range(5)])


def test_a_failure_shows_the_last_lines_of_the_error_output(tmp_path: Path) -> None:
    bot = first(
        tmp_path / "bot.py", "[print(f'line {each}', file=sys.stderr) for each in range(30)]; number and os._exit(1)"
    )
    with pytest.raises(BotError) as raised:
        first(tmp_path / "bot.py", "os._exit(1)")
    assert str(raised.value).endswith("exit status 1; its last lines:\n  starting")
    with pytest.raises(Forfeit) as raised:
        bot.choose(decisions_of(bot))
    assert str(raised.value).splitlines()[1:] == [f"  line {each}" for each in range(20, 30)]


@pytest.mark.parametrize("statement", ["sys.stdin.read()", "os.system('cat')"])
def test_a_program_that_takes_too_long_fails(tmp_path: Path, statement: str) -> None:
    bot = first(tmp_path / "bot.py", f"if number: {statement}", seconds=3.0)
    with pytest.raises(Forfeit, match="no line within 3 s"):
        bot.choose(decisions_of(bot))


def test_a_program_starts_again_after_a_failure(tmp_path: Path) -> None:
    statement = f"open({str(tmp_path / 'count')!r}, 'a').write('x'); number < 3 or os._exit(1)"
    bot = first(tmp_path / "bot.py", statement)
    decisions = decisions_of(bot)
    chosen = bot.choose(decisions).tolist()
    assert bot.choose(decisions).tolist() == chosen
    with pytest.raises(Forfeit):
        bot.choose(decisions)
    assert bot.choose(decisions).tolist() == chosen
    assert len((tmp_path / "count").read_text()) == 6


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("answer['type'] = 'hi'", 'type must be "hello", not "hi"'),
        ("answer['protocol'] = 2", "protocol must be 1, not 2"),
        ("answer['name'] = 7", "name must be a text of at most 100 characters, not 7"),
        ("answer['worlds'] = -1", "worlds must be from 0 to 10000, not -1"),
        ("answer['worlds'] = True", "worlds must be from 0 to 10000, not true"),
        ("answer['wants'] = ['state']", 'wants must be a list of labels, observation, text, view, not ["state"]'),
        ("answer['ratings'] = 'values'", 'ratings must be a list of shares, values, not "values"'),
        ("answer['reproducible'] = 1", "reproducible must be true or false, not 1"),
    ],
)
def test_a_wrong_greeting_is_refused(tmp_path: Path, change: str, reason: str) -> None:
    with pytest.raises(BotError) as raised:
        first(tmp_path / "bot.py", change)
    assert f": {reason}" in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("{}", "values must be lists of numbers from -1 to 1, one for each legal action, not null"),
        ("{'values': [[0.5]] * 5}", "values must be lists of numbers"),
        ("{'values': [['x'] * len(each['legal']) for each in decisions]}", "values must be lists of numbers"),
        (
            "{'values': [[1.5] * len(each['legal']) for each in decisions]}",
            "values must be lists of numbers from -1 to 1",
        ),
        ("{'values': [[float('nan')] * len(each['legal']) for each in decisions]}", "is not JSON"),
    ],
)
def test_ratings_that_were_announced_are_required(tmp_path: Path, answer: str, reason: str) -> None:
    bot = first(tmp_path / "bot.py", f"answer |= {answer} if number else {{'ratings': ['values']}}")
    with pytest.raises(Forfeit, match=reason):
        bot.judge(decisions_of(bot))


def test_values_may_be_missing(tmp_path: Path) -> None:
    values = "[[None] + [0.5] * (len(each['legal']) - 1) for each in decisions]"
    bot = first(tmp_path / "bot.py", f"answer |= {{'values': {values}}} if number else {{'ratings': ['values']}}")
    decisions = decisions_of(bot)
    judgement = hosting.judge(bot, decisions)
    starts = decisions.legal_offsets[:-1]
    assert np.isnan(judgement.values[starts]).all()
    assert np.count_nonzero(np.isnan(judgement.values)) == len(starts)
    assert not judgement.shares.size


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("cmd:/no/such/program", "bot cmd:/no/such/program cannot be started: "),
        ("cmd:'open", "cannot be started: No closing quotation"),
        ("cmd: ", "cannot be started: the command is empty"),
        ("cmd:true:seconds=0", "seconds must be a number above 0, not 0"),
        ("cmd:", "unknown bot 'cmd'"),
    ],
)
def test_a_program_that_cannot_start_is_refused(spec: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        bots.get(spec, "discat", 2)


def test_a_service_starts_no_programs() -> None:
    with pytest.raises(ValueError, match="unknown bot 'cmd'"):
        bots.Registry().get("cmd:true", "discat", 2)
    with pytest.raises(ValueError, match="a bot to add must be"):
        bots.Registry(["mine=cmd:./mybot"])


def test_a_copied_bot_has_its_own_program(tmp_path: Path) -> None:
    bot = first(tmp_path / "bot.py")
    decisions = decisions_of(bot)
    for other in pickle.loads(pickle.dumps(bot)), copy.deepcopy(bot):
        assert other.choose(decisions).tolist() == bot.choose(decisions).tolist()
        assert other._program is not bot._program


def test_a_bot_loses_the_games_in_which_it_fails(tmp_path: Path) -> None:
    """The program fails at its third line. The games in progress are lost, and later games count as played."""
    bot = first(tmp_path / "bot.py", "number == 3 and os._exit(1)")
    told: list[tuple[int, int]] = []
    lost = LostGames(lambda bot, games, reason: told.append((bot, games)))
    results = Results.of(40, 2, 2)
    with TableEnv("discat", 2, num_envs=10, games=40) as env:
        for batch, _ in play_many(env, [bots.get("random", "discat", 2), bot], 3, lost):
            results.add(batch.ended)
    lost.settle(results)
    failed = lost.among(np.arange(40, dtype=np.uint64))
    assert {bot for bot, _ in told} == {1}
    assert np.count_nonzero(failed) == sum(games for _, games in told)
    assert np.all(results.returns[failed] == np.where(results.bots[failed] == 1, -1, 1))
    assert np.all(results.lengths > 0)
    # The random bot wins some games against First, but not all.
    assert 0 < np.count_nonzero(failed) <= 40


@over("players", [3, 5])
def test_all_seats_of_other_bots_share_a_game_that_a_bot_lost(players: int) -> None:
    lost = LostGames(lambda *_: None)
    results = Results.of(3, players, 2)
    lost.add(np.array([1], np.uint64), 0, "")
    lost.settle(results)
    winners = np.count_nonzero(results.bots[1])
    assert results.returns[1] == pytest.approx([players / winners - 1 if bot else -1 for bot in results.bots[1]])
    assert not results.returns[[0, 2]].any()
    assert results.wins(1)[1] == pytest.approx(1)


def test_the_arena_reports_a_bot_that_fails(tmp_path: Path) -> None:
    pytest.importorskip("openskill")
    spec = f"cmd:{command_of(tmp_path / 'bot.py', 'number == 4 and os._exit(9)')}"
    done = CliRunner().invoke(main, ["arena", "--game", "discat", "--bots", f"{spec},random", "--games", "20"])
    assert done.exit_code == 0
    assert f"{spec} lost 20 games because it failed: bot {spec}: the program ended with exit status 9" in done.stderr
    assert "0.0 %" in done.stdout.splitlines()[4]


def test_other_hosts_end_with_the_failure(tmp_path: Path) -> None:
    spec = f"cmd:{command_of(tmp_path / 'bot.py', 'number and os._exit(9)')}"
    done = CliRunner().invoke(main, ["selfplay", "--game", "discat", "--bots", spec, "--games", "4"])
    assert done.exit_code != 0
    assert "exit status 9" in done.stderr
    env = SeatEnv("discat", 2, seat=1, opponents=spec)
    with pytest.raises(Forfeit, match="exit status 9"):
        env.reset(seed=1)


# The lines of a host, and the error.
WRONG_LINES: dict[str, tuple[list[Any], str]] = {
    "no json": (["{"], "a line is not JSON"),
    "no object": ([[1]], "a line must be an object"),
    "no hello": ([{"type": "decide"}], 'the first line must have the type "hello" and the protocol 1'),
    "other protocol": ([HELLO | {"protocol": 2}], "and the protocol 1"),
    "no players": ([HELLO | {"players": "2"}], "players must be a JSON integer"),
    "no decisions": ([HELLO, {"type": "decide", "id": 1}], "decisions must be a JSON list, not null"),
    "seat": ([HELLO, {"decisions": [DECISION | {"seat": 2}]}], "seat must be from 0 to 1, not 2"),
    "no ids": ([HELLO, {"decisions": [DECISION | {"legal": []}]}], "legal must be ascending dense ids, one or more"),
    "order of ids": ([HELLO, {"decisions": [DECISION | {"legal": [2, 1]}]}], "legal must be ascending dense ids"),
    "unknown id": ([HELLO, {"decisions": [DECISION | {"legal": [60_000]}]}], "legal must be ascending dense ids"),
    "luck": ([HELLO, {"decisions": [DECISION | {"luck": "-1"}]}], "luck must be a decimal number"),
    "no worlds": ([HELLO, {"decisions": [DECISION]}], "worlds must be a JSON list, not null"),
    "empty worlds": ([HELLO, {"decisions": [DECISION | {"worlds": []}]}], "worlds must be base64"),
    "no base64": ([HELLO, {"decisions": [DECISION | {"worlds": ["?"]}]}], "worlds must be base64"),
    "size": ([HELLO, {"decisions": [DECISION | {"worlds": ["AAAA"]}]}], "worlds must have "),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_a_wrong_line_of_a_host_is_refused(name: str) -> None:
    lines, reason = WRONG_LINES[name]
    with pytest.raises(ProtocolError) as raised:
        list(play_lines("flat:playouts=2", [each if isinstance(each, str) else json.dumps(each) for each in lines]))
    assert reason in str(raised.value)
    done = CliRunner().invoke(
        main, ["bot", "flat:playouts=2"], input="".join(f"{json.dumps(each)}\n" for each in lines if name != "no json")
    )
    assert done.exit_code == (0 if name == "no json" else 2)


def test_a_host_may_end_at_any_line() -> None:
    assert list(play_lines("largest", [])) == []
    (greeting,) = play_lines("largest", [json.dumps(HELLO)])
    assert json.loads(greeting)["wants"] == ["observation"] * bots.get("largest", "discat", 2).needs_observations
    *_, answer = play_lines("random", [json.dumps(HELLO), json.dumps({"id": "x", "decisions": []})])
    assert json.loads(answer) == {"id": "x", "actions": []}


@pytest.mark.parametrize("name", GAMES)
def test_a_bot_without_worlds_needs_only_the_legal_actions(name: str) -> None:
    hello = json.dumps(HELLO | {"game": name, "players": engine.game(name).min_players})
    _, answer = play_lines("random", [hello, json.dumps({"id": 1, "decisions": [DECISION] * 2})])
    assert set(json.loads(answer)["actions"]) <= {1, 2}
