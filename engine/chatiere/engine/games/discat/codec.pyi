from chatiere.engine.core.codec import Codec

DEFAULT_UP_ARROWS: tuple[int, ...]
CODEC: Codec
