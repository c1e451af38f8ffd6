"""chatiere verify: records of games at sealed tables."""

import base64
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from google.protobuf import json_format
from tables.support import Host, begun
from tools.bots_versions import NEW, OLD, newer_release

from chatiere import engine
from chatiere.clients import SealedSeat
from chatiere.clients.sealed_seat import header_of, table_of, text_of
from chatiere.engine import Game
from chatiere.service.base.settings import Settings
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import table_service_pb2 as pb
from chatiere.v1.table_service_pb2_grpc import TableServiceStub

from .conftest import Run

BOTS = ["random", "flat:playouts=4", "ismcts:simulations=4"]


def record_of(address: str, game: Game, folder: Path) -> tuple[Path, Path, pb.TableRecord]:
    """Return a record's file, the file of a table of the same game, and the record. All seats except one are bots."""
    players = min(3, game.max_players)
    with SealedSeat(address, folder / "seat") as me:
        seats = [me.seat, *(pb.TableSeat(bot=bot) for bot in BOTS[: players - 1])]
        table = me.new_table(game.name, seats, pb.ACKNOWLEDGEMENT_NONE).table
        tables, update = [table], me.look(table)
        while update.view.turn.kind != 3:
            own = update.legal_actions
            response = me.move(tables[-1], own[-1] if own else None)
            tables.append(response.table)
            update = response.update
        record = me.get_record(tables)
    (folder / "record.json").write_text(json_format.MessageToJson(record))
    (folder / "table.txt").write_text(text_of(tables[len(tables) // 2]) + "\n")
    (folder / "tables.txt").write_text("\n".join(map(text_of, tables)))
    return folder / "record.json", folder / "table.txt", record


def test_a_true_record_is_verified_with_and_without_tables(run: Run, address: str, game: Game, tmp_path: Path) -> None:
    path, table, record = record_of(address, game, tmp_path)
    result = run("verify", path, "--table", table)
    assert result.exit_code == 0, result.output
    assert f"{len(record.record.actions)} decisions, " in result.stdout
    ply = header_of(table_of(table.read_text())).ply
    assert f"commitment {record.commitment.hex()}, as in the table of ply {ply}\n" in result.stdout
    result = run("verify", path)
    assert result.exit_code == 0
    assert f"commitment {record.commitment.hex()}\n" in result.stdout
    result = run("verify", path, "--table", table, "--table", tmp_path / "tables.txt")
    assert result.exit_code == 0, result.output
    plies = len(record.record.actions)
    assert f", as in the {plies + 1} tables of plies 0 to {plies}\n" in result.stdout


def test_plies_without_a_table_are_reported(run: Run, address: str, tmp_path: Path) -> None:
    path, table, _ = record_of(address, engine.game("chat_perche"), tmp_path)
    lines = (tmp_path / "tables.txt").read_text().splitlines()

    def verified(*missing: int) -> Result:
        table.write_text("\n".join(line for ply, line in enumerate(lines) if ply not in missing))
        result = run("verify", path, "--table", table)
        assert f", as in the {len(lines) - len(missing)} tables of plies " in result.stdout
        return result

    for missing, told in ([7], "ply 7"), ([3, 7, 8, 9], "plies 3, 7-9"), ([0, 4, 5], "plies 4-5"):
        result = verified(*missing)
        assert (result.exit_code, result.stderr) == (3, "")
        assert result.stdout.endswith(f"\nnot verified: no table of {told}\n")
    # The previous line contains the first and the last ply.
    assert verified(0, 1, len(lines) - 1).exit_code == 0


def test_tables_are_read_in_their_json_form(run: Run, address: str, tmp_path: Path) -> None:
    path, table, _ = record_of(address, engine.game("chat_perche"), tmp_path)
    tables = map(table_of, (tmp_path / "tables.txt").read_text().split())
    table.write_text("\n".join(base64.b64encode(each).decode() for each in tables))
    result = run("verify", path, "--table", table)
    assert result.exit_code == 0, result.output


def test_a_record_with_amendments_is_verified_by_its_tables(run: Run, address: str, tmp_path: Path) -> None:
    """A person takes decisions back and resigns. Bots are verified for the decisions that they made."""
    with SealedSeat(address, tmp_path / "seat") as me:
        table = me.new_table(
            "discat", [me.seat, *(pb.TableSeat(bot=bot) for bot in BOTS[:2])], pb.ACKNOWLEDGEMENT_NONE
        ).table
        tables = [table]

        def play(plies: int) -> None:
            for _ in range(plies):
                own = me.look(tables[-1]).legal_actions
                tables.append(me.move(tables[-1], own[0].id if own else None).table)

        play(9)
        tables.append(me.take_back(tables[4:]))
        play(5)
        tables.append(me.replace(tables[-1], 0, pb.TableSeat(bot="flat:playouts=2")))
        while me.look(tables[-1], as_spectator=True).view.turn.kind != 3:
            tables.append(TableServiceStub(me.channel).Move(pb.MoveRequest(table=tables[-1])).table)
        record = me.get_record(tables)
    (tmp_path / "tables").write_text("\n".join(map(text_of, tables)))
    cases: list[tuple[Callable[[pb.TableRecord], object], str]] = [
        (lambda record: None, ""),
        (lambda record: record.amendments.pop(), "the record's seats"),
        (lambda record: setattr(record.amendments[0].amendment.take_back, "decisions", 3), "the record's amendment"),
        (lambda record: setattr(record.amendments[1].amendment.replacement, "seat", 1), "the holder of seat 1"),
        (lambda record: record.seats[0].CopyFrom(record.seats[1]), "the holder of seat 0"),
    ]
    for broken, message in cases:
        changed = pb.TableRecord.FromString(record.SerializeToString())
        broken(changed)
        (tmp_path / "record").write_text(json_format.MessageToJson(changed))
        result = run("verify", tmp_path / "record", "--table", tmp_path / "tables")
        assert result.exit_code == bool(message), result.output
        assert message in result.stderr


def test_a_record_is_read_as_returned_by_the_call(run: Run, address: str, game: Game, tmp_path: Path) -> None:
    path, table, record = record_of(address, game, tmp_path)
    response = json_format.MessageToJson(pb.GetRecordResponse(record=record), always_print_fields_with_no_presence=True)
    path.write_bytes(f"\ufeff{response}".replace("\n", "\r\n").encode())
    table.write_bytes(f"\ufeff{table.read_text()}".encode())
    result = run("verify", path, "--table", table)
    assert result.exit_code == 0, result.output


def other_root(record: pb.TableRecord) -> None:
    record.root = bytes(32)


def other_seed(record: pb.TableRecord) -> None:
    record.record.stream.seed ^= 1


def other_end(record: pb.TableRecord) -> None:
    del record.record.actions[-1], record.bots_versions[-1]


def other_start(record: pb.TableRecord) -> None:
    record.record.rules_version += 1


def other_game(record: pb.TableRecord) -> None:
    record.record.game = "chess"


def other_seats(record: pb.TableRecord) -> None:
    del record.seats[-1]


def other_bot(record: pb.TableRecord) -> None:
    record.seats[1].bot = "nobody"


def timed_bot(record: pb.TableRecord) -> None:
    record.seats[1].bot = "ismcts:milliseconds=1"


def other_options(record: pb.TableRecord) -> None:
    record.record.options.discat.SetInParent()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_root, "the commitment does not match the root"),
        (other_seed, "the seed and game number do not match the root"),
        (other_end, "the game is not over"),
        (other_start, "UNSUPPORTED_RULES_VERSION"),
        (other_game, "UNKNOWN_GAME"),
        (other_seats, "seats for"),
        (other_bot, "unknown bot"),
        (timed_bot, "depend on time"),
        (other_options, "discat options for a chat_perche game"),
    ],
)
def test_false_records_are_reported_with_the_fault(
    run: Run, address: str, tmp_path: Path, change: Callable[[pb.TableRecord], None], words: str
) -> None:
    path, _, record = record_of(address, engine.game("chat_perche"), tmp_path)
    change(record)
    path.write_text(json_format.MessageToJson(record))
    result = run("verify", path)
    assert result.exit_code == 1
    assert words in result.stderr


