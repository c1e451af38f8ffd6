"""The cases of Connect's conformance suite for servers (cases.toml), at all doors. deviations.toml lists failing cases.

A case is run on methods of the service that have the same kinds of streams. They are made to behave as it requires.
"""

import base64
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from google.rpc import status_pb2
from tools.needs import needs
from tools.over import over
from tools.patience import PATIENCE

from chatiere.service.base.settings import Settings

from ..support import Door, running
from .clients import Codec, Outcome, call_grpc, envelope, packed, read_connect, read_grpc_web
from .script import BATCH, DETAIL, FEED, SINGLE, STREAM, Method, Script

_FOLDER = Path(__file__).parent
SUITES = tomllib.loads((_FOLDER / "cases.toml").read_text("utf-8"))["suite"]
DEVIATIONS = tomllib.loads((_FOLDER / "deviations.toml").read_text("utf-8"))["deviation"]
_UNKNOWN = "/chatiere.v1.UnknownService/UnknownMethod"
# The maximum size of a request, in bytes, in the suite about sizes.
_LIMIT = 1024


class Way(NamedTuple):
    """A door, and a way to call it."""

    door: Door
    protocol: str
    codec: str = "proto"
    compression: str = "identity"


def _ways() -> Iterator[Any]:
    for compression in ("identity", "gzip"):
        yield Way("grpcio", "grpc", compression=compression)
    yield pytest.param(Way("fast", "grpc"), marks=needs("libnghttp2"))
    for protocol in ("connect", "grpc-web"):
        for codec in ("proto", "json"):
            for compression in ("identity", "gzip"):
                yield Way("web", protocol, codec, compression)


WAYS = list(_ways())


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with pytest.MonkeyPatch.context() as patch:
        yield Script(patch)


@pytest.fixture(scope="module")
def address_of(script: Script) -> Iterator[Callable[[Door, int | None], str]]:
    """Return a function that returns the address of a server by its door and by the maximum size of its requests.

    The server starts at the first call.
    """
    with ExitStack() as started:

        @cache
        def address_of(door: Door, largest: int | None) -> str:
            settings = Settings(address="127.0.0.1:0")
            if largest is not None:
                settings = replace(settings, max_message_bytes=largest)
            return started.enter_context(running(settings, door)).address

        yield address_of


def cases_for(way: Way) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cases for a way to call, with their names."""
    for suite in SUITES:
        pairs = (("protocols", way.protocol), ("codecs", way.codec), ("compressions", way.compression))
        if all(value in suite.get(key, [value]) for key, value in pairs):
            yield from ((f"{suite['name']}/{case['name']}", case) for case in suite["cases"])


def deviations_of(name: str, way: Way) -> list[dict[str, Any]]:
    """Return the known deviations of a case, SUITE/CASE, at a door."""
    return [
        each
        for each in DEVIATIONS
        if way.door in each.get("doors", [way.door]) and any(fnmatchcase(name, pattern) for pattern in each["cases"])
    ]


@over("way", WAYS, ids="-".join)
def test_doors_behave_as_the_cases_require(way: Way, script: Script, address_of: Callable[..., str]) -> None:
    wrong = {}
    for name, case in cases_for(way):
        known = deviations_of(name, way)
        if any(each["kind"] == "absent" for each in known):
            continue
        address = address_of(way.door, _LIMIT if "sizes" in case else None)
        for method in methods_of(case):
            found = differences(case, way, method, script, address)
            fails = any(each["kind"] == "fails" for each in known)
            if fails != bool(found):
                wrong[f"{name} ({method.path})"] = found or "is no longer a deviation"
    assert not wrong


def methods_of(case: dict[str, Any]) -> list[Method]:
    """Return the methods on which a case is run."""
    if case["stream"] == "unary":
        # The handler of SINGLE responds immediately, so it cannot be late.
        return [BATCH] if case.get("late") or case.get("get") else [SINGLE, BATCH]
    return [FEED] if case["stream"] == "server" else [STREAM]


def differences(case: dict[str, Any], way: Way, method: Method, script: Script, address: str) -> list[str]:
    """Make a case's call. Return how its outcome differs from the case's requirements."""
    codes, responses = case.get("codes", [""]), case.get("responses", 1)
    is_scripted = "codes" in case and not (case.keys() & {"raw", "sizes", "late"})
    message = case.get("message", f"{case['name']} failed")
    script.play(codes[0] if is_scripted else "", message, responses, is_late=case.get("late", False))
    found = made(case, way, method, address)
    pairs: list[tuple[str, Any, list[Any]]] = [("code", found.code, codes)]
    if "http" in case:
        pairs.append(("HTTP status", found.http, [case["http"]]))
    if is_scripted:
        details = [detail.value for detail in status_pb2.Status.FromString(found.details).details]
        pairs += [("message", found.message, [message]), ("details", details, [[DETAIL.SerializeToString()]])]
    if is_scripted or codes == [""]:
        pairs.append(("responses", found.messages, [[method.response.SerializeToString()] * responses]))
    if codes == [""]:
        requests = [content(case, method, size) for size in case.get("sizes", [0] * case.get("requests", 1))]
        pairs.append(("requests", script.requests, [requests]))
    return [f"{what}: {value!r}, not {wanted!r}" for what, value, wanted in pairs if value not in wanted]


def content(case: dict[str, Any], method: Method, size: int) -> bytes:
    """Return a case's request in wire format. `size` is the number of bytes above the limit, for cases about sizes."""
    if case.get("empty"):
        return b""
    if "sizes" not in case:
        return method.request.SerializeToString()
    # The request gets an unknown field (number 15) of bytes.
    rest = _LIMIT + size - 3
    return bytes([15 << 3 | 2, rest & 0x7F | 0x80, rest >> 7]) + bytes(rest)


