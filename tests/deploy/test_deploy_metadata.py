"""The project's metadata is consistent: version, licence, copyright owner, labels of the image, forms for issues."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from release.__main__ import PLACES

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGE: dict[str, Any] = json.loads((ROOT / "clients/typescript/package.json").read_text("utf-8"))
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["version"] == PACKAGE["version"] == CITATION["version"]
    for name, pattern in PLACES.items():
        found = re.findall(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)
        assert set(found) == {PROJECT["version"]}, name


def test_the_licence_is_the_same_everywhere() -> None:
    assert PROJECT["license"] == PACKAGE["license"] == CITATION["license"] == "Apache-2.0"
    assert "Apache License\n" in (ROOT / "LICENSE").read_text("utf-8")
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert all(f"!{name}" in ignored and (ROOT / name).is_file() for name in PROJECT["license-files"])


def test_the_owner_is_the_same_everywhere() -> None:
    (author,) = PROJECT["authors"]
    assert [author] == CITATION["authors"]
    assert author["name"] == PACKAGE["author"]
    assert author["name"] in (ROOT / "NOTICE").read_text("utf-8")


def test_the_image_has_the_labels_of_the_package() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]+)"', dockerfile))
    assert labels["title"] == CITATION["title"]
    assert labels["description"] == PROJECT["description"]
    assert labels["licenses"] == PROJECT["license"]
    assert labels["source"] == PROJECT["urls"]["Repository"]
    assert labels["documentation"].startswith(f"{labels['source']}/blob/main/")
    assert (ROOT / labels["documentation"].removeprefix(f"{labels['source']}/blob/main/")).is_file()
    assert labels["revision"] == "${REVISION}"


def test_forms_for_issues_are_well_formed() -> None:
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
    assert forms
    for form in forms:
        read = yaml.safe_load(form.read_text("utf-8"))
        assert {"name", "description", "body"} <= read.keys()
        assert {part["type"] for part in read["body"]} <= {"textarea", "dropdown", "input"}