def test_a_bot_that_the_operator_added_is_verified_by_its_code(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "import chatiere.bots.games.chat_perche as own\n\n\nclass Agent(own.ClimberBot):\n    pass\n"
    (tmp_path / "mybot.py").write_text(code)
    host = Host(settings=Settings(bots=("agent=mybot.py:Agent",)))
    seats = [pb.TableSeat(bot="agent"), pb.TableSeat()]
    made = host.new_table(game="chat_perche", players=2, seats=seats, acknowledgement=pb.ACKNOWLEDGEMENT_NONE)
    tables, secret = [made.table], made.secrets[0].secret
    while (update := host.look(tables[-1], secret)).view.turn.kind != 3:
        tables.append(host.move(tables[-1], secret, update.legal_actions[0].id if update.legal_actions else None).table)
    path, record = tmp_path / "record.json", host.get_record(tables)
    path.write_text(json_format.MessageToJson(record))
    result = run("verify", path, "--bots", "agent=mybot.py:Agent")
    assert result.exit_code == 0, result.output
    result = run("verify", path)
    assert (result.exit_code, "unknown bot 'agent'" in result.stderr) == (1, True)
    result = run("verify", path, "--bots", "agent=mybot.py:Nobody")
    refusal = "Error: --bots: bot mybot.py:Nobody: mybot.py has no Nobody; its bots: Agent\n"
    assert (result.exit_code, result.stderr) == (2, refusal)
    # A record cannot name code.
    record.seats[0].bot = "mybot.py:Agent"
    path.write_text(json_format.MessageToJson(record))
    result = run("verify", path)
    assert (result.exit_code, "unknown bot 'mybot.py'" in result.stderr) == (1, True)


def test_a_choice_that_is_not_the_bot_s_is_reported(run: Run, address: str, tmp_path: Path) -> None:
    """The record may have another bot's moves, or moves that the service chose itself."""
    path, _, record = record_of(address, engine.game("discat"), tmp_path)
    record.seats[0].bot = "random"
    path.write_text(json_format.MessageToJson(record))
    result = run("verify", path)
    assert result.exit_code == 1
    assert "seat 0, random, would have chosen" in result.stderr


@pytest.fixture
def of_two_releases(tmp_path: Path) -> tuple[Path, Path, pb.TableRecord]:
    """Return the files of a record and of its tables, and the record. The service was updated after ply 20."""
    keys = Keyring(None)
    table, (secret,) = begun(Host(keys), engine.game("discat"), 2, bots=["random"])
    tables = [table]
    with newer_release():
        hosts = [Host(keys, Settings(bots_version=version)) for version in (OLD, NEW)]
        while (update := hosts[0].look(tables[-1], secret)).view.turn.kind != 3:
            own = update.legal_actions
            host = hosts[len(tables) > 20]
            tables.append((host.move(tables[-1], secret, own[0].id) if own else host.move(tables[-1])).table)
    record = hosts[0].get_record(tables)
    path, texts = tmp_path / "record.json", tmp_path / "tables.txt"
    path.write_text(json_format.MessageToJson(record))
    texts.write_text("\n".join(map(text_of, tables)))
    return path, texts, record


def test_bots_of_another_version_are_reported(run: Run, of_two_releases: tuple[Path, Path, pb.TableRecord]) -> None:
    path, tables, record = of_two_releases
    decided = Counter(record.bots_versions[ply] for ply in range(len(record.record.actions)) if mover(record, ply))
    assert set(decided) == {OLD, NEW}
    with newer_release():
        result = run("verify", path, "--table", tables)
    assert result.exit_code == 0, result.output
    assert f"decisions, {decided.total()} of them by bots, as recorded\n" in result.stdout
    # A release without the old version of the bots cannot verify all choices.
    with newer_release(keeps_old=False):
        after = run("verify", path, "--table", tables)
    for result, version, other in (after, NEW, OLD), (run("verify", path, "--table", tables), OLD, NEW):
        assert result.exit_code == 3, result.output
        assert f"decisions, {decided[version]} of them by bots, as recorded\n" in result.stdout
        told = f"{decided[other]} decisions of bots of version {other}; this release has version {version}\n"
        assert f"not verified: {told}" in result.stdout
        assert result.stderr == ""


def mover(record: pb.TableRecord, ply: int) -> int:
    """Return the seat that decides after `ply` decisions."""
    stream = record.record.stream
    position = engine.game("discat").new_game(2, seed=stream.seed, game_number=stream.game_number)
    for action in record.record.actions[:ply]:
        position.apply(action)
    return position.current_player()


def test_versions_of_bots_are_verified(run: Run, of_two_releases: tuple[Path, Path, pb.TableRecord]) -> None:
    path, tables, record = of_two_releases

    def differs(words: str, versions: list[int]) -> None:
        del record.bots_versions[:]
        record.bots_versions.extend(versions)
        path.write_text(json_format.MessageToJson(record))
        with newer_release():
            result = run("verify", path, "--table", tables)
        assert result.exit_code == 1, result.output
        assert words in result.stderr

    actions = len(record.record.actions)
    differs(f"{actions - 1} versions of bots for {actions} decisions", [OLD] * (actions - 1))
    # The older bot would not have made the newer bot's choices.
    differs("seat 1, random, would have chosen", [OLD] * actions)
    # Bots of the record's version, NEW + 1, cannot be verified. The difference from the tables' version is still found.
    differs(f"has bots of version {OLD}, the record of {NEW + 1}", [NEW + 1] * actions)
    differs(f"has bots of version {OLD}, the record of 1", [1] * 20 + [NEW] * (actions - 20))


def test_the_table_of_another_game_is_reported(run: Run, address: str, tmp_path: Path) -> None:
    """If a service reveals a root other than the committed one, its record does not match the players' headers."""
    for name in "one", "two":
        (tmp_path / name).mkdir()
    path, _, _ = record_of(address, engine.game("discat"), tmp_path / "one")
    _, table, _ = record_of(address, engine.game("discat"), tmp_path / "two")
    result = run("verify", path, "--table", table)
    assert result.exit_code == 1
    assert "the record's table_id does not match the table" in result.stderr


def other_mover(headers: list[pb.TableHeader]) -> None:
    headers[5].mover ^= 1


def other_beginning(headers: list[pb.TableHeader]) -> None:
    headers[0].parent = bytes([1] * 32)


def other_parent(headers: list[pb.TableHeader]) -> None:
    headers[-1].parent = bytes(32)


def later_table(headers: list[pb.TableHeader]) -> None:
    headers[-1].ply += 1


def fork(headers: list[pb.TableHeader]) -> None:
    headers.append(pb.TableHeader())
    headers[-1].CopyFrom(headers[5])
    headers[-1].parent = bytes([1] * 32)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_mover, "the table of ply 5 was made by seat "),
        (other_beginning, "the table of ply 0 follows another table"),
        (other_parent, f"follows {bytes(32).hex()}, not the table of ply "),
        (later_table, "but the record has "),
        (fork, "two tables of ply 5: "),
    ],
)
def test_tables_that_do_not_lead_to_the_record_are_reported(
    run: Run, address: str, tmp_path: Path, change: Callable[[list[pb.TableHeader]], None], words: str
) -> None:
    """Only the service can confirm that a table is authentic, but anyone can read hashes and movers."""
    path, _, _ = record_of(address, engine.game("chat_perche"), tmp_path)
    tables = tmp_path / "tables.txt"
    sealed = [pb.SealedTable.FromString(table_of(text)) for text in tables.read_text().split()]
    headers = [pb.TableHeader.FromString(each.header) for each in sealed]
    change(headers)
    for each, header in zip([*sealed, sealed[0]], headers, strict=False):
        each.header = header.SerializeToString()
        with tables.open("w" if header is headers[0] else "a") as file:
            file.write(text_of(each.SerializeToString()) + "\n")
    result = run("verify", path, "--table", tables)
    assert result.exit_code == 1, result.output
    assert words in result.stderr


def test_files_that_cannot_be_read_exit_2(run: Run, address: str, tmp_path: Path) -> None:
    path, table, _ = record_of(address, engine.game("discat"), tmp_path)
    for arguments in ([table], [path, "--table", path], [tmp_path / "absent"]):
        assert run("verify", *arguments).exit_code == 2
