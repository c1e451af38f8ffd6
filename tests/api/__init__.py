"""The definition of the API, as generators of code for other languages take it."""
