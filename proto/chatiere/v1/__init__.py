"""The API: its definition and the code generated from it, with a module for messages and one for services per file."""
