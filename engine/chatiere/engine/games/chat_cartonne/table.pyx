"""Chat Cartonne: the cards on the table, to and from their messages."""

from chatiere.engine.core.errors import EngineError
from chatiere.engine.games.chat_cartonne.words import RULES

from chatiere.engine.core.codec cimport within
from chatiere.engine.wire.reader cimport count_of, has_number, has_span, next_of, number_of, open_field
from chatiere.engine.games.chat_cartonne.boxes cimport contents_of
from chatiere.engine.games.chat_cartonne.state cimport (
    AWAKE,
    CELLS,
    EAST,
    FIRST_START,
    FIRST_TOY,
    KIND,
    MAX_CARDS,
    MAX_JOINTS,
    NORTH,
    PRINCESS,
    PRINCESS_THERE,
    SLEEPER,
    SOUTH,
    STARTS,
    TOY_THERE,
    TURNED,
    WEST,
    WOKEN,
    has_cell,
    is_sleeper,
    lay_on_joint,
    lay_on_table,
    on_joint,
    owner_of,
    walls_of,
)
cimport chatiere.fields.chat_cartonne as fields


cdef put_card(Writer out, int field, const State* state, int place, int cell):
    cdef int there = on_joint(state, cell), card = state.cards[place], kind = card & KIND
    cdef size_t begun = out.begin(field), inner
    out.number(fields.CARD_CELL, cell)
    if is_sleeper(card):
        out.present(fields.CARD_SLEEPING_CAT, owner_of(card))
    elif kind == PRINCESS:
        out.end(out.begin(fields.CARD_PRINCESS))
    else:
        out.present(fields.CARD_CARD, kind)
    out.number(fields.CARD_TURNED, card & TURNED and not is_sleeper(card))
    if there:
        inner = out.begin(fields.CARD_ON_JOINT)
        if there >= TOY_THERE:
            out.present(fields.ON_JOINT_TOY, FIRST_TOY + there - TOY_THERE)
        elif there == PRINCESS_THERE:
            out.end(out.begin(fields.ON_JOINT_PRINCESS))
        else:
            out.present(fields.ON_JOINT_CAT, there - AWAKE)
        out.end(inner)
    out.number(fields.CARD_WOKEN, card & WOKEN and is_sleeper(card))
    out.end(begun)


cdef put_card_view(Writer out, const State* state, int place, int cell):
    cdef int contents[4]
    cdef int walls = walls_of(state.cards[place])
    cdef size_t begun = out.begin(fields.VIEW_TABLE)
    contents_of(state.cards[place], contents)
    put_card(out, fields.CARD_VIEW_LAID, state, place, cell)
    out.number(fields.CARD_VIEW_WALL_NORTH, (walls & NORTH) != 0)
    out.number(fields.CARD_VIEW_WALL_EAST, (walls & EAST) != 0)
    out.number(fields.CARD_VIEW_WALL_SOUTH, (walls & SOUTH) != 0)
    out.number(fields.CARD_VIEW_WALL_WEST, (walls & WEST) != 0)
    out.number(fields.CARD_VIEW_MICE, contents[0])
    out.number(fields.CARD_VIEW_BALLS, contents[1])
    out.number(fields.CARD_VIEW_FISH, contents[2])
    out.number(fields.CARD_VIEW_SPRAYERS, contents[3])
    out.end(begun)


cdef int read_on_joint(const State* state, const Message* there) except -1:
    # The thing on a joint, as State.joints has it.
    if has_number(there, fields.ON_JOINT_CAT):
        return AWAKE + within(RULES, number_of(there, fields.ON_JOINT_CAT), 0, state.players - 1, "on_joint.cat")
    if has_number(there, fields.ON_JOINT_TOY):
        return TOY_THERE - FIRST_TOY + within(
            RULES, number_of(there, fields.ON_JOINT_TOY), FIRST_TOY, PRINCESS - 1, "on_joint.toy"
        )
    if not has_span(there, fields.ON_JOINT_PRINCESS):
        RULES.refuse_state("on_joint", "no cat, toy or Princess is given")
    return PRINCESS_THERE


cdef int read_card(const State* state, const Message* message) except -1:
    # A card as State.cards has it.
    cdef int turned = TURNED if number_of(message, fields.CARD_TURNED) else 0, kind
    cdef bint woken = number_of(message, fields.CARD_WOKEN)
    if woken and not has_number(message, fields.CARD_SLEEPING_CAT):
        RULES.refuse_state("woken", "only a sleeping cat can wake", "A turn")
    if has_number(message, fields.CARD_CARD):
        kind = within(RULES, number_of(message, fields.CARD_CARD), 0, FIRST_START + STARTS - 1, "card")
        if kind == PRINCESS:
            RULES.refuse_state("card", "the Princess has a field of her own")
        return kind | turned
    if has_number(message, fields.CARD_SLEEPING_CAT):
        if turned:
            RULES.refuse_state("turned", "a sleeping cat is not turned", "A turn")
        return (WOKEN if woken else 0) | SLEEPER + within(
            RULES, number_of(message, fields.CARD_SLEEPING_CAT), 0, state.players - 1, "sleeping_cat"
        )
    if not has_span(message, fields.CARD_PRINCESS):
        RULES.refuse_state("", "no card, sleeping cat or Princess is given")
    return PRINCESS | turned


cdef read_place(State* state, const Message* card):
    # Lay a card into its cell, with the thing on its joint.
    cdef Message there
    cdef int cell = within(RULES, number_of(card, fields.CARD_CELL), 0, CELLS - 1, "cell")
    if has_cell(state.filled, cell):
        RULES.refuse_state("cell", f"there are two cards in cell {cell}")
    if has_span(card, fields.CARD_ON_JOINT):
        open_field(card, fields.CARD_ON_JOINT, &there)
        lay_on_joint(state, cell, read_on_joint(state, &there))
    lay_on_table(state, cell, read_card(state, card))


cdef read_table(State* state, const Message* message):
    # The cards may be listed in any order.
    cdef Message card
    cdef Span rest = message.span
    cdef int joints = 0
    if count_of(message, fields.STATE_TABLE) > MAX_CARDS:
        RULES.refuse_state("table", f"at most {MAX_CARDS} cards can lie on the table")
    try:
        while next_of(fields.STATE_TABLE, &rest, &card):
            joints += has_span(&card, fields.CARD_ON_JOINT)
            if joints > MAX_JOINTS:
                break
            read_place(state, &card)
    except EngineError as error:
        error.lies_below("table", state.laid)
        raise
    if joints > MAX_JOINTS:
        RULES.refuse_state("table.on_joint", f"at most {MAX_JOINTS} things can lie on joints")
