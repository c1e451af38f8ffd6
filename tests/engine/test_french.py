"""French typography in the catalogues and the page's code: narrow spaces and typographic apostrophes."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from tools.french import misplaced

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted(path for room in ("engine", "service", "web") for path in (ROOT / room).rglob("fr.po"))
# Punctuation that code puts between two values of a text.
IN_CODE = re.compile(r"""[^"'`\n]*(?:\}[:;!?] (?:\$\{|`)|join\("[^"]*[:;!?] ?"\)).*""")


def texts(path: Path) -> list[str]:
    with path.open("rb") as file:
        found = [message.string for message in read_po(file) if message.id]
    return [form for text in found for form in ((text,) if isinstance(text, str) else text or ())]


def test_there_are_catalogues() -> None:
    assert len(CATALOGUES) > 12


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: str(path.relative_to(ROOT)))
def test_spaces_and_apostrophes(path: Path) -> None:
    for text in texts(path):
        assert "'" not in text, text
        assert not misplaced(text), text


def test_punctuation_between_values_is_in_the_catalogues() -> None:
    """The page's code contains no punctuation marks that need a space in French."""
    scripts = (ROOT / "web").rglob("*.js")
    sources = [path for path in scripts if path.name != "words.js" and path.parent.name != "shared"]
    assert len(sources) > 100
    found = [(str(path.relative_to(ROOT)), *IN_CODE.findall(path.read_text("utf-8"))) for path in sources]
    assert [each for each in found if each[1:]] == []