def made(case: dict[str, Any], way: Way, method: Method, address: str) -> Outcome:
    """Make a case's call."""
    raw, codec = case.get("raw", {}), Codec(way.codec, type(method.response))
    is_unary = way.protocol == "connect" and method in (SINGLE, BATCH)
    sizes = case.get("sizes", [0] * case.get("requests", 1))
    if way.codec == "proto":
        bodies = [packed(content(case, method, size), way.compression) for size in sizes]
    else:
        bodies = [packed(codec.write(method.request), way.compression) for _ in sizes]
    flags = raw.get("flags", [int(way.compression == "gzip")] * len(sizes))
    parts = [envelope(flag, body) for flag, body in zip(flags, cycle(bodies))]
    fields = list(fields_of(case, way, is_unary=is_unary))
    verb, path = raw.get("verb", "POST"), _UNKNOWN if raw.get("path") == "unknown" else method.path
    if way.protocol == "grpc":
        return call_grpc(address, verb, path, fields, parts, is_full=case["stream"] == "full")
    with httpx.Client(base_url=f"http://{address}", trust_env=False, verify=False, timeout=PATIENCE) as client:
        if case.get("get"):
            message = base64.urlsafe_b64encode(bodies[0]).decode().rstrip("=")
            query = {"connect": "v1", "encoding": way.codec, "base64": "1", "message": message}
            answer = client.get(path, params=query)
        else:
            answer = client.request(verb, path, headers=fields, content=bodies[0] if is_unary else b"".join(parts))
    if way.protocol == "connect":
        return read_connect(answer, codec, is_unary=is_unary)
    return read_grpc_web(answer, codec)


def fields_of(case: dict[str, Any], way: Way, *, is_unary: bool) -> Iterator[tuple[str, str]]:
    """Yield the headers of a case's call. `is_unary` selects Connect's protocol for unary calls."""
    raw, is_connect = case.get("raw", {}), way.protocol == "connect"
    kind = {"grpc": "grpc+", "grpc-web": "grpc-web+", "connect": "" if is_unary else "connect+"}[way.protocol]
    yield "content-type", raw.get("type", f"application/{kind}{way.codec}")
    if way.protocol == "grpc":
        yield "te", "trailers"
    if way.compression != "identity" or "encoding" in raw:
        encoding = "content-encoding" if is_unary else "connect-content-encoding" if is_connect else "grpc-encoding"
        yield encoding, raw.get("encoding", way.compression)
    if "timeout" in case and is_connect:
        yield "connect-timeout-ms", str(case["timeout"])
    elif "timeout" in case:
        yield "grpc-timeout", f"{case['timeout']}m"
    for value in ("Value1", "Value2") if case.get("metadata") else ():
        yield "x-conformance-test", value


def test_every_case_is_run_or_is_a_deviation() -> None:
    ways = [way if isinstance(way, Way) else way.values[0] for way in WAYS]
    found = {name: case for way in ways for name, case in cases_for(way)}
    assert len(found) == sum(len(suite["cases"]) for suite in SUITES)
    for way in ways:
        for name, case in cases_for(way):
            kinds = {each["kind"] for each in deviations_of(name, way)}
            assert case["stream"] != "client" or "absent" in kinds
            assert not case.get("metadata") or kinds & {"absent", "metadata"}


def test_every_deviation_has_a_reason_and_a_case() -> None:
    names = [f"{suite['name']}/{case['name']}" for suite in SUITES for case in suite["cases"]]
    for each in DEVIATIONS:
        assert each["reason"]
        assert each["kind"] in ("absent", "fails", "metadata")
        for pattern in each["cases"]:
            assert any(fnmatchcase(name, pattern) for name in names), pattern
