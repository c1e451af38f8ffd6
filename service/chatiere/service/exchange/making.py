"""The class of exchange for each kind of method."""

from collections.abc import Callable
from functools import partial

from chatiere.service.exchange.door import Door
from chatiere.service.exchange.exchange import BatchExchange, Exchange, SingleExchange, UnknownExchange
from chatiere.service.exchange.feeds import FeedExchange
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod, UnknownMethod
from chatiere.service.exchange.streams import StreamExchange

Make = Callable[..., Exchange]
"""A function that creates the exchange of a call from its wire and, for methods with one request, a Form."""


def exchanges_of(door: Door, served: SingleMethod | BatchMethod | FeedMethod | StreamMethod | UnknownMethod) -> Make:
    """Return the function that creates the exchanges of a method's calls at a door."""
    match served:
        case SingleMethod():
            return partial(SingleExchange, door, served)
        case BatchMethod():
            return partial(BatchExchange, door, served)
        case FeedMethod():
            return partial(FeedExchange, door, served)
        case StreamMethod():
            return partial(StreamExchange, door, served)
        case UnknownMethod():
            return partial(UnknownExchange, door, served)
