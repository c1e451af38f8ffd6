"""The functions that handle requests, as the ports call them."""

from collections.abc import Callable
from typing import Any

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer

# A reservation of memory, in bytes, beside the request. Raises Refusal.
Hold = Callable[[int], None]
# Methods that take microseconds: request → response.
SingleHandler = Callable[[bytes], bytes]
# Methods that may take long: request (a Buffer), cancellation, reservation → response, in pieces to be joined.
BatchHandler = Callable[[Any, Cancellation, Hold], list[Buffer]]

# Larger requests of GameService, in bytes, may take longer to read than a port's loop should wait.
LARGE = 64 * 1024
