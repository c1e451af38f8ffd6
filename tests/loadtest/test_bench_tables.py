"""The tables in docs/benchmarks.md are generated from docs/benchmarks.json, and each row belongs to one topic."""

from chatiere import engine
from loadtest.bench import tables


def test_the_page_has_the_same_figures_as_the_file() -> None:
    figures = tables.read(tables.FIGURES)
    page = tables.PAGE.read_text("utf-8")
    assert tables.in_page(page, figures) == page
    assert "(≥ 0.75)" in page.partition(tables.BEGIN)[2]


def test_each_row_is_in_one_topic_for_every_game() -> None:
    figures = tables.read(tables.FIGURES)
    listed = [row for rows in tables.TOPICS.values() for row in rows]
    assert sorted(listed) == sorted({row for row, _ in figures})
    assert tables.OWN_FIGURES.keys() <= set(listed)
    assert {game for _, game in figures} == tables.GAMES.keys() == {game.name for game in engine.games()}


def test_a_run_replaces_figures_and_keeps_the_previous_ratios() -> None:
    line = {"row": "a", "game": "discat", "unit": "ms", "ours": 3, "ratio": 2, "ratio_before": 1, "bound": 4}
    key = ("a", "discat")
    run = {key: {"ours": 12.3456, "ratio": 8.7654, "bound": 5}}
    assert tables.replaced({key: line}, run) == {
        key: {**line, "ours": 12.35, "ratio": 8.765, "ratio_before": 2, "bound": 5}
    }
    assert tables.replaced({key: line}, {key: {**run[key], "ratio": None}}) == {key: line}
