"""Amendments by the consent of all: other holders of seats, and decisions that are taken back. Attacks on these."""

import itertools
import random
from functools import partial
from typing import Any

import pytest

from chatiere import engine
from chatiere.service.tables import roots
from chatiere.v1 import table_service_pb2 as pb

from .support import NEXT, NONE, OVER, Host, begun, human, played, refused, secret_of
from .worlds import answer, twin, without_table

DISCAT = engine.game("discat")
BOT = pb.TableSeat(bot="random")
NEW = secret_of(50)
CLOSED = ("NOT_ACKNOWLEDGED", "table")


@pytest.fixture(params=[NONE, NEXT], ids=["none", "next"])
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """Return a service that deals the same cards in every run. Forks need a choice, and twins hidden information."""
    monkeypatch.setattr(roots, "new_root", partial(random.Random(7).randbytes, roots.ROOT_SIZE))
    return Host()


def beginning(
    host: Host, mode: Any, players: int = 3, plies: int = 6, **fields: Any
) -> tuple[list[bytes], list[bytes]]:
    """Return the first tables of a game (all of them open) and the secrets."""
    table, secrets = begun(host, DISCAT, players, mode, **fields)
    return list(itertools.islice(played(host, table, secrets, random.Random(4)), plies)), secrets


def closed_to_all(host: Host, table: bytes, *secrets: bytes) -> None:
    for secret in (*secrets, None):
        assert refused(host.look, table, secret) == CLOSED
        assert refused(host.move, table, secret, 0) == CLOSED
    assert refused(host.get_record, [table]) == ("NOT_ACKNOWLEDGED", "tables[0]")


# Effects of amendments


def test_a_player_resigns_and_a_bot_plays_to_the_end(host: Host, mode: Any) -> None:
    tables, secrets = beginning(host, mode)
    before = host.look(tables[-1], secrets[1])
    made = host.replace(tables[-1], secrets[0], 0, BOT)
    header = host.open(made).header
    assert (header.ply, header.mover, header.decisions) == (6, -1, 5)
    assert header.amendment.replacement == pb.TableReplacement(seat=0, holder=BOT, before=human(secrets[0]))
    closed_to_all(host, made, *secrets[1:])
    tables.append(host.acknowledge(made, *secrets[1:]))
    # The position is the same, and the resigned seat's secret opens no table.
    assert host.look(tables[-1], secrets[1]) == before
    assert refused(host.look, tables[-1], secrets[0]) == ("WRONG_SECRET", "secret")
    record = host.get_record(finished(host, tables, [None, *secrets[1:]]))
    assert record.amendments == [pb.RecordedAmendment(ply=6, amendment=header.amendment)]
    assert list(record.seats) == list(header.seats)
    assert len(record.record.actions) == len(record.bots_versions) == len(tables) - 2


def finished(host: Host, tables: list[bytes], secrets: list[bytes | None]) -> list[bytes]:
    """Play to the end. A seat with the secret None is a bot's. Return all tables."""
    choices = random.Random(5)
    while True:
        turn = host.look(tables[-1]).view.turn
        if turn.kind == OVER:
            return tables
        secret = secrets[turn.seat]
        legal = host.look(tables[-1], secret).legal_actions if secret else []
        made = host.move(tables[-1], secret, choices.choice(legal).id if legal else None).table
        if host.open(made).header.acknowledgement == NEXT:
            made = host.acknowledge(made, *(each for each in secrets if each))
        tables.append(made)


def test_an_absent_player_is_replaced_by_a_person(host: Host, mode: Any) -> None:
    """With `next` this is possible even if the table waits for the absent player's acknowledgement."""
    tables, secrets = beginning(host, mode, allows_replacement=True)
    seat = host.look(tables[-1]).view.turn.seat
    legal = host.look(tables[-1], secrets[seat]).legal_actions
    waiting = host.move(tables[-1], secrets[seat], legal[0].id).table
    gone = (seat + 1) % 3
    made = host.replace(waiting, secrets[seat], gone, human(NEW))
    closed_to_all(host, host.acknowledge(made, secrets[seat], NEW), NEW)
    closed_to_all(host, host.acknowledge(made, secrets[(seat + 2) % 3]), NEW)
    opened = host.acknowledge(made, secrets[(seat + 2) % 3], NEW)
    # The newcomer has the absent player's view.
    assert host.look(opened, NEW) == host.look(host.acknowledge(waiting, secrets[gone]), secrets[gone])
    holders: list[bytes | None] = list(secrets)
    holders[gone] = NEW
    record = host.get_record(finished(host, [*tables, waiting, opened], holders))
    assert [each.ply for each in record.amendments] == [7]


