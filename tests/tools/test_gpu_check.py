"""The kernels as C++ without Python play as the engine does (docs/gpu.md)."""

from pathlib import Path

import pytest

from chatiere import engine

from . import gpu_check
from .needs import needs
from .over import over_names

pytestmark = needs("gcc", "g++")


@over_names
def test_the_extracted_kernel_plays_as_the_engine(name: str, tmp_path: Path) -> None:
    game = engine.game(name)
    pool = gpu_check.compiled(name, tmp_path)
    for players in range(game.min_players, game.max_players + 1):
        assert gpu_check.play(pool, game, players, 2) > 0


def test_a_missing_symbol_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pool = tmp_path / "pool.cu"
    pool.write_text("int absent = __pyx_e_8chatiere_6engine_4core_10operations_ABSENT;")
    monkeypatch.setattr(gpu_check, "POOL", pool)
    with pytest.raises(LookupError, match=r"discat: the generated C does not define .*operations_ABSENT$"):
        gpu_check.extract("discat")
