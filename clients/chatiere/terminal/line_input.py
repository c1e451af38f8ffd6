"""Lines that a person types: with completion and a history in a terminal, plainly from anything else."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

Complete = Callable[[str], Sequence[str]]
"""A function from what has been typed to the whole lines that it may become."""


class LineInput:
    """Lines from standard input."""

    is_terminal = False
    """True if a person sees the screen and nothing else: it can be cleared."""

    def read(self, prompt: str, complete: Complete, seat: int) -> str:
        """Return the next line without spaces at its ends.

        `seat`: whose history it is. Raises EOFError at the end of the input, KeyboardInterrupt.
        """
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        line = line.strip()
        if not sys.stdin.isatty():
            # A terminal has shown what was typed.
            click.echo(line)
        return line


class TerminalInput(LineInput):
    """Lines edited in a terminal, with completion while they are typed and a history for each seat."""

    is_terminal = True

    def __init__(self) -> None:
        """Raise ImportError, which says what to install, without prompt_toolkit."""
        try:
            import prompt_toolkit  # noqa: F401
        except ImportError as error:
            raise ImportError("play in a terminal needs prompt_toolkit: pip install 'chatiere[play]'") from error
        self._sessions: dict[int, PromptSession[str]] = {}

    def read(self, prompt: str, complete: Complete, seat: int) -> str:
        """See LineInput."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import CompleteEvent, Completer, Completion
        from prompt_toolkit.document import Document

        class Lines(Completer):
            def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
                typed = document.text_before_cursor
                return (Completion(line, start_position=-len(typed)) for line in complete(typed))

        if seat not in self._sessions:
            self._sessions[seat] = PromptSession()
        return self._sessions[seat].prompt(prompt, completer=Lines()).strip()


def line_input() -> LineInput:
    """Return what reads from standard input: a TerminalInput if it and standard output are a terminal.

    Raises ImportError, as TerminalInput.
    """
    return TerminalInput() if sys.stdin.isatty() and sys.stdout.isatty() else LineInput()
