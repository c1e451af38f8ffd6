"""The site of the documentation: Sphinx over the repository's Markdown, and pages that protos.py generates."""

import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

project = "Chatière"
author = copyright = "The Chatière authors"
version = release = version_of("chatiere")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
# The pages have the same paths as in the repository, so that links between them work in both places.
root_doc = "docs/index"
include_patterns = [
    *("docs/**", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("http2/README.md", "loadtest/README.md", "proto/README.md"),
    *(
        "examples/README.md",
        "examples/*/README.md",
        "examples/typescript/live/README.md",
        "clients/typescript/README.md",
    ),
]
# Sphinx does not search these folders.
exclude_patterns = [
    *(".*", "build", "dist", "engine", "http2/chatiere", "proto/chatiere", "release", "service", "tests", "web"),
    *("**/node_modules", "clients/chatiere", "deploy"),
]
templates_path = []
html_theme = "furo"
html_title = project
html_static_path = []
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["root"]
# Anchors have the same form as on GitHub.
myst_heading_anchors = 4
# Warnings about the rules: their sections are numbered and begin where the file begins.
suppress_warnings = ["myst.header"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# Docstrings have code in single backticks.
default_role = "code"
# Map parts of the theme's HTML to their replacements.
_THEME = {
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    'class="table-wrapper colwidths-auto docutils container"': 'class="table-wrapper docutils container" tabindex="0"',
    "<pre>": '<pre tabindex="0">',
}


def setup(app: Sphinx) -> None:
    """Convert docstrings. At the end of the build, write llms.txt and complete the theme's HTML."""
    app.connect("autodoc-process-docstring", _from_markdown)
    app.connect("build-finished", _list_pages)
    app.connect("build-finished", _complete_html)


def _from_markdown(app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    # Docstrings are plain text with code in single backticks, lists, indented code and sections in Google style.
    # Docstrings of attributes have no sections, and Napoleon would split them at their first colon.
    if what not in {"attribute", "property"}:
        lines[:] = GoogleDocstring(lines, Config(napoleon_use_ivar=True), app, what, name, documented, options).lines()
    found: list[str] = []
    for number, line in enumerate(lines):
        begins = line.startswith("    ") and line.strip() and (number == 0 or not lines[number - 1].strip())
        if begins and not any(each.startswith("    ") for each in found[-1:]):
            found += ["::", ""]
        is_code = line.startswith("    ")
        found.append(line if is_code else re.sub(r"(\*|\||_(?=\W|$))(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", line))
    lines[:] = found


def _list_pages(app: Sphinx, error: Exception | None) -> None:
    """Write llms.txt (llmstxt.org): the titles and addresses of all pages."""
    if error is None:
        titles = app.env.titles
        pages = [f"- [{titles[name].astext()}]({name}.html)" for name in sorted(titles)]
        (Path(app.outdir) / "llms.txt").write_text("\n".join([f"# {project}", "", *pages, ""]), "utf-8")


def _complete_html(app: Sphinx, error: Exception | None) -> None:
    """Add attributes that screen readers and keyboard users need and that the theme omits."""
    for path in Path(app.outdir).rglob("*.html") if error is None else ():
        text = path.read_text("utf-8")
        for theirs, ours in _THEME.items():
            text = text.replace(theirs, ours)
        path.write_text(text, "utf-8")
