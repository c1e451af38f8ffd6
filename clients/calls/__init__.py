"""Calls as values: requests built of arguments and arrays, responses read into arrays, and the errors of both.

No module here knows how a message travels.
"""
