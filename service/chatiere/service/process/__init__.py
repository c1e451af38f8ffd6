"""The processes of a server: the supervisor, its workers, and what passes between them."""
