"""chatiere protos: the files written are sufficient for a client in any language."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc_tools
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

import chatiere.v1.game_service_pb2

from .conftest import Run

GENERATED = Path(chatiere.v1.game_service_pb2.__file__).parent
OURS = sorted(f"chatiere/v1/{path.name}" for path in Path(__file__).parents[2].glob("proto/chatiere/v1/*.proto"))
STATUS = ["google/rpc/code.proto", "google/rpc/error_details.proto", "google/rpc/status.proto"]
WELL_KNOWN = Path(grpc_tools.__file__).parent / "_proto"


@pytest.fixture
def written(run: Run, tmp_path: Path) -> Path:
    """A new folder with the files that the command wrote."""
    folder = tmp_path / "new" / "api"
    result = run("protos", folder)
    assert result.exit_code == 0
    files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    assert result.stdout.splitlines() == files
    return folder


@pytest.fixture
def described(written: Path) -> FileDescriptorSet:
    return FileDescriptorSet.FromString((written / "descriptors.binpb").read_bytes())


def message(pool: DescriptorPool, name: str) -> type[Message]:
    return GetMessageClass(pool.FindMessageTypeByName(name))


def test_the_definitions_are_written(written: Path) -> None:
    names = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    assert names == {"descriptors.binpb", *OURS, *STATUS}
    for name in OURS:
        assert (written / name).read_bytes() == (Path(__file__).parents[2] / "proto" / name).read_bytes()


def test_a_refusal_can_be_read_with_only_the_descriptor_set(described: FileDescriptorSet, address: str) -> None:
    pool = DescriptorPool()
    for file in described.file:
        # The pool raises an error if an import is missing or follows later.
        pool.Add(file)
    request: Any = message(pool, "chatiere.v1.NewGameRequest")(game="discat", players=7)
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary("/chatiere.v1.GameService/NewGame")(request.SerializeToString())
    error: Any = raised.value
    (packed,) = [value for name, value in error.trailing_metadata() if name == "grpc-status-details-bin"]
    status: Any = message(pool, "google.rpc.Status").FromString(packed)
    assert pool.FindEnumTypeByName("google.rpc.Code").values_by_number[status.code].name == "INVALID_ARGUMENT"
    details: dict[str, Any] = {}
    for detail in status.details:
        name = detail.type_url.rpartition("/")[2]
        details[name] = message(pool, name).FromString(detail.value)
    info = details["google.rpc.ErrorInfo"]
    assert pool.FindEnumTypeByName("chatiere.v1.ErrorReason").values_by_name[f"ERROR_REASON_{info.reason}"].number == 2
    assert (info.domain, info.metadata["max_players"]) == ("chatiere", "6")
    (violation,) = details["google.rpc.BadRequest"].field_violations
    assert violation.field == "players"


def test_code_can_be_generated_from_only_the_descriptor_set(written: Path, tmp_path: Path) -> None:
    """The code equals the package's code, except where it depends on JSON names. Only the set contains these names."""
    target = tmp_path / "code"
    target.mkdir()
    described = f"--descriptor_set_in={written / 'descriptors.binpb'}"
    out = [f"--python_out={target}", f"--pyi_out={target}", f"--grpc_python_out={target}"]
    assert protoc.main(["protoc", described, *out, *OURS, *STATUS]) == 0
    for name in (*OURS, *STATUS):
        compile((target / name.replace(".proto", "_pb2.py")).read_text(), name, "exec")
    for name in OURS:
        for suffix in ("_pb2.pyi", "_pb2_grpc.py"):
            made = target / name.replace(".proto", suffix)
            assert made.read_text() == (GENERATED / made.name).read_text()


def all_comments(described: FileDescriptorSet) -> list[tuple[str, list[int], str, str]]:
    """Return the comments of the API's files, with their places."""
    return [
        (file.name, list(place.path), place.leading_comments, place.trailing_comments)
        for file in described.file
        if file.package == "chatiere.v1"
        for place in file.source_code_info.location
        if place.leading_comments or place.trailing_comments or place.leading_detached_comments
    ]


def test_the_proto_files_match_the_descriptor_set(written: Path, described: FileDescriptorSet, tmp_path: Path) -> None:
    out = tmp_path / "again.binpb"
    imports = [f"-I{written}", f"-I{WELL_KNOWN}", "--include_imports", "--include_source_info"]
    assert protoc.main(["protoc", *imports, f"--descriptor_set_out={out}", *OURS, *STATUS]) == 0
    found = FileDescriptorSet.FromString(out.read_bytes())
    assert all_comments(found) == all_comments(described)
    for file in (*found.file, *described.file):
        file.ClearField("source_code_info")
    assert found == described


def test_buf_accepts_the_descriptor_set(written: Path) -> None:
    buf = Path(sys.executable).with_name("buf")
    done = subprocess.run([buf, "ls-files", "descriptors.binpb"], cwd=written, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {*OURS, *STATUS} <= set(done.stdout.split())


def comments(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Yield each message, field, enum and method of a file, with its comment."""
    comments_by_path = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
    for number, of_file in enumerate(file.message_type):
        yield of_file.name, comments_by_path[4, number]
        for place, field in enumerate(of_file.field):
            yield f"{of_file.name}.{field.name}", comments_by_path[4, number, 2, place]
    for number, enum in enumerate(file.enum_type):
        yield enum.name, comments_by_path[5, number]
    for number, service in enumerate(file.service):
        for place, method in enumerate(service.method):
            yield f"{service.name}.{method.name}", comments_by_path[6, number, 2, place]


def test_the_descriptor_set_has_the_comments(described: FileDescriptorSet) -> None:
    found = {name: text for file in described.file if file.name in OURS for name, text in comments(file)}
    assert "GameService.Apply" in found
    assert [name for name, text in found.items() if not text.strip()] == []


def test_the_files_may_be_overwritten(run: Run, written: Path) -> None:
    (written / "descriptors.binpb").write_bytes(b"of another version")
    (written / "mine.txt").write_text("stays")
    assert run("protos", written).exit_code == 0
    assert FileDescriptorSet.FromString((written / "descriptors.binpb").read_bytes()).file
    assert (written / "mine.txt").read_text() == "stays"


@pytest.mark.parametrize("wrong", ["file", "file/below"])
def test_an_invalid_folder_is_refused(run: Run, tmp_path: Path, wrong: str) -> None:
    (tmp_path / "file").write_text("")
    result = run("protos", tmp_path / wrong)
    assert result.exit_code == 2
    assert str(tmp_path / wrong) in result.stderr
