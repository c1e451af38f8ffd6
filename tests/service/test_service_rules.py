"""GetRules at all doors: sheets for players, specifications for authors, effective options, refusals."""

from pathlib import Path
from typing import Any

import pytest
from babel.messages.pofile import read_po

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.core.languages import LANGUAGES
from chatiere.v1 import game_pb2
from chatiere.v1 import game_service_pb2 as pb

from .support import ALL_DOORS, new_game, refusal

DOORS = ALL_DOORS

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "web/lessons"
SECTIONS = ("aim", "turn", "specials", "end", "score")


def asking(language: str) -> tuple[tuple[str, str], ...]:
    return (("accept-language", language),)


def texts(folder: Path, language: str) -> dict[str, str]:
    """Return the texts in a folder of the page, by key."""
    is_english = language == "en"
    with (folder / ("words.pot" if is_english else f"{language}.po")).open("rb") as file:
        return {str(each.context): str(each.id if is_english else each.string) for each in read_po(file) if each.id}


def options_of(name: str, **values: Any) -> game_pb2.Options:
    return game_pb2.Options(**{name: values})


@pytest.mark.parametrize("language", LANGUAGES)
def test_players_get_the_sheet_of_the_page_in_their_language(stub: Any, game: Game, language: str) -> None:
    response = stub.GetRules(pb.GetRulesRequest(game=game.name), metadata=asking(language))
    (info,) = stub.ListGames(pb.ListGamesRequest(games=[game.name]), metadata=asking(language)).games
    assert (response.language, response.rules_version) == (language, game.rules_version)
    shared, own = texts(LESSONS, language), texts(LESSONS / game.name, language)
    expected = [f"# {shared['sheet'].format(game=info.title)}"]
    for section in SECTIONS:
        expected += [f"## {shared[section]}", *(own[key] for key in sorted(own) if key[:-1] == f"{section}-")]
    assert response.markdown.split("\n\n") == [*expected[:-1], expected[-1] + "\n"]
    assert len(expected) > 2 * len(SECTIONS)
    assert "{" not in response.markdown
    # Options in which no game is set also belong to a game. All of these options have their default values.
    request = pb.GetRulesRequest(options=options_of(game.name), audience=pb.RULES_AUDIENCE_PLAYERS)
    assert stub.GetRules(request, metadata=asking(language)) == response


def test_authors_get_the_specification_that_refusals_cite(stub: Any, game: Game) -> None:
    request = pb.GetRulesRequest(game=game.name, audience=pb.RULES_AUDIENCE_AUTHORS)
    response = stub.GetRules(request, metadata=asking("fr"))
    assert (response.language, response.rules_version) == ("en", game.rules_version)
    assert response.markdown == (ROOT / "docs/rules" / f"{game.name}.md").read_text("utf-8")
    begun = new_game(stub, game.name, game.min_players, seed=1)
    legal = {action.id for action in begun.legal_actions}
    illegal = next(number for number in range(game.num_distinct_actions) if number not in legal)
    refused = refusal(stub.Apply, pb.ApplyRequest(state=begun.state, action=game_pb2.Action(id=illegal)))
    file, _, heading = refused.metadata["rule"].partition(": ")
    assert file == f"{game.name}.md"
    assert f"\n## {heading}\n" in response.markdown


