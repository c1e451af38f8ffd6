"""Tables of worlds that seats cannot distinguish, and the service's responses at both."""

import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

from chatiere import engine
from chatiere.engine import EngineError
from chatiere.service.base.errors import Refusal
from chatiere.service.tables.roots import new_root
from chatiere.service.tables.seal import Body, seal

from .support import Host

# The size in bytes of a packed state's header. The header contains the stream.
_HEADER = 32
# The number of worlds drawn before giving up.
_TRIES = 20


def twin(
    host: Host, table: bytes, viewers: Collection[int], secrets: Sequence[bytes], choices: random.Random
) -> bytes | None:
    """Return an open table that looks the same to some seats and to spectators, but has other hidden information.

    `table` must be open. `secrets` has the secrets of all human seats. Returns None if no table of this kind was found.
    """
    opened = host.open(table)
    header, body = opened.header, opened.body
    if body.decision is None:
        return None
    before = engine.game(header.game).unpack(body.state)
    for _ in range(_TRIES):
        seat = choices.choice([*viewers]) if viewers else choices.randrange(header.players)
        other = before.resample(seat, choices.getrandbits(64))
        if other.pack()[_HEADER:] == before.pack()[_HEADER:]:
            continue
        try:
            other.child(body.decision)
        except EngineError:
            continue
        found = seal(opened.key, header, Body(new_root(), other.pack(), body.decision))
        found = host.acknowledge(found, *(secrets[each] for each in opened.acknowledged))
        seen_by = [None, *(secrets[viewer] for viewer in viewers)]
        if all(host.look(found, secret) == host.look(table, secret) for secret in seen_by):
            return found
    return None


def answer(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the response to a call, or all parts of its refusal."""
    try:
        return call(*arguments, **options)
    except (Refusal, EngineError) as error:
        return (str(error.reason.value), error.message, error.field, error.rule, error.metadata)


def without_table(response: Any) -> Any:
    """Return the contents of a response without sealed bytes and their hashes."""
    if isinstance(response, bytes):
        return "a table"
    if hasattr(response, "info"):
        rest = type(response)()
        rest.CopyFrom(response)
        if hasattr(response, "table"):
            rest.ClearField("table")
        rest.info.ClearField("hash")
        rest.info.header.ClearField("parent")
        return rest
    return response
