"""`accept-language` at all doors: the language of labels and refusals, and invalid headers."""

from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import LocalizedMessage
from grpc_status import rpc_status
from hypothesis import example, given
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.core.languages import LANGUAGES
from chatiere.service.base import languages
from chatiere.service.base.errors import Refusal, ServiceReason, status_of
from chatiere.service.base.languages import LanguageError, language_for
from chatiere.v1 import errors_pb2, game_pb2
from chatiere.v1 import game_service_pb2 as pb

from .support import ALL_DOORS, Refused, Running, new_game, raw, read_refusal

DOORS = ALL_DOORS
WITH_ALL = game_pb2.Include(legal_actions=True, viewers=[0], spectator=True)


def asking(language: str) -> tuple[tuple[str, str], ...]:
    return (("accept-language", language),)


def refused(method: Any, request: Any, *headers: tuple[str, str]) -> tuple[Refused, LocalizedMessage | None]:
    """Return a call's refusal and its localized message, if it has one."""
    with pytest.raises(grpc.RpcError) as caught:
        method(request, metadata=headers)
    status = rpc_status.from_call(caught.value)
    found = LocalizedMessage()
    has_one = any(detail.Unpack(found) for detail in status.details)
    return read_refusal(caught.value), found if has_one else None


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("fr", "fr"),
        ("en", "en"),
        ("FR", "fr"),
        ("fr-CA", "fr"),
        ("fr-CA, en;q=0.5", "fr"),
        ("en;q=0.5,fr;q=0.7", "fr"),
        ("en, fr", "en"),
        ("fr, en", "fr"),
        ("de", "en"),
        ("de, fr;q=0.1", "fr"),
        ("*", "en"),
        ("de,*;q=0.1", "en"),
        ("en;q=0, *", "fr"),
        ("fr;q=0", "en"),
        ("fr;q=0.000,en;q=0", "en"),
        ("fr ; q=1.000", "fr"),
        (", fr,,", "fr"),
        ("", "en"),
        ("zh-Hant-TW;q=0.9\t,\tfr;Q=0.8", "fr"),
        ("i-klingon, br, x-chat", "en"),
        ("xx, qq-FR;q=0.9, fr;q=0.1", "fr"),
        ("en-nonsense, fr", "en"),
        ("f, fr-OO;q=0.5", "fr"),
        ("fr_CA", "fr"),
        ("fr_FR.UTF-8", "fr"),
        ("fr_FR.ISO8859-15@euro;q=0.5, en_GB.utf8;q=0.4", "fr"),
        ("C.UTF-8, fr_FR", "fr"),
        ("POSIX", "en"),
    ],
)
def test_the_most_preferred_available_language_is_chosen(accepted: str, language: str) -> None:
    assert language_for(accepted) == language


@pytest.mark.parametrize(
    "accepted",
    [
        "fr en",
        "fr;q=2",
        "fr;q=0.1234",
        "fr;q=",
        "fr;q",
        "fr;level=1",
        "fr_",
        "fr.",
        "fr_FR.UTF-8:en",
        "LANG=fr",
        "-fr",
        "français",
        ";",
        "fr-",
        "fr," * 167,
    ],
)
def test_an_invalid_list_of_language_ranges_is_refused(accepted: str) -> None:
    with pytest.raises(LanguageError):
        language_for(accepted)


HEADERS = st.lists(
    st.one_of(
        st.text("frendxq*-;=.,01 \t", max_size=12),
        st.from_regex(r"[a-z]{1,8}(-[a-z0-9]{1,8}){0,3}(;q=[01](\.[0-9]{0,3})?)?", fullmatch=True),
        st.text(max_size=8),
    ),
    max_size=6,
).map(",".join)


@given(HEADERS)
@example("a-" * 4000)
@example(",".join(["fr;q=0.1"] * 2000))
def test_any_header_gets_a_language_or_a_refusal(accepted: str) -> None:
    try:
        assert language_for(accepted) in LANGUAGES
    except LanguageError as error:
        assert str(error)


def content_languages(call: Any) -> list[str]:
    return [value for key, value in call.initial_metadata() if key == "content-language"]


