"""The processes of a server: the supervisor, its workers, and the communication between them."""
