"""Input of a line in a terminal."""

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from chatiere.terminal.line_input import TerminalInput

with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
    keyboard.send_text("pass\r")
    assert TerminalInput().read("> ", lambda _: ["pass", "play 1"], 0) == "pass"
