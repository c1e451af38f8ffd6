"""Reads the pages for frontend authors: their calls and the printed responses.

A call is a block without a language: lines of metadata (`accept-language: fr`), then the method's name and the request
as JSON. In the request, `"state": …` stands for the state in the page's last response, and `"record": …` for the record
stored next to the page. A response is a block of JSON after a comment. The comment lists the parts of the last call's
response that are printed:

    <!-- response: position.turn position.events[0:2] short: cards hand:5 -->

A part is a path. `details[ErrorInfo]` is the detail of that type. Lists named after `short:` are printed up to three
elements, or up to the number after the colon, followed by "…". The response to a refused call is its google.rpc.Status.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from grpc_status import rpc_status

from chatiere.clients.records import SUFFIX, read_record
from chatiere.v1 import game_service_pb2

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "frontends.md", *sorted((ROOT / "docs" / "games").glob("*.md"))]

# The width of a line of JSON, with space for closing brackets.
_WIDTH = 126
_BLOCK = re.compile(
    r"(?:^<!-- response: (?P<parts>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
_CALL = re.compile(r"\s*(?P<headers>(?:^[a-z-]+: .*\n)*)^(?P<method>[A-Z]\w*) (?=\{)", re.M)
_STEP = re.compile(
    r"\.?(?:(?P<name>\w+)|\[(?P<index>-?\d+)\]|\[(?P<start>-?\d*):(?P<stop>-?\d*)\]|\[(?P<type>[A-Z]\w*)\])"
)
_MAX_SHOWN = 3


@dataclass
class Block:
    """A block of a page: the place, the text, and the parts of a response that the block has to print."""

    page: Path
    start: int
    end: int
    line: int
    language: str
    text: str
    parts: str | None


@dataclass
class Call:
    """A call in a page. The request may still contain "…" for its state or its record."""

    method: str
    request: dict[str, Any]
    headers: list[tuple[str, str]]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            *found.span("text"),
            line=text.count("\n", 0, found.start("text")),
            language=found["language"],
            text=found["text"],
            parts=found["parts"],
        )
        for found in _BLOCK.finditer(text)
    ]


def calls(block: Block) -> Iterator[Call]:
    """Yield the calls in a block without a language. Raises ValueError if the block contains anything else."""
    text, place = re.sub(r'("(?:state|record)": )…', r'\1"…"', block.text), 0
    while text[place:].strip():
        found = _CALL.match(text, place)
        if found is None:
            raise ValueError(f"{block.page.name}:{block.line}: not a call: {text[place:]}")
        request, place = json.JSONDecoder().raw_decode(text, found.end())
        headers = [(name, value) for name, value in (line.split(": ") for line in found["headers"].splitlines())]
        yield Call(found["method"], request, headers)


def made(channel: grpc.Channel, page: Path) -> Iterator[tuple[Block, str]]:
    """Make the calls in a page in order. Yield each block of JSON with the text that it must have.

    Raises ValueError for a call that fails if no block shows the error.
    """
    state: Any = None
    response: Any = None
    for block, after in itertools.zip_longest(found := blocks(page), found[1:]):
        if block.language == "json":
            yield block, "\n".join(layout(part) for part in parts_of(response, block)) + "\n"
        elif not block.language:
            for call in calls(block):
                response = _response(channel, call, state, page)
                reached: dict[str, Any] = response.get("position") or next(reversed(response.get("positions", [])), {})
                state = reached.get("state", state)
                if "details" in response and "details[" not in ((after and after.parts) or ""):
                    raise ValueError(f"{page.name}, line {block.line}: {call.method} is refused: {response['message']}")


def _response(channel: grpc.Channel, call: Call, state: Any, page: Path) -> dict[str, Any]:
    """Return the response to a call as JSON, or the status if the call fails."""
    if call.request.get("state") == "…":
        call.request["state"] = state
    if call.request.get("record") == "…":
        call.request["record"] = MessageToDict(read_record(page.with_suffix(SUFFIX)))
    method = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods_by_name[call.method]
    request: Message = getattr(game_service_pb2, method.input_type.name)()
    ParseDict(call.request, request)
    rpc = channel.unary_unary(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=getattr(game_service_pb2, method.output_type.name).FromString,
    )
    try:
        return MessageToDict(rpc(request, metadata=tuple(call.headers)))
    except grpc.RpcError as error:
        refused: dict[str, Any] = MessageToDict(rpc_status.from_call(error))
        for detail in refused["details"]:
            if "metadata" in detail:
                detail["metadata"] = dict(sorted(detail["metadata"].items()))
        return refused


def parts_of(response: Any, block: Block) -> Iterator[Any]:
    """Yield the parts of a response that a block prints."""
    if block.parts is None:
        raise ValueError(f"{block.page.name}:{block.line}: JSON without a comment about the printed parts")
    paths, _, names = block.parts.partition("short:")
    shown = {name: int(most or _MAX_SHOWN) for name, _, most in (each.partition(":") for each in names.split())}
    for path in paths.split():
        values = [response]
        for step in _STEP.finditer(path):
            if step["name"]:
                values = [value[step["name"]] for value in values]
            elif step["index"]:
                values = [value[int(step["index"])] for value in values]
            elif step["type"]:
                values = [one for value in values for one in value if one["@type"].endswith(f".{step['type']}")]
            else:
                part = slice(*(int(bound) if bound else None for bound in (step["start"], step["stop"])))
                values = [element for value in values for element in value[part]]
        yield from (shortened(value, shown) for value in values)


def shortened(value: Any, shown: dict[str, int]) -> Any:
    """Return a value with the named lists shortened."""
    if isinstance(value, list):
        return [shortened(element, shown) for element in value]
    if not isinstance(value, dict):
        return value
    found = {name: shortened(inner, shown) for name, inner in value.items()}
    for name, most in shown.items():
        if isinstance(found.get(name), list) and len(found[name]) > most:
            found[name][most:] = ["…"]
    return found


def layout(value: Any, indent: int = 0) -> str:
    """Return a value as JSON, with each line filled as far as it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= _WIDTH or not isinstance(value, dict | list):
        return flat
    named = value.items() if isinstance(value, dict) else ((None, element) for element in value)
    text = flat[0]
    column, broken = indent + 1, False
    for number, (name, inner) in enumerate(named):
        label = "" if name is None else f"{json.dumps(name)}: "
        width = len(label) + len(json.dumps(inner, ensure_ascii=False))
        if number:
            fits = not broken and column + 2 + width <= _WIDTH
            text += ", " if fits else ",\n" + " " * (indent + 1)
            column = column + 2 if fits else indent + 1
        written = label + layout(inner, column + len(label))
        text += written
        broken = "\n" in written
        column += len(written)
    return text + flat[-1]


def rewritten(page: Path, responses: list[tuple[Block, str]]) -> str:
    """Return a page with the correct text in each block of JSON."""
    text = page.read_text(encoding="utf-8")
    for block, response in reversed(responses):
        text = text[: block.start] + response + text[block.end :]
    return text
