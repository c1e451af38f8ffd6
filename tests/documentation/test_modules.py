"""Lists generated from the sources: modules by docs/site/modules.py, targets by `make help`."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest
from tools.client_package import ROOT

SITE = runpy.run_path(str(ROOT / "docs/site/modules.py"))


@pytest.mark.parametrize("folder", [*(f"{root}/chatiere" for root in SITE["ROOTS"]), "web"])
def test_every_module_has_a_description_of_one_sentence(folder: str) -> None:
    sentences = SITE["modules"](ROOT / folder)
    assert sentences
    assert [str(path) for path, sentence in sentences.items() if not re.fullmatch(r"[^@\n]+\.", sentence)] == []


def test_make_help_lists_and_explains_every_target() -> None:
    def lines(*arguments: str) -> list[str]:
        made = subprocess.run(("make", "-s", "help", *arguments), cwd=ROOT, capture_output=True, text=True, check=True)
        return made.stdout.splitlines()

    phony = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert {line.split()[0] for line in lines()} == set(phony[1].split())
    explained = lines("OF=mutants")
    assert explained[0].startswith("mutants ")
    assert "explained.toml" in "".join(explained[1:])


def test_make_demo_says_what_it_does(tmp_path: Path) -> None:
    command = ("make", "--silent", "--dry-run", "demo", f"VENV={tmp_path}/venv")
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = re.findall(r'echo "(.*?)"', made.stdout)
    steps = [
        "Making the virtual",
        "Installing the build",
        r"Compiling [1-9]\d+ modules and installing",
        "Starting a service",
    ]
    assert len(lines) == len(steps)
    for line, step in zip(lines, steps, strict=True):
        assert re.match(step, line)
