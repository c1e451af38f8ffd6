from chatiere.engine.core.codec import Codec

CODEC: Codec
