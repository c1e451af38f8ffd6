from collections.abc import Mapping
from typing import Any

PIECE_DETAILS: Mapping[str, Any]
