"""The processes of a server: settings, the supervisor, its workers, and what passes between them."""
