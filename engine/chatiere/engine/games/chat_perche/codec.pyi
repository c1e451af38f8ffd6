from collections.abc import Mapping
from typing import Any

from chatiere.engine.core.codec import Codec

DEFAULTS: Mapping[str, Any]
CODEC: Codec
