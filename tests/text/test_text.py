"""Games as text: the description of a position, the list of legal actions, and actions in words."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.over import over_names

from chatiere import engine, text
from chatiere.engine import EngineError, Position
from chatiere.text import UnclearActionError, legal_lines, read_action
from chatiere.text.reading import LANGUAGES

WORDS = ["play", "the", "card", "on", "top,", "left", "12", "15,", "40", "of"]


def positions(name: str, players: int, count: int, seed: int = 1) -> list[Position]:
    """Return positions of a random game at which a seat decides."""
    choices, position = random.Random(seed), engine.game(name).new_game(players, seed=seed)
    found: list[Position] = []
    while not position.is_terminal() and len(found) < count:
        found.append(position.clone())
        position.apply(choices.choice(position.legal_actions()))
    return found


def listed(lines: list[str]) -> list[str]:
    """Return the labels that a list of legal actions stands for."""
    found: list[str] = []
    # The words above each indented list, by its first number.
    prefixes: dict[int, str] = {}
    above = ""
    for line in lines:
        if " …, as in " in line:
            label, _, earlier = line.split(" ", 1)[1].partition("…, as in ")
            start, end = map(int, earlier.split("-"))
            rows, prefix = found[start - 1 : end], prefixes[start]
            assert line.startswith(f"{len(found) + 1}-{len(found) + len(rows)}. ")
            found += [label + row.removeprefix(prefix) for row in rows]
            continue
        if line.endswith(" …"):
            above = prefixes[len(found) + 1] = line.removesuffix("…")
            continue
        above = above if line.startswith("  ") else ""
        numbers, label = line.strip().split(" ", 1)
        first, _, last = numbers.removesuffix(".").partition("-")
        braces = re.search(r"\{(.*)\}", label)
        places = braces[1].split(" | ") if braces else [""]
        whole = [above + (label.replace(braces[0], each) if braces else label) for each in places]
        assert [len(found) + 1, len(found) + len(whole)] == [int(first), int(last or first)]
        found += whole
    return found


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join), unique=True, max_size=30))
def test_a_list_has_every_label_once_and_in_order(labels: list[str]) -> None:
    assert listed(legal_lines(labels)) == labels


def test_labels_that_differ_in_a_word_share_a_line_and_lines_share_their_beginning() -> None:
    labels = [
        f"place carton {card} at column {column}, row {row}"
        for card in (1, 2)
        for row in (3, 4, 5)
        for column in (7, 8)
    ]
    assert legal_lines([*labels, "stop"]) == [
        "place carton 1 at column …",
        "  1-2. {7 | 8}, row 3",
        "  3-4. {7 | 8}, row 4",
        "  5-6. {7 | 8}, row 5",
        "7-12. place carton 2 at column …, as in 1-6",
        "13. stop",
    ]


@over_names
def test_a_description_has_all_legal_actions_and_the_question(name: str) -> None:
    game = engine.game(name)
    for position in positions(name, game.max_players, 40):
        seat, labels = position.current_player(), [position.action_label(each) for each in position.legal_actions()]
        lines = text.describe(position, seat, ["seat 1 sneezes"]).splitlines()
        (question,) = [place for place, line in enumerate(lines) if line.startswith("You decide: ")]
        assert listed(lines[question + 1 :]) == labels
        decision = f"{game.max_players} players, decision {position.ply() + 1}"
        assert lines[0] == f"{game.description.title}, {decision}. You are seat {seat}."
        assert lines[1] == "- seat 1 sneezes"
        assert "\x1b" not in "".join(lines)
        other = (seat + 1) % game.max_players
        assert text.describe(position, other).splitlines()[-1] == f"Seat {seat} decides."
        assert text.describe(position, seat, numbered=False).splitlines()[-1] == lines[question]


@over_names
def test_a_description_has_only_what_the_seat_may_know(name: str) -> None:
    game = engine.game(name)
    for number, position in enumerate(positions(name, game.max_players, 60)):
        for seat in range(game.max_players):
            assert text.describe(position, seat) == text.describe(position.resample(seat, number), seat)


@over_names
def test_the_end_of_a_game_is_described(name: str) -> None:
    position = engine.game(name).new_game(engine.game(name).min_players, seed=1)
    while not position.is_terminal():
        position.apply(position.legal_actions()[0])
    assert "The game is over: " in text.describe(position, 0).splitlines()[-1]
    with pytest.raises(EngineError, match="the game is over"):
        read_action("1", position)
    with pytest.raises(EngineError, match="seat"):
        text.describe(position, 7)


FORMS = [
    "{}",
    "  {}.  ",
    "**{}**",
    "Move: {}",
    "I considered all cards.\nMy action is: 1\nFinal answer: {}\n",
    "The others have many cards.\n\n{}",
]


@over_names
def test_every_action_can_be_written_in_many_ways(name: str) -> None:
    game, choices = engine.game(name), random.Random(name)
    for players in range(game.min_players, game.max_players + 1):
        for position in positions(name, players, 40):
            legal = position.legal_actions()
            for action in legal[:: 1 + len(legal) // 10]:
                number, label = legal.index(action) + 1, position.action_label(action, choices.choice(LANGUAGES))
                assert read_action(f"{number}", position) == action
                assert read_action(f"ID {action}.", position) == action
                assert read_action(f"{number}. {label}", position) == action
                assert read_action(choices.choice(FORMS).format(label), position) == action
                assert read_action(label.upper(), position) == action


def test_the_items_of_a_list_may_be_in_any_order() -> None:
    position = positions("momistigri", 3, 1)[0]
    (action, *_), choices = position.legal_actions(), random.Random(1)
    verb, *cards = position.action_label(action).replace(" and", "").split()
    for joined in (" and ", ", ", " & ", " "):
        assert read_action(f"{verb} {joined.join(choices.sample(cards, len(cards)))}", position) == action


# Texts that could mean another action than the words in them.
AMBIGUOUS = [
    "{} or {}",
    "I hesitate between {} and {}.",
    "don't {}",
    "I cannot {}",
    "If I {}, the others win",
    "{} and 99",
    "{} | {}",
]


@pytest.mark.parametrize("form", AMBIGUOUS)
def test_a_text_that_could_mean_something_else_is_refused(form: str) -> None:
    (position,) = positions("discat", 2, 1)
    one, other, *_ = (position.action_label(each) for each in position.legal_actions())
    with pytest.raises(UnclearActionError, match="names no legal action"):
        read_action(form.format(one, other), position)


def test_a_line_of_the_list_and_a_wrong_number_before_words_are_refused() -> None:
    (position,) = positions("discat", 2, 1)
    labels = [position.action_label(each) for each in position.legal_actions()]
    for text_ in (legal_lines(labels)[0], f"2. {labels[0]}", "-1", "1.5"):
        with pytest.raises(UnclearActionError):
            read_action(text_, position)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "names no legal action"),
        ("hello", "'hello' names no legal action: write only the number or the words of one of them: 1. "),
        ("0", "there is no action 0: the legal actions are numbered from 1 to "),
        ("999999", "there is no action 999999"),
        ("id 9999", "id 9999 is not legal; legal ids: "),
        ("id -1", "'id -1' names no legal action"),
        ("x" * 10_001, "the text has 10001 characters, at most 10000 are read"),
        ("\x00\u202e", "names no legal action"),
    ],
)
def test_an_unclear_text_is_refused_with_the_way_out(written: str, reason: str) -> None:
    (position,) = positions("discat", 2, 1)
    with pytest.raises(UnclearActionError) as raised:
        read_action(written, position)
    assert reason in str(raised.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(written: str) -> None:
    (position,) = positions("discat", 2, 1)
    try:
        assert read_action(written, position) in position.legal_actions()
    except UnclearActionError as error:
        assert len(str(error)) < 2_000


def test_the_cartons_of_a_hand_are_described_in_the_language() -> None:
    position = engine.game("chat_cartonne").new_game(2, {"first_seat": 0}, seed=1)
    english, french = (text.describe(position, 0, language=language).splitlines() for language in ("en", "fr"))
    (hand,) = [line for line in english if line.startswith("Your hand: ")]
    assert re.fullmatch(r"Your hand: carton \d+ \(.+\); carton \d+ \(.+\)", hand)
    (hand,) = [line for line in french if line.startswith("Votre main : ")]
    assert re.fullmatch(r"Votre main : le carton \d+ \(.+\); le carton \d+ \(.+\)", hand)
    assert french[0] == "Chat Cartonne, 2 joueurs, décision 1. Vous avez le siège 0."
    assert [line for line in french if line.startswith(("Totaux par siège : ", "À vous de décider : "))][1:]
