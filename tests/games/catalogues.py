"""All texts that catalogues translate."""

from collections.abc import Iterator

from chatiere import bots, engine
from chatiere.bots.registry import texts
from chatiere.engine.core.phrases import COMMON
from chatiere.service.calls.languages import WORDS

Text = tuple[str, str]
"""A key, and the English text."""


def catalogues() -> Iterator[tuple[str, set[Text]]]:
    """Return the folder of every catalogue, and its texts."""
    yield "engine/core", set(COMMON.items())
    yield "service/calls", set(WORDS.items())
    yield "bots", {text for game in engine.games() for info in bots.infos(game) for text in texts(info)}
    for game in engine.games():
        phrases = engine.codec(game.name).phrases
        said = {(key, phrases.text(key, "en")) for key in phrases.keys if key not in COMMON}
        yield f"engine/games/{game.name}", said | game.description.texts()
