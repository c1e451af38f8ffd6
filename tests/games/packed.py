"""The fields of packed states, as defined in each game's state.pxd, and states in which some fields are changed."""

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import chatiere.engine
from chatiere.engine import Game, Position

Edit = Callable[[Any], object]

HEADER = 32
"""The number of bytes before a packed state's fields: the Header of core/packed.pxd."""

_ROOT = Path(chatiere.engine.__file__).parents[2]
_CIMPORT = re.compile(r"^from (?:chatiere\.engine\.games\.\w+)?(\.\w+) cimport", re.MULTILINE)
_ENUM = re.compile(r"^cp?def enum.*:\n((?: .*\n)+)", re.MULTILINE)
_NUMBER = re.compile(r"^    (\w+)(?: = ([^#\n]+))?", re.MULTILINE)
_STRUCT = re.compile(r"^ctypedef struct (\w+):\n((?: .*\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^    (\w+) (\w+)((?:\[[^]]+\])*)", re.MULTILINE)


@cache
def _defined_in(module: str) -> tuple[dict[str, int], dict[str, Any]]:
    # Return the numbers and structs that a game's .pxd defines or cimports from another .pxd.
    text = (_ROOT / module.replace(".", "/")).with_suffix(".pxd").read_text(encoding="utf-8")
    numbers: dict[str, int] = {}
    types: dict[str, Any] = {f"uint{bits}_t": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)}
    types["int"] = ctypes.c_int
    for other in _CIMPORT.findall(text):
        for known, more in zip((numbers, types), _defined_in(module.rpartition(".")[0] + other), strict=True):
            known.update(more)
    for enum in _ENUM.findall(text):
        value = -1
        for name, expression in _NUMBER.findall(enum):
            value = eval(expression, {}, numbers) if expression else value + 1
            numbers[name] = value
    for struct, body in _STRUCT.findall(text):
        fields = []
        for kind, name, sizes in _FIELD.findall(body):
            field = types[kind]
            for size in reversed(re.findall(r"\[(.+?)\]", sizes)):
                field *= eval(size, {}, numbers)
            fields.append((name, field))
        types[struct] = type(struct, (ctypes.LittleEndianStructure,), {"_fields_": fields})
    return numbers, types


def body_type(game: Game) -> Any:
    """Return the ctypes structure of a game's packed states, without the header."""
    kind = _defined_in(f"chatiere.engine.games.{game.name}.state")[1]["State"]
    assert HEADER + ctypes.sizeof(kind) == game.packed_size
    return kind


def body_of(position: Position) -> Any:
    """Return a copy of the fields of a position's packed state."""
    return body_type(position.game).from_buffer_copy(position.pack(), HEADER)


def edited(position: Position, *edits: Edit) -> bytes:
    """Return a position's packed state after edits of its fields."""
    body = body_of(position)
    for edit in edits:
        edit(body)
    return position.pack()[:HEADER] + bytes(body)


def poke(**fields: int) -> Edit:
    """Return an edit that sets fields. `name__1` is element 1 of an array, `name__1_2` element 2 of its element 1."""

    def edit(body: Any) -> None:
        for path, value in fields.items():
            name, _, places = path.partition("__")
            if not places:
                setattr(body, name, value)
                continue
            *outer, last = map(int, places.split("_"))
            array = getattr(body, name)
            for place in outer:
                array = array[place]
            array[last] = value

    return edit


def poke_bytes(**fields: int) -> Edit:
    """Return an edit that sets bytes of fields, little-endian. `name__2` is byte 2 of a field, `name` byte 0."""

    def edit(body: Any) -> None:
        whole = memoryview(body).cast("B")
        for path, value in fields.items():
            name, _, place = path.partition("__")
            whole[getattr(type(body), name).offset + int(place or 0)] = value

    return edit
