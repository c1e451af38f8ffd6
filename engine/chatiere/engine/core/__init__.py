"""The core shared by all games."""