def test_labels_in_the_requested_language(server: Running, game: Game) -> None:
    stub = server.stub
    state = new_game(stub, game.name, game.min_players, seed=1).state
    request = pb.GetPositionRequest(state=state, include=WITH_ALL)
    english, call = stub.GetPosition.with_call(request)
    assert content_languages(call) == []
    french, call = stub.GetPosition.with_call(request, metadata=asking("fr-BE,en;q=0.3"))
    assert content_languages(call) == ["fr"]
    for here, there in zip(english.position.legal_actions, french.position.legal_actions, strict=True):
        assert here.label != there.label
        there.label = here.label
        assert here == there
    other, call = stub.GetPosition.with_call(request, metadata=asking("de"))
    assert content_languages(call) == ["en"]
    assert other == english


def test_several_headers_are_one_list(server: Running) -> None:
    headers = (("accept-language", "de"), ("accept-language", "fr"))
    _, call = server.stub.ListGames.with_call(pb.ListGamesRequest(), metadata=headers)
    assert content_languages(call) == ["fr"]


def test_templates_in_the_requested_language(server: Running, game: Game) -> None:
    request = pb.ListGamesRequest(games=[game.name], phrases=True)
    for language in LANGUAGES:
        (info,) = server.stub.ListGames(request, metadata=asking(language)).games
        assert list(info.phrases) == [
            game_pb2.PhraseInfo(**each) for each in engine.codec(game.name).phrases.infos(language)
        ]


def test_large_requests_are_answered_in_the_requested_language(server: Running) -> None:
    # A separate thread handles large requests. Unknown fields make this request large.
    state = new_game(server.stub, "discat", 2, seed=1).state
    request = pb.ListLegalActionsRequest(state=state).SerializeToString() + b"\xfa\x01\x80\x80\x02" + bytes(1 << 15)
    response = pb.ListLegalActionsResponse.FromString(raw(server, "ListLegalActions")(request, metadata=asking("fr")))
    assert all(action.label.startswith("jouer ") for action in response.legal_actions)


def test_illegal_moves_are_refused_in_both_languages(server: Running) -> None:
    state = new_game(server.stub, "discat", 2, seed=1).state
    request = pb.ApplyRequest(state=state, action=game_pb2.Action(id=1))
    plain, no_message = refused(server.stub.Apply, request)
    assert no_message is None
    assert plain.metadata["rule_key"] == "rule.first_play_is_one_card"
    messages = {}
    for language in LANGUAGES:
        refused_call, message = refused(server.stub.Apply, request, *asking(language))
        assert message is not None
        assert (refused_call.message, refused_call.metadata) == (plain.message, plain.metadata)
        assert message.locale == language
        messages[language] = message.message
    assert messages["fr"] == "au premier tour de la partie, on joue une seule carte"


def test_a_refusal_without_a_phrase_has_the_text_of_its_reason(server: Running) -> None:
    request = pb.NewGameRequest(game="chess", players=2)
    _, message = refused(server.stub.NewGame, request, *asking("fr"))
    assert message == LocalizedMessage(locale="fr", message="le service ne connaît pas ce jeu")
    plain, message = refused(server.stub.NewGame, request, *asking("en"))
    assert message is not None
    assert plain.message.endswith(message.message)


def test_an_invalid_header_is_refused(server: Running) -> None:
    refused_call, message = refused(server.stub.ListGames, pb.ListGamesRequest(), *asking("fr;q=3"))
    assert refused_call.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused_call.reason == "INVALID_LANGUAGE"
    assert refused_call.metadata == {"metadata": "accept-language"}
    assert message is None


def test_every_reason_has_a_text_in_every_language() -> None:
    names = errors_pb2.ErrorReason.DESCRIPTOR.values_by_name
    assert set(languages.WORDS) == {name.removeprefix("ERROR_REASON_") for name in names} - {"UNSPECIFIED"}
    for language in LANGUAGES[1:]:
        for reason, words in languages.WORDS.items():
            assert languages.localized(language, reason, words, "", "") not in ("", words)


def test_every_refusal_of_the_service_has_a_text() -> None:
    for reason in ServiceReason:
        status = status_of(Refusal(reason, "no", metadata={}), "id", "fr")
        assert languages.localized("fr", reason.value, "no", "", "").encode() in status.details
