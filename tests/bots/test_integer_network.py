"""Integer networks: their computation, their files, and the bot that plays by them."""

import hashlib
import pickle
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.needs import require
from tools.over import over

from chatiere import bots, engine
from chatiere.bots import BotError, IntegerNetworkBot, Registry
from chatiere.bots.integer_network import OUTPUT_ONE, RUN
from chatiere.bots.network_file import NetworkFile, NetworkFileError, fields_of, hand_of
from chatiere.engine.core.observation import ObservationLayout

from . import plain_network
from .networks import hand_network, random_network
from .support import GAMES, Host, only

BOTS = Path(__file__).parents[2] / "engine/chatiere/bots"
HARNESS = Path(__file__).with_name("net_harness.c")
# Compilers for this and for another kind of processor, each with the command that runs the compiled programs here.
COMPILERS = {"gcc": [], "aarch64-linux-gnu-gcc": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}


def positions(name: str, games: int = 16, plies: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return observations and legal actions at positions of random games, after some decisions."""
    host = Host(name, engine.game(name).min_players, games, 3)
    for _ in range(plies):
        host.step(host.choose(bots.get("random", name, host.table.players), np.arange(len(host.positions.actors))))
    found = host.positions
    return found.observations, found.legal_offsets, found.legal_ids[: found.legal_offsets[-1]]


@over("game", GAMES)
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32),
    first=st.integers(1, 40),
    second=st.integers(1, 40),
    groups=st.integers(1, 5),
    extreme=st.booleans(),
)
def test_results_equal_the_results_of_plain_numpy(
    game: str, seed: int, first: int, second: int, groups: int, extreme: bool
) -> None:
    file = random_network(game, first=first, second=second, groups=groups, seed=seed)
    layout = ObservationLayout(file.game.description)
    random = np.random.default_rng(seed)
    # Draw random numbers in the range of observations. Sometimes most numbers are 0, as in games.
    observations = random.integers(0, layout.largest.astype(int) + 1, (3, layout.length)).astype(np.uint8)
    observations[random.random(observations.shape) < random.choice([0, 0.9])] = 0
    if extreme:
        observations[0] = layout.largest
    legal = [np.unique(random.integers(0, file.game.num_distinct_actions, count)) for count in (1, 5, 100)]
    offsets = np.cumsum([0, *map(len, legal)]).astype(np.uint32)
    logits, values = file.network().evaluate(observations, offsets, np.concatenate(legal).astype(np.uint16))
    for row, ids in enumerate(legal):
        expected = plain_network.evaluate(file, observations[row], ids.astype(np.uint16))
        assert (logits[offsets[row] : offsets[row + 1]].tolist(), values[row].tolist()) == expected


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), held=st.integers(0, 12))
def test_logits_of_cards_add_up_over_the_hand(seed: int, held: int) -> None:
    file = hand_network(seed)
    random = np.random.default_rng(seed)
    layout = ObservationLayout(file.game.description)
    observation = np.zeros((1, layout.length), np.uint8)
    # The hand is the first part. Cards after the eighth have no slot.
    observation[0, random.choice(90, held, replace=False)] = 1
    legal = np.arange(199, dtype=np.uint16)
    logits, _ = file.network().evaluate(observation, np.array([0, 199], np.uint32), legal)
    assert logits.tolist() == plain_network.evaluate(file, observation[0], legal)[0]


def test_runs_with_missing_rows_are_refused() -> None:
    file = hand_network()
    for place, field, wrong, message in [
        (0, "kind", 7, "a run of 192 actions has the kind 7 and the size 6, which do not go together"),
        (0, "size", 5, "a run of 192 actions has the kind 2 and the size 5, which do not go together"),
        (0, "size", 9, "a run of 192 actions has the kind 2 and the size 9, which do not go together"),
        (0, "size", 0, "a run of 192 actions has the kind 2 and the size 0, which do not go together"),
        (1, "size", 1, "a run of 1 actions has the kind 0 and the size 1, which do not go together"),
        (2, "size", 5, "a run of 6 actions has the kind 1 and the size 5, which do not go together"),
        (0, "row", 213, "its runs of actions refer to rows or groups that do not exist"),
        (2, "row", 309, "its runs of actions refer to rows or groups that do not exist"),
    ]:
        runs = file.weights.runs.copy()
        runs[field][place] = wrong
        with pytest.raises(NetworkFileError, match=f"^{message}$"):
            changed(file, runs=runs).network()
    for name in ("chat_cartonne", "momistigri"):
        other = random_network(name)
        runs = other.weights.runs.copy()
        runs["kind"], runs["size"] = 1, 6
        with pytest.raises(NetworkFileError, match=r"has the kind 1 and the size 6, which do not go together$"):
            changed(other, runs=runs).network()
    # The sum of seven rows is out of range, although each row is within the range.
    rows_bias = np.full_like(file.weights.rows_bias, 2**29)
    with pytest.raises(NetworkFileError, match=r"^its weights are too large: "):
        changed(file, rows_bias=rows_bias).network()
    changed(random_network("discat"), rows_bias=np.full(199, 2**29, np.int32)).network()


# The libraries of sanitizers do not work in other programs.
@pytest.mark.release_only
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_c_code_computes_the_same_on_any_processor(compiler: str, tmp_path: Path) -> None:
    needed = [compiler, *COMPILERS[compiler][:1]]
    require(*needed)
    program, data = tmp_path / "harness", tmp_path / "data"
    sources = [str(HARNESS), str(BOTS / "net.c")]
    flags = ["-O3", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
    subprocess.run([compiler, *flags, f"-I{BOTS}", *sources, "-o", str(program)], check=True)
    for file in [*(random_network(name, groups=3) for name in GAMES), hand_network()]:
        observations, offsets, ids = positions(file.game.name, games=100)
        fields, places, _ = fields_of(file.game)
        weights = file.weights
        sizes = [
            observations.shape[1],
            *weights.second.shape[:0:-1],
            len(weights.runs),
            file.players,
            *hand_of(file.game),
        ]
        arrays = [np.array(sizes, np.uint32), fields, places, *weights, observations, offsets, ids]
        data.write_bytes(b"".join(struct.pack("<I", array.nbytes) + array.tobytes() for array in arrays))
        done = subprocess.run([*COMPILERS[compiler], program, data], capture_output=True, text=True, check=True)
        logits, values = file.network().evaluate(observations, offsets, ids)
        expected = [[*values[row], *logits[offsets[row] : offsets[row + 1]]] for row in range(len(observations))]
        assert [list(map(int, line.split())) for line in done.stdout.splitlines()] == expected
        assert len(set(logits.tolist())) > 50


def test_inconsistent_input_is_refused() -> None:
    network = random_network("discat").network()
    observations, offsets, ids = positions("discat")
    too_large = observations.copy()
    too_large[2, ObservationLayout(engine.game("discat").description).largest.argmin()] = 255
    out_of_order = ids.copy()
    out_of_order[: offsets[1]] = ids[: offsets[1]][::-1]
    beyond = ids.copy()
    beyond[-1] = 199
    empty = offsets.copy()
    empty[1] = 0
    for arguments, message in [
        ((observations[:, 1:].copy(), offsets, ids), "observations must have 812 numbers, not 811"),
        ((observations[1:], offsets, ids), "legal_offsets must be 16 numbers from 0 to the length of legal_ids"),
        ((observations, offsets, ids[1:]), "legal_offsets must be 17 numbers from 0 to the length of legal_ids"),
        ((observations, offsets, out_of_order), "the actions of row 0 must be ascending, from 0 to 198"),
        ((observations, offsets, beyond), "the actions of row 15 must be ascending, from 0 to 198"),
        ((observations, empty, ids), "the actions of row 0 must be ascending, from 0 to 198"),
        ((observations, offsets * 0, ids[:0]), "the actions of row 0 must be ascending, from 0 to 198"),
        ((too_large, offsets, ids), "a number of observation 2 is above the largest"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            network.evaluate(*arguments)
    logits, values = network.evaluate(observations[:0], offsets[:1], ids[:0])
    assert (logits.shape, values.shape) == ((0,), (0, 2))


@over("game", GAMES)
def test_a_file_preserves_the_network(game: str) -> None:
    file = random_network(game, groups=3)
    again = NetworkFile.from_bytes(file.to_bytes())
    assert (again.game.name, again.players) == (game, file.players)
    for name, array in file.weights._asdict().items():
        found = getattr(again.weights, name)
        assert found.dtype == array.dtype
        assert (found == array).all()
    assert again.to_bytes() == file.to_bytes()


def signed(data: bytes) -> bytes:
    """Return a file with a valid SHA-256."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def with_header(data: bytes, place: int, written: bytes) -> bytes:
    """Return a file with some bytes of its header replaced, and a valid SHA-256."""
    return signed(data[:place] + written + data[place + len(written) :])


def test_any_damaged_file_is_refused() -> None:
    data = random_network("discat", first=4, second=4).to_bytes()
    random = np.random.default_rng(1)
    for place in [*range(96), *random.integers(96, len(data), 100).tolist()]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(random.integers(8))
        with pytest.raises(NetworkFileError):
            NetworkFile.from_bytes(bytes(damaged))
    for length in (0, 7, 8, 100, len(data) - 1):
        with pytest.raises(NetworkFileError):
            NetworkFile.from_bytes(data[:length])


def test_a_file_of_another_game_or_version_is_refused() -> None:
    data = random_network("discat", first=4, second=4).to_bytes()
    for wrong, message in [
        (b"", "it is not a network in integers"),
        (b"PK" + data[2:], "it is not a network in integers"),
        (with_header(data, 8, b"\1\0"), "its format is 1; this version reads format 2"),
        (data[:-1] + bytes([data[-1] ^ 1]), "it is damaged: its SHA-256 does not match"),
        (with_header(data, 10, b"\7\0"), "it plays rules_version 7 of discat; this version plays 1"),
        (with_header(data, 12, b"discos"), "its game .* is unknown"),
        (with_header(data, 12, b"\xff"), "its game .* is unknown"),
        (with_header(data, 44, b"\0" * 32), "it was trained on another layout of discat's observations"),
        (with_header(data, 76, b"\7\0"), "it is too short for the sizes of its layers"),
        (with_header(data, 76, b"\1\0"), "it is too long for the sizes of its layers"),
        (with_header(data, 90, b"\7\0\0\0"), "discat has 199 actions, and the network 7"),
        (signed(data[:-40] + data[-32:]), "it is too short for the sizes of its layers"),
        (signed(data + b"\0" * 4), "it is too long for the sizes of its layers"),
    ]:
        with pytest.raises(NetworkFileError, match=f"^{message}$"):
            NetworkFile.from_bytes(wrong)


def changed(file: NetworkFile, **arrays: Any) -> NetworkFile:
    """Return a network with some of its arrays replaced."""
    return file._replace(weights=file.weights._replace(**arrays))


def test_weights_that_could_exceed_an_array_or_int32_are_refused() -> None:
    file = random_network("discat", first=256, second=64, groups=2)
    weights = file.weights
    largest = {name: np.full_like(getattr(weights, name), 2**15 - 1) for name in ("second", "rows", "values")}
    runs = weights.runs.copy()
    runs["row"][1] = 199
    groups = weights.runs.copy()
    groups["group"][1] = 2
    for wrong, message in [
        (file._replace(players=7), "discat is for 2 to 6 players, not 7"),
        (changed(file, columns=weights.columns[1:]), "discat's observations have .* columns, and the network .*"),
        (changed(file, runs=weights.runs[1:]), "its runs of actions do not go from 0 to 198"),
        (changed(file, runs=weights.runs[::-1]), "its runs of actions do not go from 0 to 198"),
        (changed(file, runs=np.zeros(2, RUN)), "its runs of actions do not go from 0 to 198"),
        (changed(file, runs=np.zeros(0, RUN)), "its runs of actions do not go from 0 to 198"),
        (changed(file, runs=runs), "its runs of actions refer to rows or groups that do not exist"),
        (changed(file, runs=groups), "its runs of actions refer to rows or groups that do not exist"),
        (
            changed(
                file,
                columns=np.full_like(weights.columns, 2**15 - 1),
                first_bias=np.full_like(weights.first_bias, 2**31 - 2**26),
            ),
            "its weights are too large: .*",
        ),
        (changed(file, first_bias=np.full_like(weights.first_bias, -(2**31))), "its weights are too large: .*"),
        (
            changed(file, second=largest["second"], second_bias=np.full_like(weights.second_bias, 2**31 - 1)),
            "its weights are too large: .*",
        ),
        (changed(file, rows=largest["rows"], rows_bias=np.full_like(weights.rows_bias, 2**31 - 1)), "its weights .*"),
        (
            changed(file, values=largest["values"], values_bias=np.full_like(weights.values_bias, -(2**31))),
            "its weights .*",
        ),
    ]:
        for use in (wrong.to_bytes, wrong.network):
            with pytest.raises(NetworkFileError, match=f"^{message}$"):
                use()


@over("game", GAMES)
def test_the_bot_plays_the_action_with_the_highest_logit(game: str, tmp_path: Path) -> None:
    path = tmp_path / "network.net"
    file = random_network(game)
    path.write_bytes(file.to_bytes())
    bot = bots.get(f"net:{path}", game, file.players)
    assert isinstance(bot, IntegerNetworkBot)
    assert bot.is_reproducible
    host = Host(game, file.players, 50, 7)
    decisions = host.decisions(bot, np.arange(50))
    logits, _ = file.network().evaluate(decisions.observations, decisions.legal_offsets, decisions.legal_ids)
    offsets = decisions.legal_offsets.astype(int)
    best = [ids[logits[a:b].argmax()] for a, b in pairwise(offsets) for ids in [decisions.legal_ids[a:b]]]
    actions = bot.choose(decisions)
    assert actions.tolist() == best
    # A bot can be sent to another process without the file.
    path.unlink()
    assert (pickle.loads(pickle.dumps(bot)).choose(decisions) == actions).all()


def test_with_a_temperature_the_bot_draws_by_the_logits() -> None:
    file = random_network("discat")
    bot = IntegerNetworkBot(file, temperature=0.5)
    host = Host("discat", 2, 1, 7)
    decisions = host.decisions(bot, [0])
    logits, _ = file.network().evaluate(decisions.observations, decisions.legal_offsets, decisions.legal_ids)
    weights = np.exp((logits - logits.max()) / OUTPUT_ONE / 0.5)
    assert bot.judge(decisions).shares == pytest.approx(weights / weights.sum())
    assert IntegerNetworkBot(file, 0).judge(decisions).shares.max() == 1


def test_the_bot_refuses_other_games_and_numbers_of_players(tmp_path: Path) -> None:
    path = tmp_path / "network.net"
    path.write_bytes(random_network("discat", 2).to_bytes())
    for game, players in (("discat", 3), ("chat_perche", 2)):
        bot = bots.get(f"net:{path}", game, players)
        message = f"^the network plays discat with 2 players, not {game} with {players}$"
        with pytest.raises(BotError, match=message):
            bot.choose(Host(game, players, 5, 7).decisions(bot, np.arange(5)))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("net:none.net", "bot net:none.net: no such file: none.net"),
        ("net:text.net", "bot net:text.net cannot be made: NetworkFileError: it is not a network in integers"),
        ("net:good.net:temperature=-1", "bot net:good.net:temperature=-1 cannot be made: ValueError: temperature "),
        ("net:good.net:heat=1", "bot net:good.net:heat=1: got an unexpected keyword argument 'heat'"),
    ],
)
def test_invalid_networks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.net").write_bytes(random_network("discat").to_bytes())
    Path("text.net").write_text("logits")
    with pytest.raises(ValueError, match=r"^bot net:") as raised:
        bots.get(spec, "discat", 2)
    assert str(raised.value).startswith(message)


def test_requests_cannot_name_network_files(tmp_path: Path) -> None:
    path = tmp_path / "network.net"
    path.write_bytes(random_network("discat").to_bytes())
    with pytest.raises(ValueError, match=r"^unknown bot 'net' for "):
        Registry().get(f"net:{path}", "discat", 2)
    assert isinstance(Registry([f"strong=net:{path}"]).get("strong", "discat", 2), IntegerNetworkBot)


def test_the_choice_does_not_depend_on_the_batch() -> None:
    bot = IntegerNetworkBot(random_network("discat"))
    decisions = Host("discat", 2, 20, 7).decisions(bot, np.arange(20))
    first = only(
        decisions,
        actors=decisions.actors[:1],
        legal_offsets=decisions.legal_offsets[:2],
        legal_ids=decisions.legal_ids[: decisions.legal_offsets[1]],
        luck=decisions.luck[:1],
        observations=decisions.observations[:1],
    )
    assert bot.choose(first)[0] == bot.choose(decisions)[0]
