"""Releases: the changes that `make release` makes, and the cases in which it fails."""

import subprocess
from pathlib import Path

import pytest

import release.__main__ as release
from release.__main__ import PLACES, ReleaseError, check, commit, with_heading, with_version

pytestmark = pytest.mark.long

CHANGELOG = "# Changelog\n\n## Unreleased\nNews.\n\n## 0.1.0 - 2026-01-01\nOld.\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one commit of all files that a release changes."""
    for name in (*PLACES, "CHANGELOG.md", release.IMAGE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr("shutil.which", {"npm": "/usr/bin/npm"}.get)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    for command in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "Before")):
        subprocess.run(("git", *command), cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("version", ["", "1", "1.0", "v1.0.0", "1.0.0rc1", "1.0.0 "])
def test_other_forms_of_versions_are_refused(repository: Path, version: str) -> None:
    with pytest.raises(ReleaseError, match="is not a version"):
        check(version)


def test_uncommitted_changes_are_refused(repository: Path) -> None:
    check("1.0.0")
    (repository / "new.txt").write_text("new")
    with pytest.raises(ReleaseError, match=r"not committed:\n\?\? new.txt"):
        check("1.0.0")


def test_a_release_without_npm_is_refused_before_it_begins(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", {}.get)
    with pytest.raises(ReleaseError, match="npm is not installed"):
        check("1.0.0")


def test_a_release_is_committed_and_tagged_once_with_the_time_of_the_packages(repository: Path) -> None:
    for name in (*PLACES, "CHANGELOG.md", release.IMAGE):
        (repository / name).write_text("after")
    commit("1.0.0")
    assert release.git("log", "-1", "--format=%s %at %ct") == "Release 1.0.0 1700000000 1700000000"
    assert release.git("tag", "--list", "--format=%(refname:short) %(taggerdate:unix)") == "v1.0.0 1700000000"
    assert release.git("status", "--porcelain") == ""
    with pytest.raises(ReleaseError, match=r"v1\.0\.0 is already released"):
        check("1.0.0")
    check("1.0.1")


def test_the_version_is_replaced_in_all_its_places() -> None:
    readme = PLACES["clients/typescript/README.md"]
    text = with_version("chatiere-client-0.1.0.tgz 0.1.0\nchatiere-client-0.1.0.tgz", readme, "1.0.0")
    assert text == "chatiere-client-1.0.0.tgz 0.1.0\nchatiere-client-1.0.0.tgz"
    with pytest.raises(ReleaseError, match="no version is found"):
        with_version("nothing", readme, "1.0.0")


def test_the_changelog_gets_a_heading_if_there_is_news() -> None:
    changed = with_heading(CHANGELOG, "1.0.0", "2026-11-26")
    assert changed == CHANGELOG.replace("Unreleased\n", "Unreleased\n\n## 1.0.0 - 2026-11-26\n")
    with pytest.raises(ReleaseError, match="nothing under 'Unreleased'"):
        with_heading(changed, "1.0.1", "2026-11-27")
