"""The table of threats in docs/tables.md, row by row, in every game."""

import hashlib
import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from chatiere import bots, engine
from chatiere.bots.hosting import decisions_at
from chatiere.bots.search import SearchColumns, search
from chatiere.bots.trials import sums_of_returns
from chatiere.engine import Game
from chatiere.service.calls import table_service
from chatiere.service.tables import roots
from chatiere.service.tables.seal import seal
from chatiere.v1 import table_service_pb2 as pb

from .support import NEXT, NONE, OVER, Host, begun, human, played, refused, secret_of


@pytest.fixture
def host() -> Host:
    return Host()


def turn(host: Host, table: bytes, secrets: list[bytes]) -> tuple[int, list[int]]:
    """Return the seat whose turn it is, and its legal actions."""
    seat = host.look(table).view.turn.seat
    return seat, [action.id for action in host.look(table, secrets[seat]).legal_actions]


def first_choice(host: Host, game: Game, mode: Any = NONE, players: int | None = None) -> tuple[bytes, list[bytes]]:
    """Return an open table where a seat can choose, and the secrets."""
    table, secrets = begun(host, game, players, mode)
    for each in played(host, table, secrets, random.Random(1)):
        if len(turn(host, each, secrets)[1]) > 1:
            return each, secrets
    raise AssertionError("no seat has a choice")


def test_a_forged_byte(host: Host, game: Game) -> None:
    table, secrets = begun(host, game, mode=NEXT)
    for place in range(0, len(table), 7):
        forged = table[:place] + bytes([table[place] ^ 1]) + table[place + 1 :]
        for call in host.look, host.move, host.acknowledge:
            assert refused(call, forged, secrets[0]) == ("INVALID_TABLE", "table")
        assert refused(host.get_record, [forged]) == ("INVALID_TABLE", "tables[0]")


def test_a_changed_header(host: Host, game: Game) -> None:
    """An attacker may change a seat, the acknowledgements, the ply, the expiry …: the seal also covers the header."""
    table, _ = begun(host, game, mode=NEXT)
    mine = secret_of(99)
    changes: list[Callable[[Any], object]] = [
        lambda header: header.seats[0].CopyFrom(human(mine)),
        lambda header: setattr(header, "acknowledgement", NONE),
        lambda header: setattr(header, "ply", 1),
        lambda header: setattr(header, "mover", 0),
        lambda header: setattr(header.expires, "seconds", header.expires.seconds + 1),
        lambda header: setattr(header, "parent", b"1" * 32),
        lambda header: setattr(header, "commitment", b"1" * 32),
        lambda header: setattr(header, "key_id", b"1" * 8),
    ]
    for change in changes:
        sealed = pb.SealedTable.FromString(table)
        header = pb.TableHeader.FromString(sealed.header)
        change(header)
        sealed.header = header.SerializeToString()
        assert refused(host.look, sealed.SerializeToString(), mine) == ("INVALID_TABLE", "table")
    # The seal of one table does not fit the header of another.
    other = pb.SealedTable.FromString(begun(host, game)[0])
    sealed = pb.SealedTable.FromString(table)
    other.seal = sealed.seal
    assert refused(host.look, other.SerializeToString()) == ("INVALID_TABLE", "table")


def test_the_table_of_a_server_with_another_key(host: Host, game: Game) -> None:
    table, secrets = begun(Host(), game)
    assert refused(host.look, table, secrets[0]) == ("INVALID_TABLE", "table")


