"""The description of a game in ListGames, as the values of a GameInfo message's fields.

`game_info` has what is always sent; the other functions each return a part that is sent if a request asks for it. The
values are fields by name; messages within them are dicts as well. The engine has no protobuf:
`GameInfo(**game_info(game), **pieces_info(game))` is the message with one of the parts.
"""

from typing import Any

from chatiere.engine.core.description import ObservationField
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.position import Game


def game_info(game: Game) -> dict[str, Any]:
    """Return the fields that a game's GameInfo always has."""
    description = game.description
    return {
        "name": game.name,
        "english_title": description.english_title,
        "french_title": description.french_title,
        "min_players": game.min_players,
        "max_players": game.max_players,
        "rules_version": game.rules_version,
        "options": [
            {
                "name": option.name,
                "meaning": option.meaning,
                "lowest": option.lowest,
                "highest": option.highest,
                "default_meaning": option.default,
                "default_values": option.default_values,
                "piece_kind": option.piece_kind,
            }
            for option in description.options
        ],
        "action_kinds": [
            {"name": kind.name, "meaning": kind.meaning, "first_id": kind.first_id, "last_id": kind.last_id}
            for kind in description.action_kinds
        ],
        "num_actions": game.num_distinct_actions,
        "outcomes": description.outcomes,
        "packed_size": game.packed_size,
        "observation_length": game.observation_length,
        "lowest_total_wins": game.lowest_total_wins,
        "zero_sum": game.zero_sum,
        "tables": [
            {
                "players": players,
                "limits": game.limits(players)._asdict(),
                "limits_of_any_options": game.limits_of_any_options(players)._asdict(),
            }
            for players in range(game.min_players, game.max_players + 1)
        ],
    }


def pieces_info(game: Game) -> dict[str, Any]:
    """Return the part `pieces`: all that is printed on the game's pieces, and how its board is joined."""
    return {
        "pieces": [
            {
                "kind": piece.kind,
                "number": piece.number,
                "english_name": piece.english,
                "french_name": piece.french,
            }
            for piece in game.description.pieces
        ],
        "piece_details": {game.name: game.description.piece_details},
    }


def words_info(phrases: Phrases, language: str) -> dict[str, Any]:
    """Return the part `words`: the phrases of a game in a language. Raises ValueError for one that is not spoken."""
    return {"phrases": phrases.infos(language)}


def observation_info(game: Game) -> dict[str, Any]:
    """Return the part `observation`: what the numbers of an observation mean."""
    return {
        "observation": [
            {
                "name": part.name,
                "meaning": part.meaning,
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
