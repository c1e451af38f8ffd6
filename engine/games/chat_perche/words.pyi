from collections.abc import Mapping

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
COLOURS: tuple[str, ...]
BRANCH_NAMES: tuple[str, ...]
SPACE_NAMES: tuple[str, ...]
CARD_NAMES: tuple[str, ...]
