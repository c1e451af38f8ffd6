from chatiere.engine.core.codec import Codec

DEFAULT_REMOVED_COLOUR: int
CODEC: Codec
