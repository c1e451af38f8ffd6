"""The page: files for browsers, which the door for browsers serves. There is no Python here."""
