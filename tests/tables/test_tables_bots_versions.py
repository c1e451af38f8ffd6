"""Servers of two releases at the same sealed tables. In the second release, a bot chooses other actions."""

import random
from collections.abc import Iterator

import pytest
from tools.bots_versions import NEW, OLD, newer_release

from chatiere import bots, engine
from chatiere.bots import OtherVersionError, Registry
from chatiere.engine import Game
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import seal

from .support import OVER, Host, begun

KEYS = Keyring(None)
BOTS = ["random"]


@pytest.fixture
def old() -> Host:
    return Host(KEYS)


@pytest.fixture
def new() -> Iterator[Host]:
    with newer_release():
        yield Host(KEYS, Settings(bots_version=NEW))


def updating() -> Host:
    """Return a server of the newer release whose setting names the version of the older release."""
    return Host(KEYS, Settings(bots_version=OLD))


def test_a_bot_is_played_by_the_versions_of_a_release() -> None:
    game, registry = engine.game("discat"), Registry()
    assert bots.versions()[-1] == bots.BOTS_VERSION
    # The random bot has never changed, unlike bots that search.
    assert type(registry.get("random", game, 2, 1)) is type(registry.get("random", game, 2))
    for spec, version in ("ismcts:simulations=2", 1), ("flat", 0), ("random", 0), ("random", NEW):
        with pytest.raises(OtherVersionError, match=f"does not have the bot {spec[:4]}.* of version {version}"):
            registry.get(spec, game, 2, version)
    with newer_release():
        assert bots.versions()[-2:] == [OLD, NEW]
        made = [type(registry.get("random", game, 2, version)).__name__ for version in (OLD, NEW, None)]
        assert made == ["RandomBot", "Last", "Last"]
    with newer_release(keeps_old=False):
        assert bots.versions() == [NEW]


@pytest.mark.parametrize("version", [0, OLD - 1, NEW])
def test_an_unknown_version_stops_the_start(version: int) -> None:
    with pytest.raises(SettingError, match=f"^bots_version: unsupported version {version}; supported: .*{OLD}$"):
        Settings(bots_version=version)


def test_servers_of_both_releases_make_the_same_tables_during_an_update(game: Game, old: Host) -> None:
    table, secrets = begun(old, game, bots=BOTS)
    choose, versions = random.Random(1), set()
    while (turn := old.look(table).view.turn).kind != OVER:
        if turn.seat < len(secrets):
            moved = (secrets[turn.seat], choose.choice(old.look(table, secrets[turn.seat]).legal_actions).id)
        else:
            moved = (None, None)
        made = old.move(table, *moved)
        with newer_release():
            assert updating().move(table, *moved) == made
            after = Host(KEYS, Settings(bots_version=NEW)).move(table, *moved)
        # Without the setting, the new bot continues, and its table names the version. Other seats' moves do not change.
        header = old.open(after.table).header
        assert header.bots_version == (OLD if moved[0] else NEW)
        versions.add(header.bots_version)
        table = made.table
        assert old.open(table).header.bots_version == OLD
        assert (after == made) == bool(moved[0])
    assert versions == {OLD, NEW}


def test_the_record_names_the_bots_versions(game: Game, old: Host, new: Host) -> None:
    # The table was made by a service that did not name versions yet.
    table, secrets = begun(old, game, bots=BOTS)
    first = old.open(table)
    first.header.ClearField("bots_version")
    chain = [seal(first.key, first.header, first.body)]
    expected: list[int] = []
    while (turn := old.look(chain[-1]).view.turn).kind != OVER:
        host = old if len(chain) < 12 else new
        if turn.seat < len(secrets):
            secret = secrets[turn.seat]
            chain.append(host.move(chain[-1], secret, host.look(chain[-1], secret).legal_actions[0].id).table)
            # The bytes of the table do not depend on the release, so its version is the version at the ply before.
            expected.append(expected[-1] if expected else 0)
        else:
            chain.append(host.move(chain[-1]).table)
            expected.append(OLD if host is old else NEW)
        assert old.open(chain[-1]).header.bots_version == expected[-1]
    assert {OLD, NEW} <= set(expected)
    assert list(old.get_record(chain).bots_versions) == expected
