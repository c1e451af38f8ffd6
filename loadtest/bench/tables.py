"""The tables in docs/benchmarks.md, generated from the figures in docs/benchmarks.json.

python -m loadtest.bench.tables [FOLDER]

`FOLDER` is a folder to which `make bench` wrote bench.json. If it is given, the figures in bench.json replace the
figures in docs/benchmarks.json. The replaced ratios become `ratio_before` there.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadtest.bench.report import figure
from loadtest.bench.servers import ROOT

PAGE, FIGURES = ROOT / "docs/benchmarks.md", ROOT / "docs/benchmarks.json"
BEGIN, END = "<!-- Made by python -m loadtest.bench.tables. -->\n", "<!-- The end of these tables. -->\n"
GAMES = {
    "chat_cartonne": "Chat Cartonne 3",
    "chat_perche": "Chat perché 2",
    "chatpentiers": "Chatpentiers 4",
    "discat": "Discat 4",
    "momistigri": "Momistigri 4",
}
"""The title of each game's column, with the number of players."""

_SELF_PLAY, _IN_PROCESS = "self-play over gRPC, beside", "in process,"
_OWN = f"{_SELF_PLAY} the same loop in process"
_FAST, _UNIX = "Apply, fast door", "Apply, fast door at a Unix socket"
# The rows of each topic's table. The keys are the names of rows in `make bench`. The values are the titles shown in the
# table. A title names the row and its peer.
TOPICS = {
    "Self-play and playouts over gRPC": {
        f"{_SELF_PLAY} OpenSpiel in process": "states sent; OpenSpiel in process",
        f"{_SELF_PLAY} OpenSpiel, same gRPC shell": "states sent; OpenSpiel behind the same API",
        _OWN: "states kept; the same loop in process",
        "Playout on the server": "Playout; OpenSpiel's rollouts in C++",
    },
    "In process": {
        f"{_IN_PROCESS} one state a call": "one state a call; OpenSpiel",
        f"{_IN_PROCESS} in batches": "in batches; OpenSpiel",
        "check of a state": "check of a state; the apply that it guards",
        "step in 2 threads, processor time of a move": "step in 2 threads, processor time; 1 thread",
        "step in 2 threads, moves a second": "step in 2 threads, moves a second; 2 processes",
        "ismcts, decisions in trees and playouts": "ismcts; resample and playout",
    },
    "Environments": {
        "PettingZoo, raw_env": "raw_env; PettingZoo's connect_four",
        "SeatEnv, decisions of all seats": "SeatEnv; raw_env",
        "OpenSpiel adapter, random sim, decisions": "OpenSpiel adapter; python_liars_poker",
        "TableEnv, random play from masks, with observations": "TableEnv; pgx",
        "TableEnv, a hundred times the games, time of a move": "TableEnv, 102,400 games, time; 1,024 games",
        "features, float32, plain": "features; NumPy",
        "features, float32, plain, time of a row": "features, time; filling with zeros",
        "features, float32, compact": "compact features; NumPy",
        "features, float32, compact, time of a row": "compact features, time; filling with zeros",
    },
    "Single calls at grpcio's port": {
        "Apply, 1 in flight, workers: 1": "Apply, 1 in flight, 1 worker; Echo",
        "Apply, 16 in flight, workers: 1": "Apply, 16 in flight, 1 worker; Echo",
        "Apply, 1 in flight, workers: 2": "Apply, 1 in flight, 2 workers; Echo",
        "Apply, 16 in flight, workers: 2": "Apply, 16 in flight, 2 workers; Echo",
        "Apply beside a bare server, 1 in flight": "Apply, 1 in flight; bare server",
        "Apply beside a bare server, 16 in flight": "Apply, 16 in flight; bare server",
        "Move at a sealed table": "Move at a sealed table, time; Apply",
    },
    "Single calls at the fast door": {
        f"{_FAST} beside grpcio's port, 16 in flight": "16 in flight; grpcio's port",
        f"{_FAST} beside grpcio echo, 16 in flight": "16 in flight; grpcio echo",
        f"{_FAST} beside grpc++ echo, 16 in flight": "16 in flight; grpc++ echo",
        f"{_FAST}, 2 workers, 16 in flight": "16 in flight, 2 workers; 1 worker",
        f"{_FAST} beside grpcio's port, 1 in flight": "1 in flight; grpcio's port",
        f"{_FAST} beside grpcio echo, 1 in flight": "1 in flight; grpcio echo",
        f"{_UNIX} beside grpcio's port, 1 in flight on one core": "Unix socket, one core; grpcio's port",
        f"{_UNIX}, 50 % of the calls, 1 in flight": "Unix socket, median time; 0.06 ms",
        f"{_FAST}, 99 % of the calls at half load": "half load, 99th percentile; grpcio's port",
    },
    "Browsers": {
        "Apply, web door, binary, 16 in flight": "Apply, binary; grpcio's port",
        "Apply, web door, JSON, 16 in flight": "Apply, JSON; grpcio's port",
        "page, first drawing of a table": "first drawing of a table; 1,000 ms",
        "page, drawing of a move": "drawing of a move; 100 ms",
    },
}
# The rows of the table "Rates and times" with Chatière's own figures. The keys are the names of rows in `make bench`.
# The values are the titles shown in the table. A title ends with the unit.
OWN_FIGURES = {
    f"{_SELF_PLAY} OpenSpiel in process": "self-play, states sent: thousand moves per CPU-second",
    _OWN: "self-play, states kept: thousand moves per CPU-second",
    "Playout on the server": "Playout: thousand decisions per CPU-second",
    f"{_IN_PROCESS} one state a call": "in process, one state a call: thousand moves per CPU-second",
    f"{_IN_PROCESS} in batches": "in process, in batches: thousand moves per CPU-second",
    "TableEnv, random play from masks, with observations": "TableEnv: thousand moves per CPU-second",
    "ismcts, decisions in trees and playouts": "ismcts: thousand decisions per CPU-second",
    "Apply beside a bare server, 16 in flight": "Apply, grpcio's port: calls per server CPU-second",
    f"{_FAST} beside grpcio's port, 16 in flight": "Apply, fast door: calls per server CPU-second",
    "Apply, web door, binary, 16 in flight": "Apply, web door: calls per server CPU-second",
    "Move at a sealed table": "Move at a sealed table: µs",
}
Figures = dict[tuple[str, str], dict[str, Any]]


