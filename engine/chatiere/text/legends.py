"""The meaning of the signs in the description of a table, for readers who see no pictures."""

_COMMON = """
Seats are counted from 0. ">" marks the seat whose turn it is, and "?" stands for what you do not know. "Totals by seat"
are the points so far, with your hand if it counts.
"""
_LEGENDS = {
    "chat_cartonne": """
The numbers in a hand are cartons. "Your hand" describes your cartons. The numbers above and to the left of the
table are columns and rows. A cell is three lines high, and "#" is a wall. Within a cell, "m" is a mouse, "b" a ball,
"f" a fish and "!" a sprayer; "z1" is a sleeping cat of seat 1, "w1" a woken cat, and "P" the Princess. On the joint
between two cells, a number is the seat of an awake cat, and "M", "B" or "F" are two toys.
""",
    "chat_perche": """
The trunk is between the bars "|", with trunk 1 at the bottom. Each line also has a left and a right branch with the
same number; space 1 is next to the trunk. "G" is a ginger cat (seat 0), "B" a black cat (seat 1), "g" or "b" a cat
that must not move now, "*" a bird, "." an empty space, and "x" a broken branch. At the ends, "G2" is a solidity token
of seat 0 with the value 2, and "--" means no token.
""",
    "chatpentiers": """
A board lists its sections with their cards: "[2: blue 6, 1 of 2]" is section 2, which holds blue 6 and is full with two
cards. "?×8" is a hand of eight cards.
""",
    "discat": """
"pile" is the number of cards that a seat has played, and "bonus" its number of bonus cards. The cards in a hand count
against the seat, so that a game begins below 0. Most points win.
""",
    "momistigri": """
Cards are named by value and colour: "4B" is the 4 of colour B. "penalties" are the points of earlier rounds, and
"passed" marks a seat that has passed. Fewest points win.
""",
}


def legend(game: str) -> str:
    """Return the meaning of the signs in the text of a game's table, in English.

    Args:
        game: The name of the game.
    """
    return " ".join((_COMMON + _LEGENDS.get(game, "")).split())
