"""Chat perché, copied under another name by the edits that CONTRIBUTING.md lists, is played through every interface."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from service.process import served
from tools.mutants.trial import build, copy_tree, search_path

pytestmark = pytest.mark.slow

OLD, NEW = "chat_perche", "chat_saute"
GAMES = Path("engine/chatiere/engine/games")
PROTO = Path("proto/chatiere/v1")
# A program that plays the copy and Chat perché in the same way through each interface, and compares the results.
PLAYED = """
import json, sys, urllib.request
import numpy as np
from chatiere import engine
from chatiere.clients import Client, SealedSeat, VectorEnv
from chatiere.envs import TableEnv
from chatiere.envs.pettingzoo import env
from chatiere.v1.game_pb2 import Include
from chatiere.v1.table_service_pb2 import ACKNOWLEDGEMENT_NONE, TableSeat

address, web, secret = sys.argv[1:]
JSON = {"content-type": "application/json"}

def in_process(game):
    position = engine.game(game).new_game(2, seed=7)
    while not position.is_terminal():
        position.apply(position.legal_actions()[-1])
    return position.returns(), position.totals()

def through_grpc(game):
    with Client(address) as client:
        position = client.new_game(game, 2, seed=7, include=Include(legal_actions=True, score=True))
        while position.legal_actions:
            include = Include(legal_actions=True, score=True)
            position = client.apply(position.state, position.legal_actions[-1], include=include)
        return [*position.score.returns], [*position.score.totals]

def through_json(game):
    body = json.dumps({"game": game, "players": 2, "seed": "7", "include": {"legalActions": True}}).encode()
    request = urllib.request.Request(f"http://{web}/chatiere.v1.GameService/NewGame", body, JSON)
    return [action["label"] for action in json.load(urllib.request.urlopen(request))["position"]["legalActions"]]

def in_batches(game):
    options = {"num_envs": 64, "observations": True}
    with TableEnv(game, 2, **options) as local, VectorEnv(address, game, 2, batches=1, **options) as remote:
        batches = local.reset(seed=7), remote.reset(seed=7)
        for _ in range(200):
            actions = batches[0].legal_ids[batches[0].legal_offsets[:-1]]
            batches = local.step(actions), remote.step(actions)
            assert np.array_equal(batches[0].legal_ids, batches[1].legal_ids)
        return batches[0].observations.tolist()

def in_pettingzoo(game):
    zoo = env(game, 2)
    zoo.reset(seed=7)
    for agent in zoo.agent_iter():
        observation, _, terminated, truncated, _ = zoo.last()
        zoo.step(None if terminated or truncated else int(np.flatnonzero(observation["action_mask"])[-1]))
    return True

def at_a_sealed_table(game):
    with SealedSeat(address, f"{secret}-{game}") as me:
        table = me.new_table(game, [me.seat, TableSeat(bot="flat:playouts=10")], ACKNOWLEDGEMENT_NONE).table
        return me.look(table).view.turn.kind

for interface in (in_process, through_grpc, through_json, in_batches, in_pettingzoo, at_a_sealed_table):
    assert interface("chat_saute") == interface("chat_perche"), interface
"""


def renamed(text: str) -> str:
    for old, new in (
        (OLD, NEW),
        ("ChatPerche", "ChatSaute"),
        ("CHAT_PERCHE", "CHAT_SAUTE"),
        ("Chat perché", "Chat sauté"),
    ):
        text = text.replace(old, new)
    return text


def rewrite(path: Path, old: str, new: str, count: int) -> None:
    text, replaced = re.subn(old, new, path.read_text("utf-8"))
    assert replaced == count, path
    path.write_text(text, "utf-8")


def test_a_copied_game_is_played_through_every_interface(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    package = tmp_path / GAMES / NEW
    shutil.copytree(tmp_path / GAMES / OLD, package, ignore=shutil.ignore_patterns("*.so", "*.mo"))
    # Edit the names in the API and the description, one line each of `codec` and `kernel`, and the list of games.
    for path in (tmp_path / PROTO / f"{NEW}.proto", package / "description.py", package / "fr.po"):
        source = path if path.exists() else tmp_path / PROTO / f"{OLD}.proto"
        path.write_text(renamed(source.read_text("utf-8")), "utf-8")
    rewrite(package / "description.py", r"import ChatSaute(\w+)", r"import ChatPerche\1", 3)
    rewrite(package / "codec.pyx", f"fields.{OLD}", f"fields.{NEW}", 1)
    rewrite(package / "kernel.pyx", r"number=\d+", "number=99", 1)
    rewrite(tmp_path / GAMES / "__init__.py", f'    "{OLD}",\n', rf'\g<0>    "{NEW}",\n', 1)
    messages = tmp_path / PROTO / "game.proto"
    rewrite(messages, f'import "chatiere/v1/{OLD}.proto";\n', rf'\g<0>import "chatiere/v1/{NEW}.proto";\n', 1)
    rewrite(messages, rf"    ChatPerche(\w+) {OLD} = \d+;\n", rf"\g<0>    ChatSaute\1 {NEW} = 30;\n", 8)
    code, output = build(tmp_path, "release")
    assert code == 0, output
    environment = os.environ | {"PYTHONPATH": search_path(tmp_path)}
    command = (sys.executable, "-m", "chatiere", "play", "--game", NEW)
    with served("--web-address", "127.0.0.1:0", environment=environment) as server:
        played = (sys.executable, "-c", PLAYED, server.address, server.web_address, str(tmp_path / "seat"))
        for each in (played, command):
            done = subprocess.run(each, env=environment, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
