"""All texts that the catalogues translate."""

from collections.abc import Iterator

from chatiere import bots, engine
from chatiere.bots.ladder import ladder
from chatiere.bots.registry import texts
from chatiere.engine.core.languages import CATEGORIES
from chatiere.engine.core.phrases import COMMON
from chatiere.service.base.languages import WORDS

Text = tuple[str, str | tuple[str, str]]
"""A key and its English text. A Plural has two texts: for 1 and for other numbers."""


def catalogues() -> Iterator[tuple[str, set[Text]]]:
    """Yield the folder of each catalogue, with its texts."""
    yield "engine/core", {*COMMON.items(), CATEGORIES}
    yield "service/base", set(WORDS.items())
    rungs = {(f"ladder.{rung.name}", rung.title) for game in engine.games() for rung in ladder(game)}
    yield "bots", rungs | {text for game in engine.games() for info in bots.infos(game) for text in texts(info)}
    for game in engine.games():
        phrases = engine.codec(game.name).phrases
        templates: set[Text] = {
            (each["key"], tuple(form["text"] for form in each["forms"]) if "forms" in each else each["text"])
            for each in phrases.infos("en")
            if each["key"] not in COMMON
        }
        yield f"engine/games/{game.name}", templates | game.description.texts()
