"""The API: its definition, and the generated code: a module for messages and one for services per file."""
