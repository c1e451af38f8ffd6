"""TextEnv: games in words against bots."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tools.over import over_names

from chatiere import engine
from chatiere.engine import EngineError
from chatiere.envs.gymnasium import SeatEnv
from chatiere.envs.text import TextEnv, Told


def played(env: TextEnv, seed: int) -> list[Told]:
    """Play a game with the first action, by its number, and return all answers."""
    found = [env.reset(seed=seed)]
    while not env.is_over:
        found.append(env.step("1."))
    return found


@over_names
def test_a_game_in_words_is_the_game_of_seat_env(name: str) -> None:
    """The same seed and actions give the same opponents' choices and return."""
    players = engine.game(name).min_players
    other = SeatEnv(name, players, seat=1)
    other.reset(seed=3)
    reward, is_over = 0.0, False
    while not is_over:
        _, reward, is_over, _, _ = other.step(other._game.legal_actions[0])
    told = played(TextEnv(name, players, seat=1), 3)
    assert (told[-1].reward, told[-1].is_over) == (reward, True)
    assert [each.reward for each in told[:-1]] == [0.0] * (len(told) - 1)
    assert other._game.position.ply() == int(told[-1].text.split("decision ")[1].split(".")[0]) - 1


@over_names
def test_all_that_happened_since_the_last_decision_is_told(name: str) -> None:
    env = TextEnv(name, engine.game(name).max_players)
    told = played(env, 5)
    events = [line for each in told for line in each.text.splitlines() if line.startswith("- ")]
    assert any(line.startswith("- seat 1 ") for line in events)
    assert all(line.split("- ")[1] for line in events)
    # The game's last event is told with its end.
    assert told[-1].text.splitlines()[-1].startswith("The game is over: ")


def test_an_unclear_action_is_refused_and_the_last_attempt_loses_the_game() -> None:
    env = TextEnv("discat", attempts=2)
    first = env.reset(seed=1)
    refused = env.step("meow")
    assert refused == (refused.text, 0.0, False, True)
    assert refused.text.startswith(
        "'meow' names no legal action: write only the number or the words of one of them: 1. "
    )
    # An action that is understood ends the series.
    assert not env.step("1").is_refused
    assert env.step("meow").is_refused
    lost = env.step("meow")
    assert (lost.reward, lost.is_over, lost.is_refused) == (-1.0, True, True)
    assert lost.text.endswith("That was the last attempt: the game is lost.")
    with pytest.raises(ValueError, match="no game is in progress: call reset"):
        env.step("1")
    assert env.reset(seed=1) == first


def test_the_list_of_actions_may_be_omitted_and_labels_may_be_french() -> None:
    plain = TextEnv("discat", numbered=False).reset(seed=1).text.splitlines()
    whole = TextEnv("discat").reset(seed=1).text.splitlines()
    assert whole[: len(plain)] == plain
    assert len(whole) > len(plain)
    assert "jouer" in TextEnv("discat", language="fr").reset(seed=1).text


def test_environments_side_by_side_play_as_they_do_alone() -> None:
    alone = [played(TextEnv("momistigri", opponents="discarding"), seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as threads:
        together = threads.map(lambda seed: played(TextEnv("momistigri", opponents="discarding"), seed), range(8))
        assert list(together) == alone


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"attempts": 0}, "attempts must be 1 or more, not 0"),
        ({"seat": 2}, "seat"),
        ({"opponents": "meow"}, "unknown bot"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises((ValueError, EngineError), match=reason):
        TextEnv("discat", **arguments)  # type: ignore[arg-type]


def test_a_step_before_reset_is_refused() -> None:
    with pytest.raises(ValueError, match="call reset"):
        TextEnv("discat").step("1")
