"""Tests of the rules in "A turn", "Draw pile" and "End": the longest possible games."""

from tools.over import over

from .building import GAME, KEEP, MAX_CARD, play_id

DEALT = 5


def cards_to_lay(players: int) -> dict[int, list[int]]:
    """Return the cards that each seat lays in the longest game, in order.

    Seat 0 lays all cards of the pile, each above all cards in other hands. Then the other seats lay their hands,
    counter-clockwise, each card below all cards in other hands. A card just above the next seat's lowest card gives the
    turn to that seat only.
    """
    plays: dict[int, list[int]] = {seat: [] for seat in range(players)}
    card = 1
    for seat in range(players - 1, 0, -1):
        for _ in range(4 if seat == 1 else 3):
            plays[seat].append(card)
            card += 1
        plays[(seat + 1) % players].append(card)
        card += 1
    for seat in range(1, players):
        plays[seat].append(card)
        card += 1
    *others, last = range(card, MAX_CARD[players] + 1)
    plays[0] = [*others, *plays[0], last]
    return plays


@over("players", MAX_CARD)
def test_a_game_can_have_the_documented_length(players: int) -> None:
    plays = cards_to_lay(players)
    # Arrows point to numbers of which other seats have no cards. Cards that give the turn to the next seat point down.
    up_arrows = sum(1 << card - 1 for card in plays[0][:-2])
    draws = {seat: iter(tuple(cards)) for seat, cards in plays.items()}
    position = GAME.new_game(players, {"up_arrows": up_arrows})
    position.apply(0)
    decisions, chance_events = 0, 1
    while not position.is_terminal():
        if position.is_chance_node():
            # After the deal, only seat 0 draws.
            seat = (chance_events - 1) % players if chance_events <= DEALT * players else 0
            position.apply(next(draws[seat]) - 1)
            chance_events += 1
        else:
            keeps = position.legal_actions()[0] == KEEP
            position.apply(KEEP if keeps else play_id(position, plays[position.current_player()].pop(0)))
            decisions += 1
    limits = GAME.limits(players, {"up_arrows": up_arrows})
    assert (decisions, chance_events) == (limits.max_game_length, limits.max_chance_nodes_in_history)
