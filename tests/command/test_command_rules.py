"""chatiere rules."""

from pathlib import Path

from .conftest import Run

ROOT = Path(__file__).parents[2]


def test_rules_are_shown_for_authors_and_for_players_with_the_effective_options(run: Run, address: str) -> None:
    result = run("rules", "discat", "--authors", "--address", address)
    assert (result.exit_code, result.stdout) == (0, (ROOT / "docs/rules/discat.md").read_text("utf-8"))
    asked = ("rules", "chatpentiers", "--language", "fr", "--option", "removed_colour=0", "--address", address)
    result = run(*asked, "--players", 3)
    assert result.exit_code == 0
    assert result.stdout.startswith("# Comment jouer à Chatpentiers\n\n## ")
    assert "\n- **Couleur écartée**\u202f: gris. " in result.stdout
    assert "Couleur écartée" not in run(*asked, "--players", 4).stdout


def test_a_wrong_argument_is_named(run: Run, address: str) -> None:
    for arguments, message in (
        (("chess",), "known games: chat_cartonne"),
        (("chess", "--option", "first_seat=0"), "known games: chat_cartonne"),
        (("discat", "--option", "deck=1"), "discat has no option 'deck'"),
        (("discat", "--players", 7), "players must be an integer from 2 to 6"),
        (("discat", "--language", "fr;q=3"), "INVALID_LANGUAGE"),
    ):
        result = run("rules", *arguments, "--address", address)
        assert result.exit_code == 2, arguments
        assert message in result.stderr, result.stderr
