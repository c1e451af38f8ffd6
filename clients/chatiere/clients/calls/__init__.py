"""Requests, responses and errors as values, independent of how they are transmitted."""
