"""Chat perché: the tree, what is printed on the cards, and the numbers of a table: the fields of ChatPerchePieces."""

from chatiere.engine.games.chat_perche.codec import DEFAULTS

from chatiere.engine.games.chat_perche.state cimport (
    BIRDS,
    BIRD_CARD,
    BRANCHES,
    BRANCH_SPACES,
    CARD_TYPES,
    CATS,
    DECK_SIZE,
    DOGS_2,
    FIRST_MOVE_CARD,
    FIRST_TWO_CAT_CARD,
    PLAYERS,
    SPACES,
    START,
    TRUNK_LIMIT,
    TRUNK_SPACES,
    branch_of,
    card_colour,
    card_value,
    dog_steps,
    first_space,
)
from chatiere.engine.games.chat_perche.tree cimport DISTANCE


def _space_info(int space):
    info = {"space": space, "neighbours": [other for other in range(SPACES) if DISTANCE[space][other] == 1]}
    if space == START:
        return {**info, "kind": "CHAT_PERCHE_SPACE_KIND_START"}
    if space < TRUNK_SPACES:
        return {**info, "kind": "CHAT_PERCHE_SPACE_KIND_TRUNK", "place": space + 1}
    branch = branch_of(space)
    return {
        **info,
        "kind": "CHAT_PERCHE_SPACE_KIND_BRANCH",
        "branch": branch,
        "place": space - first_space(branch) + 1,
    }


def _branch_info(int branch):
    first = first_space(branch)
    return {
        "branch": branch,
        "side": f"CHAT_PERCHE_SIDE_{'LEFT' if branch < TRUNK_SPACES else 'RIGHT'}",
        "trunk_space": next(space for space in range(TRUNK_SPACES) if DISTANCE[space][first] == 1),
        "spaces": list(range(first, first + BRANCH_SPACES)),
    }


def _kind(card):
    if card <= DOGS_2:
        return "DOGS"
    if card == BIRD_CARD:
        return "BIRD"
    if card < FIRST_MOVE_CARD:
        return "FALL"
    return "ONE_CAT" if card < FIRST_TWO_CAT_CARD else "TWO_CATS"


def _card_info(int card):
    info = {"card": card, "kind": f"CHAT_PERCHE_CARD_KIND_{_kind(card)}", "total_copies": DEFAULTS["deck"][card]}
    if card <= DOGS_2:
        info["value"] = dog_steps(card)
    elif card >= FIRST_MOVE_CARD:
        info["value"] = card_value(card)
    if card > BIRD_CARD:
        info["own_cats"] = card_colour(card, 0) == 0
    return info


PIECE_DETAILS = {
    "spaces": [_space_info(space) for space in range(SPACES + 1)],
    "branches": [_branch_info(branch) for branch in range(BRANCHES)],
    "cards": [_card_info(card) for card in range(CARD_TYPES)],
    "start_space": START,
    "colours": list(range(PLAYERS)),
    "cats_per_seat": CATS,
    "trunk_limit": TRUNK_LIMIT,
    "total_birds": BIRDS,
    "deck_size": DECK_SIZE,
    "solidity": DEFAULTS["solidity"],
    "dog_track": DEFAULTS["dog_track"],
}
