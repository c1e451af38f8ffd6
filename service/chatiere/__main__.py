"""`python -m chatiere`: the `chatiere` command."""

from chatiere.command import main

main()
