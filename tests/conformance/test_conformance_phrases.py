"""Labels as phrases: the catalogues are complete, and key, arguments and language determine the text of each label."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po
from games.catalogues import Text, catalogues
from games.phrases import rebuilt, templates

from chatiere import engine
from chatiere.engine import EventLog, Game, Position
from chatiere.engine.core.languages import LANGUAGES
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import written
from chatiere.v1 import game_pb2, game_service_pb2

ROOT = Path(__file__).parents[2]
FIELDS: Any = game_pb2.State.DESCRIPTOR.fields_by_name
LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER
OUTCOMES = game_service_pb2.ListLegalActionsResponse.CHANCE_OUTCOMES_FIELD_NUMBER
EVENTS = game_pb2.Position.EVENTS_FIELD_NUMBER
END = game_pb2.Position.END_FIELD_NUMBER
PROMPT = game_pb2.View.PROMPT_FIELD_NUMBER


def in_a_root(folder: str) -> Path:
    """Return the path of a folder of the package."""
    (found,) = ROOT.glob(f"*/chatiere/{folder}")
    return found


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def text_of(message: Message) -> Text:
    """Return a text's key and its English text, with a plural if it has one."""
    english = message.id if isinstance(message.id, str) else (message.id[0], message.id[1])
    return str(message.context), english


def entries(path: Path) -> dict[Text, Message]:
    """Return the entries of a catalogue by key and English text."""
    with path.open("rb") as file:
        found = [message for message in read_po(file, abort_invalid=True) if message.id]
    return {text_of(message): message for message in found}


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize(("folder", "texts"), [pytest.param(*each, id=each[0]) for each in catalogues()])
def test_a_catalogue_contains_exactly_its_texts(folder: str, texts: set[Text], language: str) -> None:
    found = entries(in_a_root(folder) / f"{language}.po")
    assert set(found) == texts
    for (key, english), message in found.items():
        assert not message.fuzzy
        # Descriptions have no placeholders, although some contain braces.
        if key.startswith(("option.", "action_kind.", "observation.")):
            assert message.string
            continue
        other = english if isinstance(english, str) else english[-1]
        for text in [message.string] if isinstance(message.string, str) else message.string or ():
            assert text
            assert placeholders(text) == placeholders(other)


def test_catalogues_exist_exactly_in_the_expected_folders() -> None:
    expected = {in_a_root(folder) / f"{language}.po" for folder, _ in catalogues() for language in LANGUAGES[1:]}
    assert {path for root in ("engine", "service", "clients") for path in (ROOT / root).rglob("*.po")} == expected


def test_keys_of_faults_are_their_names_in_the_kernel(game: Game) -> None:
    source = (in_a_root(f"engine/games/{game.name}") / "state.pxd").read_text()
    block = re.search(r"cp?def enum \w+Fault:\n((?:    .*\n)+)", source)
    assert block is not None
    names = re.findall(r"^    ([A-Z_]+)", block[1], re.MULTILINE)
    assert [fault.key.partition(".")[2].upper() for _, fault in sorted(game.description.faults.items())] == names
    assert {fault.key.partition(".")[0] for fault in game.description.faults.values()} == {"rule", "state"}


def test_keys_of_events_are_the_names_of_their_kinds(game: Game) -> None:
    kinds = FIELDS[game.name].message_type.file.enum_types_by_name
    (events,) = (kind for name, kind in kinds.items() if name.endswith("EventKind"))
    prefix = f"{game.name.upper()}_EVENT_KIND_"
    names = {name.removeprefix(prefix).lower() for name in events.values_by_name} - {"unspecified"}
    assert {f"event.{name}" for name in names} <= set(templates(game.name, "en"))


def decisions(game: Game, seed: int) -> Iterator[tuple[Position, EventLog]]:
    """Play a random game with explicit chance. Yield each position with the events that led to it."""
    choices = random.Random(seed)
    events = EventLog()
    position = game.new_game(choices.randint(game.min_players, game.max_players), events=events)
    while True:
        yield position, events
        if position.is_terminal():
            return
        events = EventLog()
        if position.is_chance_node():
            outcomes, weights = zip(*position.chance_outcomes(), strict=True)
            position.apply(choices.choices(outcomes, weights)[0], events)
        else:
            position.apply(choices.choice(position.legal_actions()), events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_label_is_the_text_of_its_phrase(game: Game, language: str) -> None:
    messages = Messages(game, engine.codec(game.name), FIELDS[game.name].number, language)
    keys = set()
    for seed in range(4):
        for ply, (position, events) in enumerate(decisions(game, seed)):
            written_out = written(messages.put_end, END, position)
            for seat, whole in ((None, True), (None, False), (ply % position.num_players(), False)):
                written_out += written(messages.put_events, EVENTS, events, seat, whole)
            shown = game_pb2.Position.FromString(written_out)
            listed = game_service_pb2.ListLegalActionsResponse.FromString(
                written(messages.put_legal_actions, LEGAL_ACTIONS, position)
                + written(messages.put_chance_outcomes, OUTCOMES, position)
            )
            prompted = game_pb2.View.FromString(written(messages.put_prompt, PROMPT, position))
            prompts = [prompted.prompt] if prompted.HasField("prompt") else []
            labelled: tuple[Any, ...] = (*shown.events, *listed.legal_actions, *listed.chance_outcomes, *prompts)
            for each in labelled:
                assert each.label == rebuilt(game.name, each.phrase, language)
                keys.add(each.phrase.key)
            assert shown.HasField("end") == position.is_terminal()
            for action in listed.legal_actions[:3]:
                assert action.label == position.action_label(action.id, language)
            for outcome in listed.chance_outcomes[:3]:
                assert outcome.label == position.outcome_label(outcome.outcome, language)
        assert shown.end.label == rebuilt(game.name, shown.end.phrase, language)
    assert {key.partition(".")[0] for key in keys} == {"action", "event", "outcome", "prompt"}


def test_hidden_values_are_not_in_arguments(game: Game) -> None:
    """A spectator's phrases do not depend on hidden values."""
    messages = Messages(game, engine.codec(game.name), FIELDS[game.name].number)
    hidden = 0
    for position, events in decisions(game, 5):
        shown = game_pb2.Position.FromString(written(messages.put_events, EVENTS, events, None)).events
        for event, message in zip(events, shown, strict=True):
            if event.seen_by is not None:
                hidden += 1
                kinds = {each.name: each.kind for each in templates(game.name, "en")[message.phrase.key].arguments}
                assert set(kinds.values()) <= {"seat"}
                numbers = {number for argument in message.phrase.arguments for number in argument.numbers}
                assert numbers <= set(range(position.num_players()))
    assert hidden


def test_other_languages_are_refused(game: Game) -> None:
    position = game.new_game(game.min_players, seed=1)
    action = position.legal_actions()[0]
    for ask in (
        lambda: position.action_label(action, "de"),
        lambda: position.outcome_label(0, ""),
        lambda: engine.codec(game.name).phrases.infos("FR"),
        lambda: Messages(game, engine.codec(game.name), FIELDS[game.name].number, "xx"),
    ):
        with pytest.raises(ValueError, match="labels are in en or fr"):
            ask()
