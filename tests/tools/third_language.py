"""An invented third language that consists only of catalogues, next to the English and French catalogues."""

import json
import os
import re
import shutil
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from games.catalogues import catalogues

from chatiere.engine.core.languages import CATEGORIES

ROOT = Path(__file__).parents[2]
LANGUAGE = "qq"
# Letters that no English text contains.
LETTERS = {ord(letter): ord(letter) + 0xFEE0 for letter in map(chr, range(ord("A"), ord("z") + 1)) if letter.isalpha()}
# The beginning of a words.js, before the texts.
_EXPORT = "export const words = "


def translated(text: str) -> str:
    """Return text in the invented language, with unchanged placeholders."""
    return "".join(part if part.startswith("{") else part.translate(LETTERS) for part in re.split(r"(\{\w+\})", text))


def english_in(game: str, text: str) -> str:
    """Return the first word outside placeholders that is not printed on a card, or "" if every word is."""
    text = re.sub(r"\{\w+\}", "", text)
    if game == "momistigri":
        text = re.sub(r"(?<![A-Za-z])[A-E](?![A-Za-z])", "", text)
    found = re.search("[A-Za-z]+", text)
    return found[0] if found else ""


def package_with_language(folder: Path, *, with_page: bool = False) -> Path:
    """Make a package of links to this one, with catalogues of the invented language. Return the PYTHONPATH for it."""
    tree = folder / "chatiere"
    unused = shutil.ignore_patterns("__pycache__")
    for root in ROOT.glob("*/chatiere"):
        shutil.copytree(root, tree, copy_function=os.symlink, ignore=unused, dirs_exist_ok=True)
    if with_page:
        shutil.copytree(ROOT / "web", tree / "web", copy_function=os.symlink, ignore=unused)
    for room, texts in catalogues():
        catalogue = Catalog(LANGUAGE)
        for key, english in texts:
            if (key, english) == CATEGORIES:
                catalogue.add(english, english, context=key)
            elif isinstance(english, str):
                catalogue.add(english, translated(english), context=key)
            else:
                catalogue.add(english, tuple(map(translated, english)), context=key)
        with (tree / room / f"{LANGUAGE}.mo").open("wb") as file:
            write_mo(file, catalogue)
    for module in (tree / "web").rglob("words.js") if with_page else ():
        _add_to(module)
    if with_page:
        languages = tree / "web/languages.js"
        text = languages.read_text("utf-8").replace("]", f', "{LANGUAGE}"]')
        languages.unlink()
        languages.write_text(text, "utf-8")
    return folder


def _add_to(module: Path) -> None:
    # The file is the build's file with another catalogue.
    head, _, text = module.read_text(encoding="utf-8").partition(_EXPORT)
    words = json.loads(text.rstrip().removesuffix(";"))
    words[LANGUAGE] = {
        key: translated(each) if isinstance(each, str) else {name: translated(form) for name, form in each.items()}
        for key, each in words["en"].items()
    }
    module.unlink()
    module.write_text(f"{head}{_EXPORT}{json.dumps(words)};\n", encoding="utf-8")
