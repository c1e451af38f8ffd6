"""The bot that asks a language model (examples/llm), with an endpoint on the loopback interface."""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bots.support import GAMES, Host
from click.testing import CliRunner

from chatiere import bots, engine
from chatiere.bots import Decisions, Forfeit, hosting
from chatiere.bots.process import ProcessBot
from chatiere.command import main

pytestmark = pytest.mark.long

PLAYER = Path(__file__).parents[2] / "examples" / "llm" / "player.py"
# A function that returns a reply's text, a status code, a response's bytes, or None to wait until the endpoint closes.
Reply = Callable[[list[dict[str, str]]], object]


class Endpoint:
    """An endpoint with OpenAI's chat completions. It records requests, and a function of the messages makes replies."""

    def __init__(self, reply: Reply) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                outer.keys.add(self.headers["Authorization"])
                found = reply(asked["messages"]) if self.path == "/v1/chat/completions" else 404
                if found is None:
                    outer.closing.wait()
                    return
                status = found if isinstance(found, int) else 200
                body = found if isinstance(found, bytes) else json.dumps(_completion(found)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"


def _completion(text: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


@contextmanager
def endpoint(reply: Reply) -> Iterator[Endpoint]:
    found = Endpoint(reply)
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        found.closing.set()
        found.server.shutdown()
        found.server.server_close()
        thread.join()


def command(found: Endpoint, *arguments: str) -> str:
    return " ".join([sys.executable, str(PLAYER), "--url", found.url, "--model", "m", "--pause", "0", *arguments])


def decisions_of(bot: ProcessBot, name: str = "discat", games: int = 4) -> Decisions:
    game = engine.game(name)
    positions = Host(name, game.min_players, games, 1).positions
    luck = np.arange(games, dtype=np.uint64)
    states = positions.states
    return hosting.decisions_of(positions, np.arange(games), bot, game, game.min_players, luck, lambda *_: states)


def chosen(found: Endpoint, name: str = "discat", seconds: float = 60.0, games: int = 4) -> list[int]:
    """Return the number of the action, counted from 1, that the program chooses at each decision."""
    game = engine.game(name)
    bot = ProcessBot(command(found), game, game.min_players, seconds)
    decisions = decisions_of(bot, name, games)
    starts = decisions.legal_offsets[:-1].tolist()
    legal = decisions.legal_ids.tolist()
    return [legal.index(action, start) - start + 1 for action, start in zip(bot.choose(decisions), starts, strict=True)]


def number_of_actions(messages: list[dict[str, str]]) -> int:
    """Return the number of the last action in the question."""
    return int(re.findall(r"^\s*(?:\d+-)?(\d+)\. ", messages[1]["content"], re.M)[-1])


@pytest.mark.parametrize("name", GAMES)
def test_a_model_that_answers_well_plays_every_game(name: str) -> None:
    with endpoint(lambda messages: f"Move: {number_of_actions(messages)}") as found:
        spec = f"cmd:{command(found)}"
        game = engine.game(name)
        pytest.importorskip("openskill")
        done = CliRunner().invoke(main, ["arena", "--game", name, "--bots", f"{spec},random", "--games", "2"])
        assert done.exit_code == 0, done.output
        assert "failed" not in done.stderr
        assert all(request["model"] == "m" for request in found.requests)
        assert game.description.title in found.requests[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("2", 2),
        ("Move: 2", 2),
        ("**Move:** 2.", 2),
        ("I could take 1 or 3.\n\nMove: 2\n\nGood luck!", 2),
        ("<think>\nMove: 1\n</think>\nMove: 2", 2),
        ("Move: 1? No, wait.\nFinal move: 2", 2),
        ("First I thought of 1.\n2", 2),
        ("move: {label}", 2),
        ("Move: 2. {label}", 2),
    ],
)
def test_prose_around_the_move_is_ignored(reply: str, number: int) -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        # The labels of the first actions of Discat share one line, in braces.
        line = next(line for line in messages[1]["content"].splitlines() if line.startswith("1-"))
        second = re.search(r"\{\S+ \| (\S+)", line)
        assert second
        return reply.format(label=f"play {second[1].rstrip('}')}")

    with endpoint(answer) as found:
        assert chosen(found) == [number] * 4
        assert len(found.requests) == 4


def test_a_bad_answer_is_asked_again_and_the_third_loses_only_its_game() -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        assert [each["role"] for each in messages] == [
            "system",
            "user",
            *["assistant", "user"] * (len(messages) // 2 - 1),
        ]
        return "Move: 99" if len(messages) == 2 else "Move: 1 or 2" if len(messages) == 4 else "Move: 3"

    with endpoint(answer) as found:
        assert chosen(found) == [3] * 4
        assert len(found.requests) == 12
        assert "from 1 to " in found.requests[-1]["messages"][-1]["content"]
    tables: list[str] = []

    def stubborn(messages: list[dict[str, str]]) -> str:
        tables.append(messages[1]["content"])
        return "I resign." if messages[1]["content"] == tables[0] else "1"

    with endpoint(stubborn) as found, pytest.raises(Forfeit, match="action -1 is not legal") as raised:
        chosen(found)
    assert len(raised.value.rows) == 1


@pytest.mark.parametrize("failure", [500, 429, b"<html>", b"{}", b'{"choices": null}', b'{"choices": []}'])
def test_a_failure_of_the_endpoint_is_tried_again(failure: object) -> None:
    waiting = threading.Semaphore(1)
    with endpoint(lambda _: failure if waiting.acquire(blocking=False) else "2") as found:
        assert chosen(found) == [2] * 4
        assert len(found.requests) == 5


def test_an_endpoint_that_keeps_failing_is_reported() -> None:
    with endpoint(lambda _: 401) as found, pytest.raises(Forfeit) as raised:
        chosen(found)
    assert f"{found.url}: <HTTPError 401: 'Unauthorized'>" in str(raised.value)
    assert "exit status 1" in str(raised.value)


def test_a_slow_endpoint_loses_only_the_games_that_wait() -> None:
    waiting = threading.Semaphore(1)
    with (
        endpoint(lambda _: None if waiting.acquire(blocking=False) else "1") as found,
        pytest.raises(Forfeit, match="action -1 is not legal") as raised,
    ):
        chosen(found, seconds=10)
    assert len(raised.value.rows) == 1


def test_the_prompt_contains_the_rules_and_the_request_contains_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    rules = tmp_path / "rules.md"
    rules.write_text("Les règles", "utf-8")
    with endpoint(lambda _: "1") as found:
        bot = bots.get(f"cmd:{command(found, '--rules', str(rules))}", "discat", 2)
        assert isinstance(bot, ProcessBot)
        assert bot.title == "m"
        assert not bot.is_reproducible
        bot.choose(decisions_of(bot))
        assert found.keys == {"Bearer secret"}
        assert all(each["messages"][0]["content"].endswith("\n\nLes règles") for each in found.requests)


def test_the_program_has_at_most_eighty_lines() -> None:
    assert len(PLAYER.read_text("utf-8").splitlines()) <= 80
