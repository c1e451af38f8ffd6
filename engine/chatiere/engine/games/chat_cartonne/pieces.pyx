"""Chat Cartonne: what is printed on the cards, and the numbers of a table, as the fields of ChatCartonnePieces."""

from libc.string cimport memset

from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    CARTONS,
    CATS,
    CELLS,
    CENTRE,
    DEALT,
    EAST,
    FEWEST_SEATS,
    MAX_HAND,
    NORTH,
    PARTS,
    PATTERNS,
    PRINCESS,
    SEATS,
    SIDE,
    SLEEPER,
    SOUTH,
    WEST,
    State,
    can_turn,
    part_count,
    part_size,
    princess_count,
    type_of,
    walls_of,
)
from chatiere.engine.games.chat_cartonne.boxes cimport contents_of


def _walls(int kind):
    cdef int walls = walls_of(kind)
    return {
        "wall_north": bool(walls & NORTH),
        "wall_east": bool(walls & EAST),
        "wall_south": bool(walls & SOUTH),
        "wall_west": bool(walls & WEST),
    }


def _role(kind):
    if kind < CARTONS:
        return "CARTON"
    if kind < PRINCESS:
        return "TOY"
    return "PRINCESS" if kind == PRINCESS else "STARTING_CARTON"


def _card_info(int kind):
    cdef int contents[4]
    contents_of(kind, contents)
    return {
        "card": kind,
        "role": f"CHAT_CARTONNE_ROLE_{_role(kind)}",
        **_walls(kind),
        "can_turn": can_turn(kind),
        "mice": contents[0],
        "balls": contents[1],
        "fish": contents[2],
        "sprayers": contents[3],
        "total_copies": PARTS if kind == PRINCESS else 1,
        "pattern": type_of(kind) if kind < CARTONS else None,
    }


def _cell_info(cell):
    row, column = divmod(cell, SIDE)
    return {"cell": cell, "row": row, "column": column, "east": cell + 1 if column + 1 < SIDE else None}


def _players_info(int players):
    cdef State state
    cdef int part
    memset(&state, 0, sizeof(State))
    state.players = players
    info = {
        "players": players,
        "princesses": princess_count(&state),
        "part_sizes": [part_size(&state, part) for part in range(part_count(&state))],
    }
    state.variants = ALL_PRINCESSES
    return {**info, "total_princesses": princess_count(&state), "whole_pile_size": part_size(&state, 0)}


# The first carton of each pattern has its walls.
_FIRST_OF_PATTERN = {type_of(kind): kind for kind in reversed(range(CARTONS))}

PIECE_DETAILS = {
    "cards": [_card_info(kind) for kind in range(SLEEPER)],
    "patterns": [{"pattern": pattern, **_walls(_FIRST_OF_PATTERN[pattern])} for pattern in range(PATTERNS)],
    "rows": SIDE,
    "columns": SIDE,
    "cells": [_cell_info(cell) for cell in range(CELLS)],
    "first_cell": CENTRE,
    "by_players": [_players_info(players) for players in range(FEWEST_SEATS, SEATS + 1)],
    "cats_per_seat": CATS,
    "cards_dealt": DEALT,
    "largest_hand": MAX_HAND,
}
