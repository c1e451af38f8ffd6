"""The page: files that the web door serves. There is no Python here."""
