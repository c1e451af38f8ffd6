"""A position of Chat Cartonne in a few lines, for the golden playthroughs."""

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.chat_cartonne_pb2 import ChatCartonneCardView, ChatCartonnePhase, ChatCartonneState, ChatCartonneView

_EMPTY = "     "
_CONTENTS = (("mice", "m"), ("balls", "b"), ("fish", "f"), ("sprayers", "!"))


def summary(position: Position) -> str:
    """Describe the table as its host sees it: the phase, a line per seat, then the cards as they lie."""
    codec = engine.codec("chat_cartonne")
    state, view = ChatCartonneState(), ChatCartonneView()
    fill(state, codec.put_state, position)
    fill(view, codec.put_view, position, None)
    phase = ChatCartonnePhase.Name(view.phase).removeprefix("CHAT_CARTONNE_PHASE_").lower().replace("_", " ")
    parts = " + ".join(
        f"{part.cards_left}{'' if held.HasField('princess_drawn_by') else ' with Princess'}"
        for part, held in zip(view.parts, state.parts, strict=True)
    )
    lines = [f"{phase}; pile {parts}" + ("; final phase" if view.final_phase else "")]
    lines[0] += f"; {view.passes} passed" if view.passes else ""
    for seat, held in enumerate(state.seats):
        cards = " ".join("Princess" if card == 75 else str(card) for card in held.hand_cards)
        drew = [part.cards_drawn for part in held.by_part]
        lines.append(f"  seat {seat}: hand {cards or '-'} | {held.supply} cats | drew {drew}")
    return "\n".join(lines + picture(view))


def picture(view: ChatCartonneView) -> list[str]:
    """Draw the table, 5 columns by 3 rows per cell.

    # is a wall, A-E an awake cat on a joint, z0-z4 a sleeping one, w0-w4 a woken one.
    """
    if not view.table:
        return []
    cells = {card.laid.cell: card for card in view.table}
    rows = range(min(cells) // 24, max(cells) // 24 + 1)
    columns = range(min(cell % 24 for cell in cells), max(cell % 24 for cell in cells) + 1)
    lines = [f"  columns {columns[0]}-{columns[-1]}, rows {rows[0]}-{rows[-1]}"]
    for row in rows:
        drawn = [_cell(cells.get(24 * row + column)) for column in columns]
        lines += ["  " + "".join(parts).rstrip() for parts in zip(*drawn, strict=True)]
    return lines


def _cell(seen: ChatCartonneCardView | None) -> tuple[str, str, str]:
    if seen is None:
        return _EMPTY, _EMPTY, _EMPTY
    card = seen.laid
    north, south = (f"+{'###' if wall else '   '}+" for wall in (seen.wall_north, seen.wall_south))
    if card.WhichOneof("lies") == "sleeping_cat":
        middle = f" {'w' if card.woken else 'z'}{card.sleeping_cat}"
    elif card.WhichOneof("lies") == "princess":
        middle = " P "
    else:
        middle = "".join(sign * getattr(seen, name) for name, sign in _CONTENTS).ljust(2) or "  "
        middle = f"{middle:<3}"
    west = "#" if seen.wall_west else " "
    east = "#" if seen.wall_east else " "
    lies = card.on_joint.WhichOneof("lies") if card.HasField("on_joint") else None
    if lies == "cat":
        east = "ABCDE"[card.on_joint.cat]
    elif lies == "toy":
        east = "MBF"[card.on_joint.toy - 72]
    elif lies == "princess":
        east = "P"
    return north, f"{west}{middle:<3}{east}", south
