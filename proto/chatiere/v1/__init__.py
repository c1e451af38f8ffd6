"""The API: its definition and the code that is generated from it, one module a file for messages, one for services."""
