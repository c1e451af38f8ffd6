"""Bots based on a function of observations and masks, and on networks in ONNX."""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots import BotError, Decisions, NetworkBot, OnnxBot, Registry, hosting
from chatiere.bots.network import draw

from .support import GAMES, Host, only


def decisions_of(bot: bots.Bot, name: str = GAMES[0], games: int = 200) -> Decisions:
    """Return the first decisions of some games as a bot gets them."""
    host = Host(name, engine.game(name).min_players, games, 7)
    return host.decisions(bot, np.arange(games))


def by_id(observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return logits that prefer high ids, regardless of the observation. Illegal actions also have logits."""
    return np.tile(np.arange(masks.shape[1], dtype=np.float32) / 10, (len(masks), 1))


@over_names
def test_the_function_gets_observations_and_masks(name: str) -> None:
    seen: list[Any] = []

    def policy(observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> Any:
        seen.append((observations, masks))
        return by_id(observations, masks).tolist()

    bot = NetworkBot(policy, temperature=0)
    decisions = decisions_of(bot, name)
    actions = bot.choose(decisions)
    ((observations, masks),) = seen
    assert (observations == decisions.observations).all()
    assert (masks == decisions.legal_mask()).all()
    assert (actions == decisions.legal_ids[decisions.legal_offsets[1:] - 1]).all()


def test_actions_are_drawn_by_their_probabilities() -> None:
    def policy(observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        # Give the first three legal actions the probabilities 0.1, 0.2 and 0.7.
        places = masks.cumsum(axis=1) - 1
        return np.where(places < 3, np.log(np.array([1, 2, 7])[np.clip(places, 0, 2)]), -np.inf)

    bot = NetworkBot(policy)
    host = Host("discat", 2, 1, 7)
    decisions = host.decisions(bot, [0])
    count = 20_000
    many = only(
        decisions,
        actors=np.repeat(decisions.actors, count),
        legal_offsets=np.arange(count + 1, dtype=np.uint32) * decisions.legal_counts()[0],
        legal_ids=np.tile(decisions.legal_ids, count),
        luck=hosting.luck(3, np.zeros(count), np.arange(count)),
        observations=np.repeat(decisions.observations, count, axis=0),
    )
    judgement = bot.judge(many)
    expected = np.zeros(len(decisions.legal_ids))
    expected[:3] = [0.1, 0.2, 0.7]
    assert judgement.shares[: len(expected)] == pytest.approx(expected)
    assert np.isnan(judgement.values).all()
    found = [(judgement.actions == action).mean() for action in decisions.legal_ids]
    assert found == pytest.approx(expected, abs=0.02)
    # With the same logits, a decision gets the same action in any batch.
    alone = only(many, luck=many.luck[:1], actors=many.actors[:1], legal_offsets=many.legal_offsets[:2])
    alone = only(alone, legal_ids=decisions.legal_ids, observations=decisions.observations)
    assert bot.choose(alone)[0] == judgement.actions[0]


def test_a_temperature_sharpens_or_flattens_the_distribution() -> None:
    def share_of_the_best(temperature: float) -> float:
        bot = NetworkBot(by_id, temperature)
        decisions = decisions_of(bot)
        shares = bot.judge(decisions).shares
        return float(shares[decisions.legal_offsets[1:] - 1].mean())

    found = [share_of_the_best(temperature) for temperature in (0, 0.1, 1, 10)]
    assert found[0] == 1
    assert found == sorted(found, reverse=True)
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"^temperature must be a number, 0 or more, not "):
            NetworkBot(by_id, wrong)


def test_invalid_logits_are_refused() -> None:
    wrong: list[tuple[Any, str]] = [
        (
            lambda observations, masks: masks[:, 1:],
            r"^NetworkBot: logits must have the shape \(200, \d+\), not \(200, ",
        ),
        (lambda observations, masks: None, r"^NetworkBot: logits must have the shape "),
        (lambda observations, masks: masks + np.nan, r"^NetworkBot: logits must be finite; "),
        (lambda observations, masks: masks + np.inf, r"^NetworkBot: logits must be finite; "),
        (lambda observations, masks: masks - np.inf, r"^NetworkBot: logits must be finite; "),
    ]
    for policy, message in wrong:
        bot = NetworkBot(policy)
        with pytest.raises(BotError, match=message):
            bot.judge(decisions_of(bot))


def test_draws_have_the_given_probabilities() -> None:
    luck = np.random.default_rng(1).integers(0, 2**64, 20_000, np.uint64)
    # The extremes must not yield an action with probability 0 or an action of another row.
    luck[:4] = 0, 0, 2**64 - 1, 2**64 - 1
    rows: list[list[float]] = [[0, 0.2, 0, 0.5, 0.3, 0], [0, 1]]
    offsets = np.cumsum([0] + [len(row) for row in rows] * (len(luck) // 2), dtype=np.uint32)
    drawn = draw(offsets, np.tile(np.concatenate(rows), len(luck) // 2), luck)
    places = drawn - offsets[:-1]
    counts = np.bincount(places[::2], minlength=6)
    assert counts[[0, 2, 5]].tolist() == [0, 0, 0]
    # The frequencies are within five standard errors.
    assert np.abs(counts / len(luck) * 2 - rows[0]).max() < 5 * (0.25 / len(luck) * 2) ** 0.5
    assert (places[1::2] == 1).all()


def test_luck_determines_the_draws() -> None:
    offsets = np.array([0, 2, 3], np.uint32)
    luck = np.array([0, 2**64 - 1], np.uint64)
    assert draw(offsets, np.array([0.5, 0.5, 1.0]), luck).tolist() == [0, 2]
    assert draw(offsets, np.array([0.0, 1.0, 1.0]), luck).tolist() == [1, 2]
    assert draw(offsets, np.array([0.5, 0.5, 1.0]), luck[::-1]).tolist() == [1, 2]


def write_network(path: Path, game: engine.Game, *, masks: bool, kind: int = TensorProto.FLOAT) -> NDArray[np.float32]:
    """Write a network with one layer and return its weights."""
    drawn = np.random.default_rng(1).normal(size=(game.observation_length, game.num_distinct_actions)) / 10
    weights: NDArray[np.float32] = drawn.astype(np.float32)
    inputs = [helper.make_tensor_value_info("observations", kind, ["n", game.observation_length])]
    nodes = [
        helper.make_node("Cast", ["observations"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["numbers", "weights"], ["logits"]),
    ]
    if masks:
        inputs.append(helper.make_tensor_value_info("masks", TensorProto.BOOL, ["n", game.num_distinct_actions]))
        nodes[1].output[0] = "all"
        nodes.append(helper.make_node("Where", ["masks", "all", "low"], ["logits"]))
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", game.num_distinct_actions])
    low = helper.make_tensor("low", TensorProto.FLOAT, [1], [-1e9])
    kept = helper.make_tensor("weights", TensorProto.FLOAT, weights.shape, weights.tobytes(), raw=True)
    graph = helper.make_graph(nodes, "policy", inputs, [output], [kept, low])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return weights


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.UINT8])
@pytest.mark.parametrize("masks", [False, True])
def test_a_network_in_onnx_plays(tmp_path: Path, kind: int, masks: bool) -> None:
    game = engine.game("discat")
    path = tmp_path / "policy.onnx"
    weights = write_network(path, game, masks=masks, kind=kind)
    bot = bots.get(f"onnx:{path}:temperature=0", game, game.min_players)
    assert isinstance(bot, OnnxBot)
    decisions = decisions_of(bot, "discat")
    logits = (decisions.observations.astype(np.float32) @ weights).astype(np.float64)
    expected = NetworkBot(lambda observations, masks: logits, temperature=0).choose(decisions)
    assert (bot.choose(decisions) == expected).all()
    # A bot can be sent to another process without the file.
    path.unlink()
    assert (pickle.loads(pickle.dumps(bot)).choose(decisions) == expected).all()


def test_a_network_of_another_game_is_refused(tmp_path: Path) -> None:
    write_network(tmp_path / "policy.onnx", engine.game("discat"), masks=False)
    bot = bots.get(f"onnx:{tmp_path}/policy.onnx", "chat_perche", 2)
    with pytest.raises(BotError, match=r"^the network does not accept the game's observations: "):
        bot.choose(decisions_of(bot, "chat_perche"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("onnx:none.onnx", "bot onnx:none.onnx: no such file: none.onnx"),
        ("onnx:", "bot onnx:: no such file: "),
        ("onnx:text.onnx", "bot onnx:text.onnx cannot be made: ValueError: no network in ONNX: "),
        (
            "onnx:policy.onnx:temperature=-1",
            "bot onnx:policy.onnx:temperature=-1 cannot be made: ValueError: temperature ",
        ),
        ("onnx:policy.onnx:threads=0", "bot onnx:policy.onnx:threads=0 cannot be made: ValueError: threads must be "),
        ("onnx:policy.onnx:threads=a", "bot onnx:policy.onnx:threads=a cannot be made: ValueError: threads must be "),
        ("onnx:policy.onnx:heat=1", "bot onnx:policy.onnx:heat=1: got an unexpected keyword argument 'heat'"),
        ("onnx:policy.onnx:file=x", "bot onnx:policy.onnx:file=x: "),
    ],
)
def test_invalid_networks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_network(tmp_path / "policy.onnx", engine.game("discat"), masks=False)
    (tmp_path / "text.onnx").write_text("logits")
    with pytest.raises(ValueError, match=r"^bot onnx:") as raised:
        bots.get(spec, "discat", 2)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_without_onnx_runtime_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_network(tmp_path / "policy.onnx", engine.game("discat"), masks=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValueError, match=r"cannot be made: ImportError: .* pip install 'chatiere\[onnx\]'"):
        bots.get(f"onnx:{tmp_path}/policy.onnx", "discat", 2)


def test_requests_cannot_name_network_files(tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    write_network(path, engine.game("discat"), masks=False)
    with pytest.raises(ValueError, match=r"^unknown bot 'onnx' for "):
        Registry().get(f"onnx:{path}", "discat", 2)
    registry = Registry([f"net=onnx:{path}"])
    assert isinstance(registry.get("net", "discat", 2), OnnxBot)
