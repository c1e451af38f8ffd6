"""Requests, responses and errors as values, apart from how they travel."""
