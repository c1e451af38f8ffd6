"""The ladders: the bots of each game, ordered by strength."""

from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots.ladder import Rung, ladder
from chatiere.bots.registry import Registry
from chatiere.engine.core.languages import catalogue

from .support import GAMES

# The rungs of all ladders, weakest first.
ORDER = ["kitten", "house-cat", "alley-cat", "hunter", "lynx", "tiger"]


@over_names
def test_a_ladder_is_complete_and_in_order(name: str) -> None:
    rungs = ladder(engine.game(name))
    names = [rung.name for rung in rungs]
    assert 4 <= len(rungs) <= 6
    assert names == sorted(set(names), key=ORDER.index)
    assert (names[0], names[-1]) == (ORDER[0], ORDER[-1])
    assert not {*names} & {*bots.names(name)}
    strengths = [rung.strength for rung in rungs]
    assert strengths[0] == 0
    assert strengths == sorted(set(strengths))


@over_names
def test_rungs_are_different_bots_for_every_number_of_players(name: str) -> None:
    game = engine.game(name)
    numbers = range(game.min_players, game.max_players + 1)
    rungs = ladder(game)
    for players in numbers:
        assert len({rung.bot_for(players) for rung in rungs}) == len(rungs)
    for rung in rungs:
        assert {*rung.bots_by_players} <= {str(players) for players in numbers}
        assert rung.bot not in rung.bots_by_players.values()


def test_a_rung_can_be_another_bot_for_some_numbers_of_players() -> None:
    rung = Rung("tiger", "Tiger", "flat", 1, 0.001, {"2": "ismcts"})
    assert [rung.bot_for(players) for players in (2, 3)] == ["ismcts", "flat"]


@over_names
def test_rungs_are_quick_and_can_sit_at_sealed_tables(name: str) -> None:
    game = engine.game(name)
    for rung in ladder(game):
        assert 0 < rung.seconds <= 0.02, rung
        for players in range(game.min_players, game.max_players + 1):
            assert Registry().get(rung.bot_for(players), game, players).is_reproducible


def test_titles_are_the_same_in_all_games_and_in_each_language() -> None:
    rungs = [rung for name in GAMES for rung in ladder(engine.game(name))]
    titles = {rung.name: rung.title for rung in rungs}
    assert {(rung.name, rung.title) for rung in rungs} == titles.items()
    assert all(titles.values())
    say = catalogue(bots.__name__, "fr")
    french = {name: say(f"ladder.{name}", title) for name, title in titles.items()}
    # "Lynx" is the same word in both languages.
    assert {name for name in titles if french[name] == titles[name]} <= {"lynx"}
    assert len(set(french.values())) == len(titles)
