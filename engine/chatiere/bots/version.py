"""The version of the package's bots, in a module that imports nothing."""

BOTS_VERSION = 2
"""The version of the package's bots. It increases when the choices of any bot change.

Sealed tables that do not name a version use version 1."""
