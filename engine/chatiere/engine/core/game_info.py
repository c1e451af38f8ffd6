"""The description of a game in ListGames, in a language. It is returned as the fields of a GameInfo message.

`game_info` returns the fields that are always sent. Each of the other functions returns a part that is sent on request.
The results are dicts that map names of fields to values. Nested messages are dicts as well. The engine does not use
protobuf's classes, so callers make the message, for example with `GameInfo(**game_info(game), **pieces_info(game))`.
All functions raise ValueError for a language that is not supported.
"""

from collections.abc import Mapping
from typing import Any

from chatiere.engine.core.description import Name, Say
from chatiere.engine.core.game import Game
from chatiere.engine.core.languages import LANGUAGES, catalogue
from chatiere.engine.core.observation_parts import ObservationField
from chatiere.engine.core.phrases import Phrases


def game_info(game: Game, language: str = LANGUAGES[0]) -> dict[str, Any]:
    """Return the fields that a game's GameInfo always has. They describe the newest version of the rules."""
    description = game.description
    say = catalogue(description.package, language)
    return {
        "name": game.name,
        "language": language,
        "title": say("title", description.title),
        "min_players": game.min_players,
        "max_players": game.max_players,
        "rules_version": game.rules_version,
        "rules_versions": game.rules_versions,
        "options": [
            {
                "name": option.name,
                "title": say(f"option.{option.name}.title", option.title),
                "description": say(f"option.{option.name}", option.meaning),
                "type": f"OPTION_TYPE_{option.type.name}",
                "piece_kind": option.piece_kind,
                "index_kind": option.index_kind,
                "default_description": say(f"option.{option.name}.default", option.default),
                "ranges": [each._asdict() for each in option.ranges(game.min_players, game.max_players)],
            }
            for option in description.options
        ],
        "action_kinds": [
            {
                "name": kind.name,
                "description": say(f"action_kind.{kind.name}", kind.meaning),
                "first_id": kind.first_id,
                "last_id": kind.last_id,
            }
            for kind in description.action_kinds
        ],
        "num_actions": game.num_distinct_actions,
        "outcomes_description": say("outcomes", description.outcomes),
        "packed_size": game.packed_size,
        "packed_version": game.packed_version,
        "observation_length": game.observation_length,
        "lowest_total_wins": game.lowest_total_wins,
        "zero_sum": game.zero_sum,
        "by_players": [
            {
                "players": players,
                "limits": game.limits(players)._asdict(),
                "limits_of_any_options": game.limits_of_any_options(players)._asdict(),
            }
            for players in range(game.min_players, game.max_players + 1)
        ],
    }


def pieces_info(game: Game, language: str = LANGUAGES[0]) -> dict[str, Any]:
    """Return the part `pieces`: all information printed on the game's pieces, and the connections of its board."""
    say = catalogue(game.description.package, language)
    return {
        "pieces": [
            {"kind": piece.kind, "number": piece.number, "name": piece.name.text(say)}
            for piece in game.description.pieces
        ],
        "piece_details": {game.name: _texts(game.description.piece_details, say)},
    }


def _texts(value: Any, say: Say) -> Any:
    # Return the values of a message with Names replaced by texts.
    if isinstance(value, Name):
        return value.text(say)
    if isinstance(value, Mapping):
        return {name: _texts(each, say) for name, each in value.items()}
    return [_texts(each, say) for each in value] if isinstance(value, list | tuple) else value


def phrases_info(phrases: Phrases, language: str) -> dict[str, Any]:
    """Return the part `words`: the phrases of a game in a language."""
    return {"phrases": phrases.infos(language)}


def observation_info(game: Game, language: str = LANGUAGES[0]) -> dict[str, Any]:
    """Return the part `observation`: the meaning of an observation's numbers."""
    say = catalogue(game.description.package, language)
    return {
        "observation": [
            {
                "name": part.name,
                "description": say(f"observation.{part.name}", part.meaning),
                "offset": part.offset,
                "shape": part.shape,
                "fields": [_field_info(field) for field in part.fields],
            }
            for part in game.description.observation
        ],
    }


def _field_info(field: ObservationField) -> dict[str, Any]:
    return {
        "name": field.name,
        "kind": f"OBSERVATION_KIND_{field.kind.name}",
        "largest": field.largest,
        "offset": field.offset,
        "shape": field.shape,
        "strides": field.strides,
        "first_bit": field.first_bit,
        "num_bits": field.num_bits,
    }