def test_decisions_are_taken_back(host: Host) -> None:
    tables, secrets = beginning(host, NONE)
    made = host.take_back(tables[2:], secrets[0])
    closed_to_all(host, made, *secrets)
    back = host.acknowledge(made, *secrets)
    header = host.open(back).header
    assert (header.ply, header.mover, header.decisions) == (6, -1, 2)
    for secret in (None, *secrets):
        assert host.look(back, secret) == host.look(tables[2], secret)
    # Back to the beginning, across the first amendment.
    first = host.acknowledge(host.take_back([*tables, back], secrets[1]), *secrets)
    assert host.look(first, secrets[1]) == host.look(tables[0], secrets[1])
    record = host.get_record(finished(host, [*tables, back, first], list(secrets)))
    assert [each.amendment.take_back.decisions for each in record.amendments] == [2, 0]


def test_a_bot_has_the_same_luck_after_a_take_back(host: Host) -> None:
    """The bot's random numbers depend on the number of decisions, so that a record can be verified."""
    table, secrets = begun(host, DISCAT, 3, NONE, ["random"])
    tables = [table]
    while host.look(tables[-1]).view.turn.seat != 2:
        seat = host.look(tables[-1]).view.turn.seat
        legal = host.look(tables[-1], secrets[seat]).legal_actions
        tables.append(host.move(tables[-1], secrets[seat], legal[0].id).table)
    tables.append(host.move(tables[-1]).table)
    back = host.acknowledge(host.take_back(tables[-2:], secrets[0]), *secrets)
    assert host.open(host.move(back).table).body.decision == host.open(tables[-1]).body.decision


# Attacks


def test_a_replacement_needs_the_player_s_wish_or_the_term(host: Host, mode: Any) -> None:
    tables, secrets = beginning(host, mode)
    for holder in (BOT, human(NEW)):
        assert refused(host.replace, tables[-1], secrets[0], 1, holder) == ("INVALID_TERMS", "replacement.seat")
    # A stranger cannot request a replacement, and a bot's seat cannot be taken.
    for table in (tables[-1], beginning(host, mode, allows_replacement=True)[0][-1]):
        assert refused(host.replace, table, NEW, 1, human(NEW)) == ("WRONG_SECRET", "secret")
        assert refused(host.replace, table, None, 1, human(NEW)) == ("MISSING_FIELD", "secret")
    bots = begun(host, DISCAT, 3, NONE, ["random"])
    assert refused(host.replace, bots[0], bots[1][0], 2, human(NEW)) == ("INVALID_TERMS", "replacement.seat")


def test_a_present_player_is_not_replaced_without_consent_of_all(host: Host, mode: Any) -> None:
    """One seat that does not consent prevents the replacement. No other amendment achieves the same."""
    tables, secrets = beginning(host, mode, players=4, allows_replacement=True)
    made = host.acknowledge(host.replace(tables[-1], secrets[0], 3, human(NEW)), secrets[0], secrets[1], NEW)
    closed_to_all(host, made, secrets[0], NEW)
    # Meanwhile the seat that does not consent cannot be replaced, and no other call is possible.
    for asker in (secrets[0], secrets[1], NEW):
        assert refused(host.replace, made, asker, 2, BOT) == CLOSED
    assert refused(host.acknowledge, made, secrets[3]) == ("WRONG_SECRET", "secret")


def test_a_consent_is_valid_only_for_its_table(host: Host, mode: Any) -> None:
    """It is not valid for another ply, another amendment or another table."""
    tables, secrets = beginning(host, mode, allows_replacement=True)
    agreed = pb.SealedTable.FromString(host.acknowledge(host.replace(tables[-1], secrets[0], 2, BOT), secrets[1]))
    others = [
        host.replace(tables[-2], secrets[0], 2, BOT),
        host.replace(tables[-1], secrets[0], 2, human(NEW)),
        host.replace(tables[-1], secrets[1], 2, BOT),
        host.replace(beginning(host, mode, allows_replacement=True)[0][-1], secrets[0], 2, BOT),
    ]
    for other in others:
        forged = pb.SealedTable.FromString(other)
        del forged.acknowledgements[:]
        forged.acknowledgements.extend(agreed.acknowledgements)
        assert refused(host.look, forged.SerializeToString()) == ("INVALID_TABLE", "table")
    # The consent of one seat does not count as the consent of another seat.
    agreed.acknowledgements[1].seat = 2
    assert refused(host.look, agreed.SerializeToString()) == ("INVALID_TABLE", "table")


