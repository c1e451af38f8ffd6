"""Labels rebuilt from a client's data: a phrase's key and arguments, and the templates and pieces of ListGames."""

from collections.abc import Mapping, Sequence
from functools import cache

from babel import Locale

from chatiere import engine
from chatiere.engine.core.game_info import phrases_info, pieces_info
from chatiere.v1 import game_pb2

Templates = Mapping[str, game_pb2.PhraseInfo]


@cache
def info_of(name: str, language: str) -> game_pb2.GameInfo:
    """Return a game's GameInfo with its pieces and its templates in a language."""
    game = engine.game(name)
    words = phrases_info(engine.codec(name).phrases, language)
    return game_pb2.GameInfo(**pieces_info(game, language), **words)


@cache
def templates(name: str, language: str) -> Templates:
    """Return a game's templates in a language, by key."""
    return {each.key: each for each in info_of(name, language).phrases}


@cache
def _names(name: str, language: str) -> Mapping[tuple[str, int], str]:
    return {(each.kind, each.number): each.name for each in info_of(name, language).pieces}


def rebuilt(name: str, phrase: game_pb2.Phrase, language: str) -> str:
    """Return a phrase of a game as text in a language."""
    known = templates(name, language)
    template, names = known[phrase.key], _names(name, language)
    assert [each.name for each in phrase.arguments] == [each.name for each in template.arguments]
    words = {}
    text = template.text
    for argument, described in zip(phrase.arguments, template.arguments, strict=True):
        numbers = [
            known["argument.seat"].text.format(number=number)
            if described.kind == "seat"
            else names.get((described.kind, number), str(number))
            for number in argument.numbers
        ]
        words[argument.name] = joined(numbers, *(known[f"list.{place}"].text for place in ("two", "middle", "last")))
        if argument.name == template.plural_argument:
            count = len(argument.numbers) if described.kind else abs(argument.numbers[0])
            forms = {each.category: each.text for each in template.forms}
            # The plural form is determined by CLDR, not by the catalogue's header.
            text = forms.get(Locale(language).plural_form(count), forms["other"])
    return text.format(**words)


def joined(parts: Sequence[str], two: str, middle: str, last: str) -> str:
    """Return a list in words."""
    if len(parts) == 2:
        return two.join(parts)
    return last.join([*([middle.join(parts[:-1])] if parts[:-1] else []), *parts[-1:]])