def test_an_expired_table(host: Host, game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    table, secrets = begun(host, game, lifetime=Duration(seconds=60))
    expires = host.open(table).header.expires.seconds
    monkeypatch.setattr(time, "time", lambda: float(expires) - 0.1)
    assert host.look(table, secrets[0])
    monkeypatch.setattr(time, "time", lambda: float(expires))
    for secret in secrets[0], secret_of(99), None:
        assert refused(host.look, table, secret) == ("TABLE_EXPIRED", "table")
    assert refused(host.acknowledge, table, secrets[0]) == ("TABLE_EXPIRED", "table")
    assert refused(host.get_record, [table]) == ("TABLE_EXPIRED", "tables[0]")


def test_the_secret_of_another_table(host: Host, game: Game) -> None:
    """With a wrong secret, an open table gives no view, and a closed one does not even reveal that it is closed."""
    for mode in NONE, NEXT:
        table, secrets = begun(host, game, mode=mode)
        closed = host.new_table(
            game=game.name, players=len(secrets), seats=map(human, secrets), acknowledgement=mode
        ).table
        for each in table, closed:
            for wrong in secret_of(99), b"", secrets[0] + b"\0", secrets[0][:-1], bytes(16):
                for call in host.look, host.move, host.acknowledge:
                    assert refused(call, each, wrong) == ("WRONG_SECRET", "secret")
                assert refused(host.suggest, each, wrong, "random") == ("WRONG_SECRET", "secret")


@pytest.mark.parametrize("size", [0, 15, 17, 32])
def test_a_secret_of_another_length(host: Host, size: int) -> None:
    """A secret that does not have 16 bytes has no seat, although the header contains its hash."""
    long = secret_of(1) * 2
    seats = [human(long[:size]), human(secret_of(2))]
    table = host.new_table(game="discat", players=2, seats=seats, acknowledgement=NONE).table
    for call in host.look, host.move, host.acknowledge:
        assert refused(call, table, long[:size]) == ("WRONG_SECRET", "secret")
    assert host.look(table, secret_of(2))


def test_the_turn_of_another_seat(host: Host, game: Game) -> None:
    table, secrets = first_choice(host, game)
    seat, legal = turn(host, table, secrets)
    for other, secret in enumerate([*secrets, None]):
        if other != seat:
            # The refusal does not depend on whether the action would be legal.
            for action in legal[0], 60_000, None:
                assert refused(host.move, table, secret, action) == ("WRONG_TURN", "secret")
            if secret is not None:
                assert refused(host.suggest, table, secret, "random") == ("WRONG_TURN", "secret")
                assert not host.look(table, secret).legal_actions


def test_moves_that_break_the_rules(host: Host, game: Game) -> None:
    table, secrets = first_choice(host, game)
    seat, legal = turn(host, table, secrets)
    illegal = next(action for action in range(game.num_distinct_actions) if action not in legal)
    assert refused(host.move, table, secrets[seat], illegal) == ("ILLEGAL_ACTION", "action.id")
    assert refused(host.move, table, secrets[seat], 60_000) == ("INVALID_ACTION", "action.id")
    assert refused(host.move, table, secrets[seat]) == ("MISSING_FIELD", "action")


@pytest.mark.parametrize("as_spectator", [False, True])
def test_peeking(host: Host, game: Game, as_spectator: bool) -> None:
    """With `next`, a player who tries a move does not see the result before the next seat has acknowledged it."""
    table, secrets = first_choice(host, game, NEXT)
    seat, legal = turn(host, table, secrets)
    following = (seat + 1) % len(secrets)
    for action in legal[:2]:
        response = host.move(table, secrets[seat], action)
        assert not response.HasField("update")
        child = response.table
        peeking = None if as_spectator else secrets[seat]
        # Acknowledgements of the other seats do not help.
        helped = host.acknowledge(child, *(secret for other, secret in enumerate(secrets) if other != following))
        for each in child, helped:
            assert refused(host.look, each, peeking) == ("NOT_ACKNOWLEDGED", "table")
            assert refused(host.move, each, peeking, 0) == ("NOT_ACKNOWLEDGED", "table")
            assert refused(host.get_record, [each]) == ("NOT_ACKNOWLEDGED", "tables[0]")
            if peeking is not None:
                assert refused(host.suggest, each, peeking, "random") == ("NOT_ACKNOWLEDGED", "table")
    opened = host.acknowledge(child, secrets[following])
    assert host.look(opened, None if as_spectator else secrets[seat])


def test_peeking_without_acknowledgements(host: Host, game: Game) -> None:
    """With `none`, a player can try a move, look, and go back, as documented."""
    table, secrets = first_choice(host, game)
    seat, legal = turn(host, table, secrets)
    tried = [host.move(table, secrets[seat], action) for action in legal[:2]]
    for each in tried:
        assert each.HasField("update")
        assert each.update == host.look(each.table, secrets[seat])


def test_two_children_shown_to_two_seats(host: Host, game: Game) -> None:
    """A comparison reveals the fork: ply and parent are equal, hashes differ. Only the next seat could open both."""
    table, secrets = first_choice(host, game, NEXT)
    seat, legal = turn(host, table, secrets)
    children = [host.move(table, secrets[seat], action).table for action in legal[:2]]
    headers = [host.open(child).header for child in children]
    assert headers[0].ply == headers[1].ply
    assert headers[0].parent == headers[1].parent
    assert len({hashlib.sha256(child).digest() for child in children}) == 2


def test_a_retry_is_not_a_fork(host: Host, game: Game) -> None:
    """The same move at the same table gives the same bytes, with any acknowledgements and at every server."""
    table, secrets = first_choice(host, game)
    seat, legal = turn(host, table, secrets)
    other = Host(host.keys)
    found = {
        server.move(each, secrets[seat], legal[0]).table
        for server in (host, other)
        for each in (table, host.acknowledge(table, secrets[0]))
    }
    assert len(found) == 1


def test_a_seed_cannot_be_guessed_from_a_hand(host: Host, game: Game) -> None:
    """Seed and game number have 64 bits each, and are derived from the root. A table does not reveal the root."""
    table, _ = begun(host, game)
    opened = host.open(table)
    seed, game_number, drawn = game.unpack(opened.body.state).random_stream() or (0, 0, 0)
    assert (seed, game_number) == roots.stream_of(opened.body.root)
    assert drawn
    assert seed >= 2**32
    assert game_number >= 2**32
    others = {host.open(begun(host, game)[0]).body.root for _ in range(20)}
    assert len(others) == 20
    for number in seed, game_number:
        assert number.to_bytes(8, "little") not in table


def test_a_creator_who_deals_repeatedly(host: Host, game: Game) -> None:
    """With `next`, hands are hidden until all human seats have acknowledged the table. The table has a unique id."""
    _, secrets = begun(host, game)
    seats = [human(secret) for secret in secrets]
    tables = [
        host.new_table(game=game.name, players=len(seats), seats=seats, acknowledgement=NEXT).table for _ in range(2)
    ]
    assert len({host.open(table).header.table_id for table in tables}) == 2
    for table in tables:
        for missing in range(len(secrets)):
            almost = host.acknowledge(table, *secrets[:missing], *secrets[missing + 1 :])
            assert refused(host.look, almost, secrets[0]) == ("NOT_ACKNOWLEDGED", "table")
        assert host.look(host.acknowledge(table, *secrets), secrets[0])


def test_a_creator_who_has_the_secrets(host: Host, game: Game) -> None:
    """The header shows to all players which secrets the service generated for the creator."""
    seats = [human(secret_of(0)), *(pb.TableSeat() for _ in range(game.max_players - 1))]
    made = host.new_table(game=game.name, players=len(seats), seats=seats, acknowledgement=NONE)
    header_seats = host.open(made.table).header.seats
    assert [seat.made_by_service for seat in header_seats] == [False] + [True] * (len(seats) - 1)
    assert [each.seat for each in made.secrets] == list(range(1, len(seats)))
    for each in made.secrets:
        assert len(each.secret) == 16
        assert header_seats[each.seat].secret_sha256 == hashlib.sha256(each.secret).digest()
        assert host.look(made.table, each.secret).seat == each.seat
    # The creator's own claim is ignored.
    claimed = [pb.TableSeat(secret_sha256=human(secret_of(i)).secret_sha256, made_by_service=True) for i in range(2)]
    claimed += [pb.TableSeat(bot="random") for _ in range(game.max_players - 2)]
    table = host.new_table(game=game.name, players=len(claimed), seats=claimed, acknowledgement=NEXT).table
    assert not any(seat.made_by_service for seat in host.open(table).header.seats)


def test_stalling(host: Host, game: Game) -> None:
    """If the next seat never acknowledges a table, no other seat can open it."""
    table, secrets = first_choice(host, game, NEXT)
    seat, legal = turn(host, table, secrets)
    child = host.move(table, secrets[seat], legal[0]).table
    following = (seat + 1) % len(secrets)
    stalled = host.acknowledge(child, *(secret for other, secret in enumerate(secrets) if other != following))
    assert refused(host.look, stalled, secrets[seat]) == ("NOT_ACKNOWLEDGED", "table")
    # Its parent stays open, so that all can see which seat has to acknowledge which table.
    assert host.look(table)


def test_collusion(host: Host, game: Game) -> None:
    """The player who moves and the next seat together can look at two children. A third seat can see the fork."""
    table, secrets = first_choice(host, game, NEXT)
    seat, legal = turn(host, table, secrets)
    following = (seat + 1) % len(secrets)
    tried = [
        host.acknowledge(host.move(table, secrets[seat], action).table, secrets[following]) for action in legal[:2]
    ]
    assert all(host.look(each, secrets[seat]) for each in tried)
    assert len({host.open(each).header.parent for each in tried}) == 1


def test_only_finished_games_have_records(host: Host, game: Game) -> None:
    table, secrets = begun(host, game, mode=NEXT)
    tables = list(played(host, table, secrets, random.Random(3)))
    for count in 1, len(tables) - 1:
        assert refused(host.get_record, tables[:count]) == ("GAME_NOT_OVER", "tables")
    most = game.limits_of_any_options(game.max_players).max_game_length + 1
    for broken, field in [
        (tables[1:], "tables[0]"),
        (tables[:1] + tables[2:], "tables[1]"),
        ([tables[1], tables[0], *tables[2:]], "tables[0]"),
        ([*tables, tables[-1]], "tables" if len(tables) == most else f"tables[{len(tables)}]"),
    ]:
        assert refused(host.get_record, broken) == ("INVALID_HISTORY", field)
    # More tables than any game has are refused before they are opened.
    assert refused(host.get_record, [tables[0]] * (most + 1)) == ("INVALID_HISTORY", "tables")
    assert refused(host.get_record, [tables[0]] * most) == ("INVALID_HISTORY", "tables[1]")
    assert refused(host.get_record, []) == ("MISSING_FIELD", "tables")
    assert refused(host.get_record, [b""]) == ("MISSING_FIELD", "tables[0]")
    # A table from another branch of a fork does not belong to this game.
    seat, legal = turn(host, tables[0], secrets)
    forks = [host.move(tables[0], secrets[seat], action).table for action in legal]
    for fork in forks:
        if fork != tables[1][: len(fork)]:
            assert refused(host.get_record, [tables[0], fork, *tables[2:]])[0] == "INVALID_HISTORY"
    record = host.get_record(tables)
    assert record.root == host.open(table).body.root
    assert roots.commitment_of(record.table_id, record.root) == record.commitment
    stream = record.record.stream
    position = game.new_game(game.max_players, seed=stream.seed, game_number=stream.game_number)
    for action in record.record.actions:
        position.apply(action)
    assert position.is_terminal()
    update = host.look(tables[-1])
    assert update.view.turn.kind == OVER
    assert refused(host.move, tables[-1], secrets[0], 0)[0] == "GAME_OVER"


def test_bots_play_their_seats(host: Host, game: Game) -> None:
    """Any client may request their moves. Their choices depend only on the root, the ply, and what their seat knows."""
    specs = ["random", "flat:playouts=8", "ismcts:simulations=8", *bots.names(game)[3:]]
    for players in {game.min_players, game.max_players}:
        chosen = [specs[i % len(specs)] for i in range(1, players)]
        table, secrets = begun(host, game, players, NONE, chosen)
        by_bots = 0
        for each in played(host, table, secrets, random.Random(2)):
            seat = host.look(each).view.turn.seat
            if host.look(each).view.turn.kind == OVER or seat == 0:
                continue
            opened = host.open(each)
            child = host.move(each).table
            assert host.move(each, secrets[0]).table == child
            assert refused(host.move, each, secrets[0], 0) == ("WRONG_TURN", "secret")
            position = table_service.position_of(opened)
            bot = bots.get(chosen[seat - 1], game, players)
            luck = roots.luck_of(opened.body.root, opened.header.ply)
            assert host.open(child).body.decision == bot.choose(decisions_at(position, bot, luck))[0]
            by_bots += 1
        assert by_bots


@pytest.mark.parametrize("spec", ["flat:playouts=600", "ismcts:simulations=30"])
def test_a_forced_move_of_a_bot_takes_the_same_work(
    host: Host, game: Game, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The duration of a call does not reveal whether a bot, or a seat that asks for a hint, had a choice."""
    spent: list[int] = []

    def counted(*arguments: Any, **options: Any) -> SearchColumns:
        found = search(*arguments, **options)
        spent.append(int(found.visits.sum()))
        return found

    def counted_trials(game: Game, worlds: Any, legal_ids: Any, *rest: Any) -> Any:
        spent.append(len(worlds) * len(legal_ids))
        return sums_of_returns(game, worlds, legal_ids, *rest)

    monkeypatch.setattr("chatiere.bots.ismcts.search", counted)
    monkeypatch.setattr("chatiere.bots.flat.sums_of_returns", counted_trials)
    budget = bots.get(spec, game, game.max_players).budget
    table, secrets = begun(host, game, None, NONE, [spec])
    counts = set()
    for each in itertools.islice(played(host, table, secrets, random.Random(5)), 400):
        view = host.look(each).view
        if view.turn.kind == OVER:
            break
        count = len(table_service.position_of(host.open(each)).legal_actions())
        bots_turn = view.turn.seat == len(secrets)
        if count > 1 and count in counts:
            continue
        counts.add(count)
        spent.clear()
        if bots_turn:
            host.move(each)
        else:
            host.suggest(each, secrets[view.turn.seat], spec, seed=3)
        # The last two actions are tried equally often.
        assert budget - (count > 1) <= sum(spent) <= budget
    # Chat Cartonne has no forced moves.
    assert len(counts) > 1
    assert 1 in counts or game.name == "chat_cartonne"


def test_a_bot_s_move_on_an_open_table_gives_an_open_table(host: Host, game: Game) -> None:
    if game.max_players < 3:
        pytest.skip("this table lacks two human seats and a bot")
    table, secrets = begun(host, game, 3, NEXT, ["random"])
    seen = 0
    for each in played(host, table, secrets, random.Random(2)):
        update = host.look(each)
        if update.view.turn.kind != OVER and update.view.turn.seat == 2:
            response = host.move(each)
            assert response.update == host.look(response.table)
            seen += 1
        elif update.view.turn.kind != OVER:
            # The next human seat to the left has to acknowledge. The bot is skipped.
            seat = update.view.turn.seat
            legal = host.look(each, secrets[seat]).legal_actions
            child = host.move(each, secrets[seat], legal[0].id).table
            assert refused(host.look, host.acknowledge(child, secrets[seat])) == ("NOT_ACKNOWLEDGED", "table")
            assert host.look(host.acknowledge(child, secrets[1 - seat]))
    assert seen


def test_invalid_terms(host: Host, game: Game) -> None:
    good = [human(secret_of(seat)) for seat in range(game.min_players)]
    fields: dict[str, Any] = {
        "game": game.name,
        "players": len(good),
        "seats": good,
        "acknowledgement": NONE,
    }
    bot = pb.TableSeat(bot="random")
    wrong: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"game": "chess"}, ("UNKNOWN_GAME", "game")),
        ({"game": ""}, ("UNKNOWN_GAME", "game")),
        ({"players": game.max_players + 1}, ("INVALID_PLAYERS", "players")),
        ({"seats": good[1:]}, ("INVALID_TERMS", "seats")),
        ({"seats": [*good, bot]}, ("INVALID_TERMS", "seats")),
        ({"seats": [good[0], good[0], *good[2:]]}, ("INVALID_TERMS", "seats[1].secret_sha256")),
        ({"seats": [pb.TableSeat(secret_sha256=b"1"), *good[1:]]}, ("INVALID_TERMS", "seats[0].secret_sha256")),
        ({"seats": [pb.TableSeat(bot=""), *good[1:]]}, ("MISSING_FIELD", "seats[0].bot")),
        ({"acknowledgement": 0}, ("INVALID_TERMS", "acknowledgement")),
        ({"acknowledgement": 7}, ("INVALID_TERMS", "acknowledgement")),
        ({"acknowledgement": NEXT, "seats": [good[0]] + [bot] * (len(good) - 1)}, ("INVALID_TERMS", "acknowledgement")),
        ({"lifetime": Duration(seconds=59)}, ("INVALID_TERMS", "lifetime")),
        ({"lifetime": Duration(seconds=60, nanos=1)}, ("INVALID_TERMS", "lifetime")),
        ({"lifetime": Duration(seconds=-60)}, ("INVALID_TERMS", "lifetime")),
        ({"lifetime": Duration(seconds=31_536_001)}, ("INVALID_TERMS", "lifetime")),
    ]
    for change, expected in wrong:
        assert refused(host.new_table, **(fields | change)) == expected
    for spec, reason in [
        ("nobody", "INVALID_BOT"),
        ("ismcts:milliseconds=5", "INVALID_BOT"),
        ("ismcts", "INVALID_BOT"),
        ("flat", "INVALID_BOT"),
        ("flat:playouts=10001", "BATCH_TOO_LARGE"),
    ]:
        seats = [*good[1:], pb.TableSeat(bot=spec)]
        field = f"seats[{len(good) - 1}].bot"
        assert refused(host.new_table, **(fields | {"seats": seats})) == (reason, field)


def test_a_hint_depends_only_on_what_the_seat_knows(host: Host, game: Game) -> None:
    table, secrets = first_choice(host, game)
    seat, legal = turn(host, table, secrets)
    for bot in [*bots.names(game), "flat:playouts=20", "ismcts:simulations=20"]:
        found = host.suggest(table, secrets[seat], bot, seed=5)
        assert found.seat == seat
        assert found.action.id in legal
        assert host.suggest(table, secrets[seat], bot, seed=5) == found
    assert refused(host.suggest, table, None, "random") == ("MISSING_FIELD", "secret")
    assert refused(host.suggest, table, secrets[seat], "nobody") == ("INVALID_BOT", "bot")
    assert refused(host.suggest, table, secrets[seat], "flat:playouts=10001") == ("BATCH_TOO_LARGE", "bot")
    # The limit on playouts does not apply to a bot that searches for a given time.
    for timed in "ismcts:milliseconds=5", "ismcts:simulations=20,milliseconds=5":
        assert refused(host.suggest, table, secrets[seat], timed) == ("INVALID_BOT", "bot")


def test_calls_without_a_table_are_refused(host: Host) -> None:
    for call in host.look, host.move:
        assert refused(call, b"") == ("MISSING_FIELD", "table")
    assert refused(host.acknowledge, b"", secret_of(0)) == ("MISSING_FIELD", "table")
    table, _ = begun(host, engine.game("discat"))
    request = pb.AcknowledgeRequest(table=table)
    assert refused(host.call, "acknowledge", request, pb.AcknowledgeResponse) == ("MISSING_FIELD", "secret")


def test_a_table_of_other_rules(host: Host, game: Game, monkeypatch: pytest.MonkeyPatch) -> None:

    def older(key: Any, header: pb.TableHeader, body: Any) -> bytes:
        header.rules_version = 255
        return seal(key, header, body)

    with monkeypatch.context() as patch:
        patch.setattr(table_service, "seal", older)
        table, secrets = begun(host, game)
    assert refused(host.look, table, secrets[0]) == ("UNSUPPORTED_RULES_VERSION", "table")


def test_a_table_in_another_packed_form(host: Host, game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    begun_table, secrets = begun(host, game)
    seat = host.look(begun_table, secrets[0]).view.turn.seat
    action = host.look(begun_table, secrets[seat]).legal_actions[0].id

    def older(key: Any, header: pb.TableHeader, body: Any) -> bytes:
        return seal(key, header, body._replace(state=body.state[:3] + b"\xff" + body.state[4:]))

    with monkeypatch.context() as patch:
        patch.setattr(table_service, "seal", older)
        table = host.move(begun_table, secrets[seat], action).table
    assert refused(host.look, table, secrets[0]) == ("INVALID_STATE", "table")