def read(file: Path) -> Figures:
    """Return the figures of a file, by row and game."""
    return {(line["row"], line["game"]): line for line in json.loads(file.read_text("utf-8"))}


def write(figures: Figures, file: Path) -> None:
    """Write the figures into a file, with a line for each row and game."""
    lines = ",\n".join(f" {json.dumps(line, ensure_ascii=False)}" for line in figures.values())
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


def replaced(figures: Figures, run: Figures) -> Figures:
    """Return a copy of `figures` that is updated with the results of `run`, a run of `make bench`."""
    found = {}
    for key, line in figures.items():
        new = run.get(key)
        if new is not None and new["ratio"] is not None:
            ours, ratio = (float(f"{new[name]:.4g}") for name in ("ours", "ratio"))
            line = {**line, "ours": ours, "ratio": ratio, "ratio_before": line["ratio"], "bound": new["bound"]}
        found[key] = line
    return found


def tables(figures: Figures) -> str:
    """Return the tables as Markdown: first the ratios by topic, each with its bound, then the figures."""
    return "\n".join(_lines(figures)) + "\n"


def _lines(figures: Figures) -> Iterator[str]:
    for topic, rows in TOPICS.items():
        yield from ("", f"### {topic}", *_head("row; peer"))
        for row, label in rows.items():
            yield _line(label, [_ratio(figures.get((row, game))) for game in GAMES])
    yield from ("", "### Rates and times", *_head("figure"))
    for row, label in OWN_FIGURES.items():
        scale = 1000 if "thousand" in label else 1
        yield _line(label, [figure(figures[row, game]["ours"] / scale) for game in GAMES])


def _head(title: str) -> tuple[str, str]:
    return _line(title, list(GAMES.values())), _line("---", ["---"] * len(GAMES))


def _line(title: str, cells: list[str]) -> str:
    return f"| {' | '.join([title, *cells])} |"


def _ratio(line: dict[str, Any] | None) -> str:
    if line is None:
        return "–"
    ratio, bound, at_most = line["ratio"], line["bound"], line["at_most"]
    holds = ratio <= bound if at_most else ratio >= bound
    return f"{'**' * holds}{ratio:g}{'**' * holds} ({'≤' if at_most else '≥'} {bound:g})"


def in_page(page: str, figures: Figures) -> str:
    """Return the text of docs/benchmarks.md with the tables inserted."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{tables(figures)}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Update the tables in the page. If a folder is given, also update the figures."""
    figures = read(FIGURES)
    if len(sys.argv) > 1:
        figures = replaced(figures, read(Path(sys.argv[1]) / "bench.json"))
        write(figures, FIGURES)
    PAGE.write_text(in_page(PAGE.read_text("utf-8"), figures), "utf-8")


if __name__ == "__main__":
    main()
