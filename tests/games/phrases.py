"""Labels rebuilt from what a client has: a phrase's key and arguments, and the templates and pieces of ListGames."""

from collections.abc import Mapping
from functools import cache

from chatiere import engine
from chatiere.engine.core.game_info import pieces_info, words_info
from chatiere.v1 import game_pb2

Templates = Mapping[str, game_pb2.PhraseInfo]


@cache
def info_of(name: str, language: str) -> game_pb2.GameInfo:
    """Return a game's GameInfo with its pieces and, in a language, its words."""
    game = engine.game(name)
    words = words_info(engine.codec(name).phrases, language)
    return game_pb2.GameInfo(**pieces_info(game, language), **words)


@cache
def templates(name: str, language: str) -> Templates:
    """Return a game's templates in a language, by key."""
    return {each.key: each for each in info_of(name, language).phrases}


@cache
def _names(name: str, language: str) -> Mapping[tuple[str, int], str]:
    return {(each.kind, each.number): each.name for each in info_of(name, language).pieces}


def rebuilt(name: str, phrase: game_pb2.Phrase, language: str) -> str:
    """Return what a phrase of a game says in a language."""
    known = templates(name, language)
    template, names = known[phrase.key], _names(name, language)
    assert [each.name for each in phrase.arguments] == [each.name for each in template.arguments]
    separator = known["list.separator"].text if "list.separator" in known else ""
    words = {}
    for argument, described in zip(phrase.arguments, template.arguments, strict=True):
        numbers = [
            names[described.kind, number] if described.kind not in ("", "seat") else str(number)
            for number in argument.numbers
        ]
        assert len(numbers) == 1 or separator
        words[argument.name] = separator.join(numbers)
    return template.text.format(**words)
