"""The sample games as records."""

import json
from pathlib import Path

from chatiere import engine
from chatiere.engine.wire import fill
from chatiere.v1.record_pb2 import GameRecord

TRACES = Path(__file__).parents[1] / "data" / "traces"
SAMPLES = sorted(TRACES.glob("*/*.jsonl"))


def record_of(path: Path) -> GameRecord:
    """Return a sample game as a record, with explicit chance."""
    beginning, *steps = (json.loads(line) for line in path.read_text().splitlines())
    game = engine.game(beginning["game"])
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=beginning["players"])
    if beginning["options"]:
        options = getattr(record.options, game.name)
        options.SetInParent()
        fill(options, engine.codec(game.name).put_options, beginning["options"])
    record.outcomes.SetInParent()
    for step in steps:
        if step["actor"] >= 0:
            record.actions.append(step["move"])
        elif step["actor"] == -1:
            record.outcomes.outcomes.append(step["move"])
    return record
