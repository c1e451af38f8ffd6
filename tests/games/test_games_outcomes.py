"""Chance outcomes and texts of events in all games."""

import pytest

from chatiere import engine
from chatiere.engine import EngineError, Game, Reason


@pytest.mark.parametrize("game", engine.games(), ids=lambda game: game.name)
def test_impossible_outcomes_are_refused(game: Game) -> None:
    position = game.new_game(game.min_players)
    while not position.is_terminal():
        if not position.is_chance_node():
            position.apply(position.legal_actions()[0])
            continue
        possible = {outcome for outcome, _ in position.chance_outcomes()}
        before = position.pack()
        for outcome in (min(set(range(len(possible) + 1)) - possible), 2**16 - 1):
            with pytest.raises(EngineError) as refused:
                position.apply(outcome)
            assert refused.value.reason == Reason.IMPOSSIBLE_OUTCOME
        assert position.pack() == before
        position.apply(min(possible))


@pytest.mark.parametrize("game", engine.games(), ids=lambda game: game.name)
def test_events_have_texts_in_every_language(game: Game) -> None:
    phrases = engine.codec(game.name).phrases
    for event in game.description.events:
        assert all(phrases.text(f"event.{event.name.lower()}", language) for language in ("en", "fr"))
