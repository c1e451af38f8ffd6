"""Custom bots: classes in files, modules or entry points of installed packages, and networks in files.

The name of a custom bot determines the code that runs, so only command lines and programs load custom bots. Names in
requests, tables, records and data sets are looked up in a `Registry`, because a Registry loads no code.
"""

import hashlib
import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeGuard

from chatiere.bots.bot import Bot
from chatiere.bots.network import IntegerNetworkBot, OnnxBot
from chatiere.bots.trained import TRAINED, trained
from chatiere.engine import Game

GROUP = "chatiere.bots"
"""The entry point group in which packages register bots."""
# Map the prefix of a string (for example "net" in net:FILE) to the class that loads the network.
_NETWORKS: dict[str, Callable[..., Bot]] = {"net": IntegerNetworkBot, "onnx": OnnxBot}

_WORD = r"[^\W\d]\w*"
_OWN = re.compile(rf"([^:]+\.py|{_WORD}(?:\.{_WORD})*):({_WORD})(?::(.*))?", re.DOTALL)

# The form of a string that names the package's bot `ismcts` with the parameter net=FILE.
_SEARCH_BY_NETWORK = re.compile(r"ismcts:(?:[^,]*,)*?net=([^,]*)(?:,.*)?")

# Map the resolved path of each loaded file to its module.
_file_modules: dict[Path, ModuleType] = {}


class OwnBot(NamedTuple):
    """A custom bot named by a string: FILE.py:CLASS or MODULE:CLASS, and parameters NAME=VALUE separated by commas."""

    text: str
    source: str
    class_name: str
    given: str | None

    @classmethod
    def parse(cls, text: str) -> "OwnBot | None":
        """Return the bot that a string names, or None if the string has a different form."""
        found = _OWN.fullmatch(text)
        return found and cls(text, *found.groups())

    @property
    def file(self) -> Path | None:
        """The file that contains the class. None if the class is in an importable module."""
        return Path(self.source) if self.source.endswith(".py") else None

    def make(self) -> Bot:
        """Load the code and make the bot. Raises ValueError with a message of one sentence."""
        return make(self.text, _class_in(self), self.given)


def entry_point_names() -> list[str]:
    """Return the names of the bots that installed packages offer as entry points, in alphabetical order."""
    return sorted(entry_points(group=GROUP).names)


def class_behind(name: str) -> type[Bot]:
    """Load the bot class that an entry point names. Raises ValueError with a message of one sentence."""
    point: EntryPoint = next(iter(entry_points(group=GROUP, name=name)))
    try:
        found = point.load()
    except Exception as error:
        raise ValueError(f"bot {name}: {point.value} cannot be loaded: {_told(error)}") from error
    return _checked(name, found, point.value)


def names_network(text: str) -> bool:
    """Return True for a string that names a network: net:FILE, net:trained or onnx:FILE."""
    kind, colon, _ = text.partition(":")
    return bool(colon) and kind in _NETWORKS


def network_bot(text: str, table: tuple[Game, int] | None) -> Bot:
    """Make the bot that net:FILE[:NAME=VALUE,…], net:trained[…] or onnx:FILE[…] describes.

    Args:
        text: The description.
        table: The game and the number of players, which determine the network of net:trained. None means that there is
            no such network.

    Raises:
        ValueError: If the bot cannot be made. The message is one sentence with the reason.
    """
    kind, file, *given = text.split(":", 2)
    if table is not None and (kind, file) == ("net", TRAINED):
        return make(text, partial(IntegerNetworkBot, trained(*table)), given[0] if given else None)
    if not Path(file).is_file():
        raise ValueError(f"bot {text}: no such file: {file}")
    return make(text, partial(_NETWORKS[kind], file), given[0] if given else None)


def file_of(text: str) -> Path | None:
    """Return the file that a string names as a bot, or None if the string names no file."""
    if names_network(text):
        kind, file, *_ = text.split(":")
        return None if (kind, file) == ("net", TRAINED) else Path(file)
    if (found := _SEARCH_BY_NETWORK.fullmatch(text)) and found[1] != TRAINED:
        return Path(found[1])
    own = OwnBot.parse(text)
    return None if own is None else own.file


def make(text: str, bot: Callable[..., Bot], given: str | None) -> Bot:
    """Make a bot from its class.

    Args:
        text: The bot as the user named it, for error messages.
        bot: The class of the bot.
        given: The parameters, as NAME=VALUE,… None means no parameters. A value is converted to an int or a float if
            possible. Otherwise, it is a str.

    Raises:
        ValueError: If the bot cannot be made. The message is one sentence with the reason.
    """
    values: dict[str, int | float | str] = {}
    for part in [] if given is None else given.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"bot {text}: {part!r} is not NAME=VALUE")
        if name in values:
            raise ValueError(f"bot {text}: {name} is given twice")
        values[name] = _value(value)
    try:
        inspect.signature(bot).bind(**values)
    except TypeError as error:
        raise ValueError(f"bot {text}: {error}") from error
    try:
        return bot(**values)
    except Exception as error:
        raise ValueError(f"bot {text} cannot be made: {_told(error)}") from error


def file_modules() -> list[ModuleType]:
    """Return the modules that were loaded from files, because other processes cannot import them by name."""
    return list(_file_modules.values())


def _module_of(file: Path) -> ModuleType:
    # Load a file, but only once in a process. Its folder is appended to sys.path for the file's own imports.
    if file in _file_modules:
        return _file_modules[file]
    # The name contains a hash, so that it does not collide with another module.
    name = f"bot_{hashlib.sha256(bytes(file)).hexdigest()[:16]}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    # Register the module first, because dataclasses look up the module of their class.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _file_modules[file] = module
    return module


def _class_in(own: OwnBot) -> type[Bot]:
    if own.file is not None and not own.file.is_file():
        raise ValueError(f"bot {own.text}: no such file: {own.source}")
    try:
        module = importlib.import_module(own.source) if own.file is None else _module_of(own.file.resolve())
    except ModuleNotFoundError as error:
        if own.file is None and error.name and f"{own.source}.".startswith(f"{error.name}."):
            raise ValueError(
                f"bot {own.text}: no such module: {own.source}; a class in a file is FILE.py:CLASS"
            ) from error
        raise ValueError(f"bot {own.text}: {own.source} cannot be loaded: {_told(error)}") from error
    except Exception as error:
        raise ValueError(f"bot {own.text}: {own.source} cannot be loaded: {_told(error)}") from error
    if not hasattr(module, own.class_name):
        theirs = [name for name, each in vars(module).items() if _is_bot(each) and not inspect.isabstract(each)]
        raise ValueError(
            f"bot {own.text}: {own.source} has no {own.class_name}; its bots: {', '.join(theirs) or 'none'}"
        )
    return _checked(own.text, getattr(module, own.class_name), own.class_name)


def _is_bot(found: object) -> TypeGuard[type[Bot]]:
    return isinstance(found, type) and issubclass(found, Bot)


def _checked(text: str, found: object, name: str) -> type[Bot]:
    if not _is_bot(found):
        raise ValueError(f"bot {text}: {name} is not a subclass of chatiere.bots.Bot")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise ValueError(f"bot {text}: {name} does not define {missing}")
    return found


def _value(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _told(error: BaseException) -> str:
    # Describe the error and its place in one line, because no traceback is shown. The text of a SyntaxError already
    # contains the place.
    frames = [] if isinstance(error, SyntaxError) else traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"
