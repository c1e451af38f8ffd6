"""The core, which all games share."""
