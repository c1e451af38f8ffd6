"""The tree search with integer networks: compared with a plain implementation, and its arguments."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from tools.over import over_names

from bots import plain_network
from bots.networks import random_network
from bots.plain_search import search_plainly
from chatiere import bots, engine
from chatiere.bots import BotError, Registry, hosting
from chatiere.bots.integer_network import OUTPUT_ONE
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.loading import file_of
from chatiere.bots.network_file import NetworkFile
from chatiere.engine import EngineError, Position

from .support import Host
from .test_search import Drawn, run, same_trees, some_decisions, tree

# exp(-x / 32), in units of 2^-24.
WEIGHTS = [1 << 32]
while len(WEIGHTS) < 512:
    WEIGHTS.append(WEIGHTS[-1] * 4162825044 >> 32)
WEIGHTS = [max(1, (weight - 1) >> 8) for weight in WEIGHTS]


def judged_plainly(file: NetworkFile, position: Position) -> tuple[list[int], list[float]]:
    observation = np.frombuffer(position.observation(position.current_player()), np.uint8)
    logits, values = plain_network.evaluate(file, observation, np.array(position.legal_actions(), np.uint16))
    priors = [WEIGHTS[min(511, (max(logits) - logit) // (OUTPUT_ONE // 32))] for logit in logits]
    return priors, [min(max(value / OUTPUT_ONE, -1.0), file.players - 1.0) for value in values]


def test_the_table_of_weights_is_exponential() -> None:
    for step, weight in enumerate(WEIGHTS):
        assert weight == pytest.approx(math.exp(-step / 32) * 2**24, abs=2)


@over_names
def test_trees_are_those_of_the_plain_search(name: str) -> None:
    game = engine.game(name)
    file = random_network(name, groups=2, seed=3)
    # Some values are outside the range of returns.
    file = file._replace(weights=file.weights._replace(values=file.weights.values * 20))
    positions = some_decisions(game, file.players, 5, 3)
    found = run(positions, 100, exploration=1.25, network=file.network())
    cut_off: set[float] = set()
    for number, worlds in enumerate(Drawn(positions).of(0, 100)):

        def judged(position: Position) -> tuple[list[int], list[float]]:
            priors, values = judged_plainly(file, position)
            cut_off.update(value for value in values if value in (-1.0, file.players - 1.0))
            return priors, values

        plain = search_plainly(game, number + 7, worlds, 1.25, judged)
        mine = tree(found, number)
        for action in positions[number].legal_actions():
            visits, value = plain.get(action, (0, math.nan))
            assert mine[action][0] == visits
            assert mine[action][1] == pytest.approx(value, nan_ok=True)
    assert len(cut_off) == 2


def test_a_tree_depends_only_on_its_seed_and_worlds() -> None:
    network = random_network("discat").network()
    positions = some_decisions(engine.game("discat"), 2, 8, 4)
    together = run(positions, 130, network=network, noise=0.25)
    assert same_trees(together, run(positions, 130, network=pickle.loads(pickle.dumps(network)), noise=0.25))
    for number, position in enumerate(positions):
        seeds = np.array([number + 7], np.uint64)
        alone = run([position], 130, network=network, noise=0.25, seeds=seeds, worlds=Drawn([position], [number]))
        assert list(tree(alone, 0)) == list(tree(together, number))
        assert np.array_equal(list(tree(alone, 0).values()), list(tree(together, number).values()), equal_nan=True)


def test_a_network_of_another_game_or_with_evaluate_is_refused() -> None:
    positions = some_decisions(engine.game("discat"), 3, 8, 1)
    for name, players in (("discat", 2), ("momistigri", 3)):
        with pytest.raises(EngineError, match=r"^the network is not for discat with 3 players$") as raised:
            run(positions, 1, network=random_network(name, players).network())
        assert raised.value.field == "network"
    with pytest.raises(EngineError, match=r"^evaluate and network are not for one search$"):
        run(positions, 1, network=random_network("discat", 3).network(), evaluate=print)


def test_a_world_that_does_not_belong_to_its_tree_is_named() -> None:
    positions = some_decisions(engine.game("discat"), 2, 8, 2)
    drawn = Drawn(positions)

    def worlds(count: int) -> bytes:
        packed = bytearray(drawn(count))
        # Write the actor's cards.
        end = len(packed)
        packed[end - 8 : end] = b"\xff" * 8
        return bytes(packed)

    with pytest.raises(EngineError, match=r"^world \d+ of tree 1: "):
        run(positions, 20, worlds=worlds, network=random_network("discat").network())


def test_the_bot_searches_with_a_network_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "network.net"
    file = random_network("discat")
    path.write_bytes(file.to_bytes())
    spec = f"ismcts:simulations=30,net={path}"
    bot = bots.get(spec, "discat", 2)
    assert bots.split(f"random,{spec},largest") == ["random", spec, "largest"]
    assert file_of(spec) == path
    assert file_of("ismcts:simulations=30") is None
    assert file_of("ismcts:simulations=30,net=trained") is None
    decisions = Host("discat", 2, 20, 7).decisions(bot, np.arange(20))
    judged = hosting.judge(bot, decisions)
    assert np.add.reduceat(judged.shares, decisions.legal_offsets[:-1]) == pytest.approx(1)
    for other in (IsmctsBot(30, net=file), pickle.loads(pickle.dumps(bot))):
        assert (other.judge(decisions).shares == judged.shares).all()
    assert (IsmctsBot(30).judge(decisions).shares != judged.shares).any()
    with pytest.raises(BotError, match=r"^the network plays discat with 2 players, not discat with 3$"):
        bot.choose(Host("discat", 3, 2, 7).decisions(bot, np.arange(2)))


def test_invalid_networks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.net").write_bytes(random_network("discat").to_bytes())
    Path("text.net").write_text("logits")
    for spec, players, message in [
        ("ismcts:net=none.net", 2, "bot ismcts: the network none.net cannot be read: .*No such file.*"),
        ("ismcts:net=text.net", 2, "bot ismcts: the network text.net cannot be read: it is not a network in integers"),
        ("ismcts:net=good.net", 3, "the network plays discat with 2 players, not discat with 3"),
        ("ismcts:net=good.net,net=good.net", 2, "bot ismcts: net is given twice"),
        ("ismcts:net=good.net,depth=2", 2, "bot ismcts: unknown parameter 'depth'; .*"),
        ("ismcts:net=good.net,", 2, "bot ismcts: '' is not PARAMETER=NUMBER"),
        ("flat:net=good.net", 2, "bot flat: unknown parameter 'net'; .*"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            bots.get(spec, "discat", players)


def test_requests_name_only_networks_that_an_operator_added(tmp_path: Path) -> None:
    path = tmp_path / "network.net"
    path.write_bytes(random_network("discat").to_bytes())
    more = [f"strong=net:{path}", "simple=chatiere.bots.random:RandomBot"]
    for players, added, known in ((2, [], "trained"), (2, more, "trained, strong"), (3, [], "none")):
        with pytest.raises(ValueError, match=rf"^bot ismcts: unknown network '.*'; known networks: {known}$"):
            Registry(added).get(f"ismcts:net={path}", "discat", players)
    registry = Registry([f"strong=net:{path}"])
    bot = registry.get("ismcts:simulations=30,net=strong", "discat", 2)
    decisions = Host("discat", 2, 20, 7).decisions(bot, np.arange(20))
    named = bots.get(f"ismcts:simulations=30,net={path}", "discat", 2)
    assert (bot.choose(decisions) == named.choose(decisions)).all()
    with pytest.raises(ValueError, match=r"^the network plays discat with 2 players, not discat with 3$"):
        registry.get("ismcts:net=strong", "discat", 3)
