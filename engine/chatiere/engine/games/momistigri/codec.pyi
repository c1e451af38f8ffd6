from collections.abc import Mapping
from typing import Any

from chatiere.engine.core.codec import Codec

CODEC: Codec
DEFAULTS: Mapping[str, Any]
