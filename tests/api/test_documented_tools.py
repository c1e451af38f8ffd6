"""Each tool in the table of docs/frontends.md reads the API definition as its row describes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from service.support import Running, running
from tools.needs import require
from tools.node_modules import install

from chatiere import engine

ROOT = Path(__file__).parents[2]
NODE = """
const [descriptors, address] = process.argv.slice(2);
const grpc = require("@grpc/grpc-js");
const { loadFileDescriptorSetFromBuffer } = require("@grpc/proto-loader");
const definition = loadFileDescriptorSetFromBuffer(require("fs").readFileSync(descriptors));
const { chatiere } = grpc.loadPackageDefinition(definition);
const service = new chatiere.v1.GameService(address, grpc.credentials.createInsecure());
service.listGames({}, (error, response) => {
  service.close();
  console.log(JSON.stringify(response));
});
"""


def rows() -> dict[str, list[str]]:
    """Return the code snippets of each row, by the row's first cell."""
    text = (ROOT / "docs/frontends.md").read_text("utf-8")
    (table,) = re.findall(r"^\| with \| .*\n\| --- .*\n((?:\|.*\n)+)", text, re.M)
    cells = [row.strip("|").split(" | ") for row in table.splitlines()]
    return {name.strip(): re.findall(r"`([^`]+)`", how) for name, how in cells}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the API definition into a folder and return the folder."""
    run(tmp_path, "chatiere protos api")
    return tmp_path


def run(folder: Path, command: str, **variables: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path} | variables
    done = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(listed: str) -> list[str]:
    """Return the names of the games in a ListGamesResponse, given as JSON."""
    return [game["name"] for game in json.loads(listed)["games"]]


def buf(folder: Path, server: Running, code: list[str]) -> None:
    # Use the plugin that grpcio-tools' compiler includes.
    compiler = [sys.executable, "-m", "grpc_tools.protoc"]
    plugin = {"protoc_builtin": "python", "protoc_path": compiler, "out": "generated"}
    (folder / "buf.gen.yaml").write_text(json.dumps({"version": "v2", "plugins": [plugin]}))
    command, _ = code
    run(folder, command)
    assert (folder / "generated/chatiere/v1/discat_pb2.py").exists()
    assert (folder / "generated/google/rpc/error_details_pb2.py").exists()


def protoc(folder: Path, server: Running, code: list[str]) -> None:
    require("protoc")
    command, *_ = code
    run(folder, command)
    assert (folder / "generated/io/github/chatiere/v1/DiscatState.java").exists()
    assert (folder / "generated/com/google/rpc/ErrorInfo.java").exists()


def node(folder: Path, server: Running, code: list[str]) -> None:
    assert all(name.split(".")[-1] in NODE for name in code)
    modules = install(ROOT / "tests/service/interop")
    (folder / "list.js").write_text(NODE)
    listed = run(folder, f"node list.js api/descriptors.binpb {server.address}", NODE_PATH=str(modules))
    assert names(listed) == [game.name for game in engine.games()]


def python(folder: Path, server: Running, code: list[str]) -> None:
    assert code == ["DescriptorPool.Add", "file", "GetMessageClass"]
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString((folder / "api/descriptors.binpb").read_bytes()).file:
        pool.Add(file)
    state = GetMessageClass(pool.FindMessageTypeByName("chatiere.v1.State"))
    assert state(rules_version=2).SerializeToString() == b"\x08\x02"


def buf_curl(folder: Path, server: Running, code: list[str]) -> None:
    (option,) = code
    how = f"--protocol grpc --http2-prior-knowledge {option} --data '{{}}'"
    listed = run(folder, f"buf curl {how} http://{server.address}/chatiere.v1.GameService/ListGames")
    assert names(listed) == [game.name for game in engine.games()]


def grpcurl(folder: Path, server: Running, code: list[str]) -> None:
    require("grpcurl")
    (option,) = code
    listed = run(folder, f"grpcurl -plaintext {option} {server.address} chatiere.v1.GameService/ListGames")
    assert names(listed) == [game.name for game in engine.games()]


TOOLS: dict[str, Callable[[Path, Running, list[str]], None]] = {
    "buf, any language": buf,
    "protoc, any language": protoc,
    "Node, without generated code": node,
    "Python, without generated code": python,
    "buf curl": buf_curl,
    "grpcurl": grpcurl,
}


def test_there_is_a_test_for_every_row() -> None:
    assert list(rows()) == list(TOOLS)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_reads_the_definition_as_documented(folder: Path, server: Running, tool: str) -> None:
    TOOLS[tool](folder, server, rows()[tool])
