"""The reference of @chatiere/client as Markdown, by TypeDoc from its doc comments."""

import shutil
import tempfile
from pathlib import Path

from release import npm

# The pages of TypeDoc's index, for the site's table of contents.
_TREE = """
```{toctree}
:hidden:
:glob:
classes/*
interfaces/*
type-aliases/*
functions/*
```
"""


def write(folder: Path) -> None:
    """Write a page for each class, interface, type and function into a folder, and an index."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        modules, repository = Path(scratch, "modules"), Path(scratch, "repository")
        modules.mkdir()
        repository.mkdir()
        package = npm.prepare(repository, npm.install(modules))
        npm.run(package, "npm", "run", "docs", "--", "--out", str(folder))
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write(_TREE)


if __name__ == "__main__":
    write(Path(__file__).parent / "generated" / "typescript")
