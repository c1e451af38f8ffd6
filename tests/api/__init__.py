"""The API definition as input for code generators of other languages."""