def test_strangers_do_not_consent(host: Host, mode: Any) -> None:
    tables, secrets = beginning(host, mode)
    made = host.replace(tables[-1], secrets[0], 0, human(NEW))
    for stranger in (secret_of(99), secrets[0]):
        assert refused(host.acknowledge, made, stranger) == ("WRONG_SECRET", "secret")


def test_resigning_reveals_nothing_to_the_resigning_seat(host: Host) -> None:
    """With `next` the later position is hidden until all consent. No seat can resign after a move to see it."""
    tables, secrets = beginning(host, NEXT)
    seat = host.look(tables[-1]).view.turn.seat
    made = host.replace(tables[-1], secrets[seat], seat, human(NEW))
    closed_to_all(host, host.acknowledge(made, NEW), NEW)
    legal = host.look(tables[-1], secrets[seat]).legal_actions
    unseen = host.move(tables[-1], secrets[seat], legal[0].id).table
    assert refused(host.replace, unseen, secrets[seat], seat, BOT) == CLOSED
    # A take-back does not reveal the later position either: it is refused if moves are acknowledged.
    assert refused(host.take_back, tables[-2:], secrets[0]) == ("INVALID_TERMS", "take_back")


def test_a_take_back_stays_in_its_game_and_branch(host: Host) -> None:
    tables, secrets = beginning(host, NONE)
    # This is another child of the third table.
    seat = host.look(tables[2]).view.turn.seat
    legal = [action.id for action in host.look(tables[2], secrets[seat]).legal_actions]
    fork = next(made for action in legal if (made := host.move(tables[2], secrets[seat], action).table) != tables[3])
    foreign, _ = beginning(host, NONE)
    for broken, field in [
        ([tables[2], fork, *tables[4:]], "earlier[1]"),
        ([*foreign[2:5], tables[5]], "earlier[2]"),
        ([*tables[2:4], tables[5]], "earlier"),
    ]:
        ply = 2
        assert refused(host.take_back, broken, secrets[0], ply) == ("INVALID_HISTORY", field)
    assert refused(host.take_back, tables[-1:], secrets[0]) == ("INVALID_TERMS", "take_back.ply")


def test_a_finished_game_cannot_be_amended(host: Host) -> None:
    """Its record has already revealed all chance outcomes."""
    table, secrets = begun(host, DISCAT, 2, NONE)
    tables = list(played(host, table, secrets, random.Random(1)))
    assert refused(host.take_back, tables[-2:], secrets[0])[0] == "GAME_OVER"


@pytest.mark.parametrize(
    ("holder", "refusal"),
    [
        (pb.TableSeat(), ("MISSING_FIELD", "replacement.holder")),
        (pb.TableSeat(secret_sha256=b"short"), ("INVALID_TERMS", "replacement.holder.secret_sha256")),
        (human(secret_of(1)), ("INVALID_TERMS", "replacement.holder.secret_sha256")),
        (pb.TableSeat(bot="nobody"), ("INVALID_BOT", "replacement.holder.bot")),
        (pb.TableSeat(bot="ismcts:milliseconds=5"), ("INVALID_BOT", "replacement.holder.bot")),
    ],
)
def test_invalid_holders_are_refused(host: Host, holder: pb.TableSeat, refusal: tuple[str, str]) -> None:
    tables, secrets = beginning(host, NONE, plies=1)
    assert refused(host.replace, tables[0], secrets[0], 0, holder) == refusal
    assert refused(host.replace, tables[0], secrets[0], 3, BOT) == ("INVALID_TERMS", "replacement.seat")
    assert refused(host.call, "amend", pb.AmendRequest(table=tables[0], secret=secrets[0]), pb.AmendResponse) == (
        "MISSING_FIELD",
        "amendment",
    )


def test_amendments_reveal_no_hidden_information(host: Host, mode: Any) -> None:
    """Two tables that look the same to a seat and to spectators still look the same after the same amendments."""
    tables, secrets = beginning(host, mode, allows_replacement=True)
    alike = ((table, twin(host, table, [0], secrets, random.Random(2))) for table in tables)
    table, other = next((table, other) for table, other in alike if other is not None)
    pairs = [
        [answer(host.replace, each, secrets[0], seat, holder) for each in (table, other)]
        for seat, holder in ((0, BOT), (2, BOT), (2, human(NEW)), (3, BOT))
    ]
    for one, two in pairs:
        assert without_table(one) == without_table(two)
    agreed = [host.acknowledge(made, *secrets[:2]) for made in pairs[1]]
    assert host.look(agreed[0], secrets[0]) == host.look(agreed[1], secrets[0])
    assert host.look(agreed[0]) == host.look(agreed[1])
