"""The page: files that the door for browsers serves. There is no Python here."""