PERCHE = {"forward_only": True, "dog_track": 12, "first_seat": 1, "solidity": [1, 1, 1, 1, 4]}
# Each case has game, number of players, options, language, audience, and the lines of the last section.
LISTED: list[tuple[str, int, dict[str, Any], str, str, list[str]]] = [
    (
        *("chat_perche", 0, PERCHE, "en", "PLAYERS"),
        [
            "**First seat**: Player 2. The seat that takes the first turn.",
            "**Forward only**. Cats move up the trunk and outward only.",
            "**Track of the dogs**: 12. The number of steps to the dogs' last space.",
            "**Tokens**: 1, 1, 1, 1, 4. The values of a seat's five tokens.",
        ],
    ),
    (
        *("chat_perche", 2, PERCHE, "fr", "AUTHORS"),
        [
            "`first_seat`: seat 1. The seat that takes the first turn.",
            "`forward_only`. Cats move up the trunk and outward only.",
            "`dog_track`: 12. The number of steps to the dogs' last space.",
            "`solidity`: 1, 1, 1, 1, 4. The values of a seat's five tokens.",
        ],
    ),
    (
        *("chatpentiers", 3, {"section_limits": [1, 2, 3, 4], "removed_colour": 0}, "fr", "PLAYERS"),
        [
            "**Limites des sections**\u202f: section 4\u202f: 4. Les limites des quatre sections de chaque plateau.",
            "**Couleur écartée**\u202f: gris. La couleur que l’on écarte à 3 joueurs\u202f; sans effet à 4 ou 5.",
        ],
    ),
    (
        *("chatpentiers", 0, {"section_limits": [1, 2, 3, 4]}, "en", "PLAYERS"),
        ["**Limits of the sections**: section 4: 4. The limits of the four sections of every board."],
    ),
    ("chatpentiers", 4, {"section_limits": [1, 2, 3, 4], "removed_colour": 0}, "en", "PLAYERS", []),
    (
        *("discat", 2, {"up_arrows": {"cards": []}}, "en", "PLAYERS"),
        ["**Arrows up**: none. The cards whose arrows point up; all others point down."],
    ),
    ("chat_cartonne", 2, {"half_sleepers": False}, "en", "AUTHORS", []),
]


@pytest.mark.parametrize(("name", "players", "values", "language", "audience", "lines"), LISTED)
def test_a_last_section_lists_options_that_differ_from_their_defaults(
    stub: Any, name: str, players: int, values: dict[str, Any], language: str, audience: str, lines: list[str]
) -> None:
    wanted: Any = f"RULES_AUDIENCE_{audience}"
    plain = stub.GetRules(pb.GetRulesRequest(game=name, audience=wanted), metadata=asking(language)).markdown
    request = pb.GetRulesRequest(game=name, players=players, options=options_of(name, **values), audience=wanted)
    found = stub.GetRules(request, metadata=asking(language)).markdown
    section = "".join(["\n## Options\n\n", *(f"- {line}\n" for line in lines)]) if lines else ""
    assert found == plain + section


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({}, "UNKNOWN_GAME", "game"),
        ({"game": "chess"}, "UNKNOWN_GAME", "game"),
        ({"game": "discat", "players": 7}, "INVALID_PLAYERS", "players"),
        ({"game": "discat", "options": options_of("momistigri")}, "INVALID_OPTION", "options.momistigri"),
        ({"options": options_of("discat", first_seat=6)}, "INVALID_OPTION", "options.discat.first_seat"),
        ({"players": 2, "options": options_of("discat", first_seat=2)}, "INVALID_OPTION", "options.discat.first_seat"),
        ({"options": options_of("chat_perche", dog_track=0)}, "INVALID_OPTION", "options.chat_perche.dog_track"),
        ({"game": "discat", "audience": 0}, "MALFORMED_REQUEST", "audience"),
        ({"game": "discat", "audience": 9}, "MALFORMED_REQUEST", "audience"),
    ],
)
def test_a_wrong_request_is_refused_with_its_field(stub: Any, fields: dict[str, Any], reason: str, field: str) -> None:
    refused = refusal(stub.GetRules, pb.GetRulesRequest(**fields))
    assert (refused.reason, refused.field) == (reason, field)
    if reason != "UNKNOWN_GAME":
        assert refused.metadata["game"] in {game.name for game in engine.games()}


def test_options_of_any_number_of_players_are_valid_without_one(stub: Any) -> None:
    request = pb.GetRulesRequest(options=options_of("discat", first_seat=5))
    assert "Player 6" in stub.GetRules(request).markdown
