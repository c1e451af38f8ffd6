"""The core: the parts of the engine that all games share."""
