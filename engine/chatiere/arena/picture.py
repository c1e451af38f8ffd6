"""The picture of a tournament: a heat map of win rates, and a bar chart of ratings. Needs `chatiere[arena]`."""

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chatiere.arena.tournament import Arena, Rating

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def import_figure() -> "type[Figure]":
    """Return matplotlib's Figure class. Raises ImportError with the extra to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("the picture needs matplotlib: pip install 'chatiere[arena]'") from error
    return Figure


def draw(arena: Arena, rates: NDArray[np.float64], rated: Sequence[Rating]) -> bytes:
    """Return the picture of a tournament as a PNG file.

    Args:
        arena: The tournament.
        rates: The win rates, as `Arena.win_rates` returns them.
        rated: The ratings, as `Arena.rate_bots` returns them.

    Raises:
        ImportError: If matplotlib is not installed.
    """
    count = len(arena.bots)
    longest = max(map(len, arena.bots))
    # The size is in inches. Each bot has a row, and its name is displayed next to both charts.
    figure = import_figure()(figsize=(2 * count + 0.2 * longest + 5, 0.9 * count + 0.1 * longest + 2))
    figure.set_layout_engine("constrained")
    figure.suptitle(f"{arena.game}, {arena.players} players: {arena.extent()} of each pairing, seed {arena.seed}")
    left, right = figure.subplots(1, 2)
    _draw_rates(left, arena, rates)
    _draw_ratings(right, rated)
    file = BytesIO()
    figure.savefig(file, format="png", dpi=120)
    return file.getvalue()


def _draw_rates(axes: "Axes", arena: Arena, rates: NDArray[np.float64]) -> None:
    from matplotlib.colors import TwoSlopeNorm

    others = arena.players - 1
    axes.imshow(rates, cmap="RdBu", norm=TwoSlopeNorm(1 / arena.players, 0, 1), aspect="auto")
    axes.set_xticks(range(len(arena.bots)), arena.bots, rotation=30, ha="right")
    axes.set_yticks(range(len(arena.bots)), arena.bots)
    axes.set_xlabel("against" if others == 1 else f"against {others} of")
    axes.set_title(f"wins (even: {1 / arena.players:.0%})")
    for (row, column), rate in np.ndenumerate(rates):
        if not np.isnan(rate):
            # Use white text on dark cells. Their rates are far from an even share.
            color = "white" if min(rate * arena.players, (1 - rate) * arena.players / others) < 0.4 else "black"
            axes.text(column, row, f"{rate:.1%}", ha="center", va="center", color=color)


def _draw_ratings(axes: "Axes", rated: Sequence[Rating]) -> None:
    names = [rating.bot for rating in rated]
    axes.barh(
        names, [rating.mu for rating in rated], xerr=[2 * rating.sigma for rating in rated], color="C0", capsize=4
    )
    axes.invert_yaxis()
    axes.set_title("ratings (mu ± 2 sigma)")
