"""Lines typed by a person. In a terminal, lines have completion and a history."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

Complete = Callable[[str], Sequence[str]]
"""A function that returns the possible completions of a partial line, as whole lines."""


class LineInput:
    """Lines from standard input."""

    is_terminal = False
    """True if the output is a screen that can be cleared."""

    def read(self, prompt: str, complete: Complete, seat: int) -> str:
        """Return the next line, without leading and trailing spaces.

        Args:
            prompt: The prompt.
            complete: The completions.
            seat: The seat whose history to use.

        Raises:
            EOFError: The input has ended.
            KeyboardInterrupt: The person pressed Ctrl-C.
        """
        click.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        line = line.strip()
        if not sys.stdin.isatty():
            # A terminal has already echoed the line.
            click.echo(line)
        return line


class TerminalInput(LineInput):
    """Lines edited in a terminal, with completion and a separate history for each seat."""

    is_terminal = True

    def __init__(self) -> None:
        """Create the input.

        Raises:
            ImportError: prompt_toolkit is not installed. The message names the package to install.
        """
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
    """Return a reader of standard input: a TerminalInput if standard input and output are a terminal.

    Raises:
        ImportError: See TerminalInput.
    """
    return TerminalInput() if sys.stdin.isatty() and sys.stdout.isatty() else LineInput()
