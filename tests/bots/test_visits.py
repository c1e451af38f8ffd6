"""The bots' pinned choices. If they change, BOTS_VERSION must increase (docs/maintaining.md, "Changing a bot")."""

import json
from pathlib import Path

from bots.visits import choices


def test_choices_are_those_of_this_version() -> None:
    pinned = json.loads(Path(__file__).with_name("visits.json").read_text(encoding="utf-8"))
    found = choices()
    for game, by_bot in pinned.items():
        for bot, expected in by_bot.items():
            assert found[game][bot] == expected, (game, bot)
    assert found.keys() == pinned.keys()
