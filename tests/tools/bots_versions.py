"""Versions of bots: the registry of a release before a change to a bot's choices, and of one after it."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from chatiere.bots import BOTS_VERSION, Bot, Decisions, registry

OLD, NEW = BOTS_VERSION, BOTS_VERSION + 1


class Last(Bot):
    """The bot `random` of the newer releases."""

    is_reproducible = True

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        found: NDArray[np.uint16] = decisions.legal_ids[decisions.legal_offsets[1:] - 1]
        return found


@contextmanager
def newer_release(*, keeps_old: bool = True) -> Iterator[None]:
    """Replace the registry by the next release's registry. It may still have the old version of the bot."""
    before = registry._FOR_ANY_GAME["random"] if keeps_old else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "BOTS_VERSION", NEW)
        patch.setitem(registry._FOR_ANY_GAME, "random", registry._Entry(Last, "", "", since=NEW, before=before))
        yield
