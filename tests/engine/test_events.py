"""Event logs and the construction of codecs. `new_game` and `apply` append events to a log."""

import pickle

import pytest

from chatiere.engine import Codec, Event, EventLog, Game


def log_of(game: Game) -> EventLog:
    events = EventLog()
    game.new_game(game.max_players, seed=3, events=events)
    return events


def test_a_log_is_a_sequence(game: Game) -> None:
    log = log_of(game)
    events = list(log)
    assert len(log) == len(events) > 0
    assert all(isinstance(event, Event) for event in events)
    assert (log[0], log[-1], log[1:]) == (events[0], events[-1], events[1:])
    assert log.index(events[-1]) == events.index(events[-1])
    assert log.count(events[0]) == events.count(events[0])
    assert repr(log) == f"EventLog({events})"
    for place in (len(events), -len(events) - 1):
        with pytest.raises(IndexError):
            log[place]


def test_events_are_appended(game: Game) -> None:
    log, more = log_of(game), EventLog()
    before = list(log)
    position = game.new_game(game.max_players, seed=3)
    move = position.legal_actions()[0]
    position.clone().apply(move, more)
    position.apply(move, log)
    assert list(log) == before + list(more)


def test_a_log_starts_empty_and_cannot_be_pickled() -> None:
    with pytest.raises(TypeError):
        EventLog([])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="list\\(log\\)"):
        pickle.dumps(EventLog())


def test_a_codec_cannot_be_constructed() -> None:
    with pytest.raises(TypeError, match=r"chatiere\.engine\.codec"):
        Codec()
