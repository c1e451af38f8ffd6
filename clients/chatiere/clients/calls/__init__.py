"""Requests, responses and errors as Python objects, independent of how they are transmitted."""
