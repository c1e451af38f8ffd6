"""The players' rule sheets: the service's text with a picture, and a drawing of the end of a recorded game."""

from pathlib import Path

import click
from babel.messages.pofile import read_po

from chatiere import engine
from chatiere.clients import Client
from chatiere.clients.records import read_record
from chatiere.command.servers import info_of, reach
from chatiere.drawing import DRAWINGS
from chatiere.v1.game_pb2 import GameInfo, Include

_ROOT = Path(__file__).parents[2]
_LESSONS = _ROOT / "web/lessons"


def write(folder: Path) -> None:
    """Write a page for each game into a folder, and an index."""
    folder.mkdir(parents=True, exist_ok=True)
    shared = _texts(_LESSONS / "words.pot")
    names = [game.name for game in engine.games()]
    with reach(None) as client:
        for name in names:
            text = "\n".join(_lines(client, info_of(client, name), shared))
            (folder / f"{name}.md").write_text(text + "\n", "utf-8")
    lines = ["# Rule sheets", "The rules as a host at the table would explain them; the page shows the same.", ""]
    tree = ["```{toctree}", ":maxdepth: 1", *names, "```"]
    (folder / "index.md").write_text("\n".join([*lines, *tree, ""]), "utf-8")


def _texts(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return {str(each.context): str(each.id) for each in read_po(file) if each.id}


def _lines(client: Client, info: GameInfo, shared: dict[str, str]) -> list[str]:
    title, _, text = client.get_rules(info.name).markdown.partition("\n")
    lines = [title.replace(info.title, _name(info)), "", f"![{_name(info)}](../../../pictures/{info.name}.png)", text]
    lines += [f"## {shared['example']}", "", shared["example-of"], "", "```text", *_end(client, info), "```", ""]
    return [*lines, f"The [exact rules](../../../rules/{info.name}.md) decide every case."]


def _name(info: GameInfo) -> str:
    # Use the name in the rules. The title is the name of a single edition, in one language.
    heading = (_ROOT / "docs/rules" / f"{info.name}.md").read_text("utf-8").splitlines()[0]
    return heading.removeprefix("# ").partition(" (")[0]


def _end(client: Client, info: GameInfo) -> list[str]:
    record = read_record(_ROOT / "docs/games" / f"{info.name}.chatiere")
    include = Include(score=True, viewers=range(record.players))
    (end,) = client.replay(record, len(record.actions), include=include)
    views = [getattr(update.view, info.name) for update in end.updates]
    drawing = DRAWINGS[info.name]
    results = [
        f"  {rank}. seat {seat}: {total} = {parts}"
        for seat, (rank, total, parts) in enumerate(
            zip(end.score.ranks, end.score.totals, drawing.break_down(end.score), strict=True)
        )
    ]
    return [click.unstyle(line).rstrip() for line in (*drawing.draw_table(views), "", *sorted(results))]


if __name__ == "__main__":
    write(Path(__file__).parent / "generated" / "sheets")
