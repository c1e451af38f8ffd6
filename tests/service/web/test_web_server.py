"""The web door as a part of a server: TLS, shutdown, workers, and required packages."""

import json
import socket
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry

from chatiere.service.base import files
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls.bot_service import BotService
from chatiere.service.exchange.methods import LARGE
from chatiere.service.ports.server import create_server
from chatiere.v1 import bot_service_pb2, game_service_pb2, table_service_pb2

from ..process import served, wait_until
from ..support import PATIENCE, LogLines, running
from ..test_service_access import PAST, Authority
from .client import CODECS, GAME_SERVICE, PROTOCOLS, WebClient

pytestmark = pytest.mark.long


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    monkeypatch.setattr(files, "_INTERVAL", 0.0)
    return Authority(tmp_path / "authority")


def trusting(authority: Authority, client: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.file)
    if client is not None:
        context.load_cert_chain(*client)
    return context


def secure(address: str, context: ssl.SSLContext) -> WebClient:
    return WebClient(address.replace("127.0.0.1", "localhost"), "https", verify=context)


def test_only_clients_that_trust_the_certificate_are_served(authority: Authority, tmp_path: Path) -> None:
    with running(Settings(**authority.settings()), "web") as server:
        with secure(server.address, trusting(authority)) as web:
            assert web.new_game().message
        stranger = Authority(tmp_path / "stranger")
        with secure(server.address, trusting(stranger)) as web, pytest.raises(httpx.ConnectError):
            web.new_game()
        with WebClient(server.address) as web, pytest.raises(httpx.RemoteProtocolError):
            web.new_game()


def test_only_clients_with_a_certificate_are_served(authority: Authority) -> None:
    settings = Settings(**authority.settings(), client_ca=authority.file)
    with running(settings, "web") as server:
        with secure(server.address, trusting(authority, authority.issue("client"))) as web:
            assert web.new_game().message
        with secure(server.address, trusting(authority)) as web, pytest.raises(httpx.TransportError):
            web.new_game()


def test_a_new_certificate_is_served_without_a_restart(authority: Authority) -> None:
    settings = Settings(**authority.settings(not_after=PAST), request_timeout=0.2)
    with running(settings, "web") as server:
        with secure(server.address, trusting(authority)) as web, pytest.raises(httpx.ConnectError):
            web.new_game()

        def answers() -> bool:
            with secure(server.address, trusting(authority)) as web:
                try:
                    return bool(web.new_game().message)
                except httpx.TransportError:
                    return False

        with LogLines() as log:
            authority.issue("server")
            wait_until(answers, "the new certificate is in use")
            log.wait_for("certificates reread")


class SlowBot:
    """BotService whose calls last until they are released or cancelled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.released, self.was_cancelled = threading.Event(), threading.Event(), threading.Event()
        monkeypatch.setattr(BotService, "answer", lambda *arguments: self.answer(*arguments))

    def answer(self, bots: BotService, name: str, data: Any, cancellation: Any, hold: Any) -> list[bytes]:
        self.entered.set()
        while not self.released.wait(0.01):
            if cancellation.cancelled:
                self.was_cancelled.set()
                break
        return [bot_service_pb2.ListBotsResponse().SerializeToString()]


SLOW = ("/chatiere.v1.BotService/ListBots", bot_service_pb2.ListBotsRequest(), bot_service_pb2.ListBotsResponse)


def in_thread(work: Any) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def test_stopping_lets_a_call_in_flight_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowBot(monkeypatch)
    with running(door="web") as server, WebClient(server.address) as web:
        thread, found = in_thread(lambda: web.call(*SLOW))
        assert slow.entered.wait(PATIENCE)
        ended = server.server.stop(PATIENCE)
        with WebClient(server.address) as late:
            wait_until(lambda: refuses(late), "new connections are refused")
        assert not ended.is_set()
        slow.released.set()
        thread.join(PATIENCE)
        assert found[0].message is not None
        assert ended.wait(PATIENCE)


def refuses(web: WebClient) -> bool:
    try:
        web.http.get("/healthz")
    except httpx.TransportError:
        return True
    return False


def test_a_call_that_outlasts_the_grace_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowBot(monkeypatch)
    with running(door="web") as server, WebClient(server.address) as web:
        thread, found = in_thread(lambda: web.call(*SLOW))
        assert slow.entered.wait(PATIENCE)
        assert server.server.stop(None).wait(PATIENCE)
        assert slow.was_cancelled.is_set()
        thread.join(PATIENCE)
        assert found[0].code == "canceled"


def test_a_client_that_leaves_cancels_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowBot(monkeypatch)
    with running(door="web") as server:
        host, _, port = server.address.rpartition(":")
        head = "host: localhost", "content-type: application/json", "content-length: 2", "", "{}"
        with socket.create_connection((host, int(port)), PATIENCE) as connection:
            connection.sendall("\r\n".join((f"POST {SLOW[0]} HTTP/1.1", *head)).encode())
            assert slow.entered.wait(PATIENCE)
        assert slow.was_cancelled.wait(PATIENCE)
        labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.BotService", "grpc_method": "ListBots"}
        wait_until(
            lambda: server.sample("grpc_server_handled_total", grpc_code="Canceled", **labels),
            "the call counts as cancelled",
        )


def test_workers_share_the_port_and_count_together() -> None:
    with served("--workers", "2", door="web") as server:
        for _ in range(20):
            with WebClient(server.address) as web:
                assert web.new_game().message
        for worker in (0, 1):
            server.find(f"worker-{worker} chatiere.service.guards.chain: chatiere.v1.GameService/NewGame OK")
        assert server.total("grpc_server_handled_total", grpc_method="NewGame", grpc_code="OK") == 20
        assert server.stop() == 0


def test_without_its_packages_the_door_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("chatiere.service.ports.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httptools", None)
    with pytest.raises(SettingError, match=r"^web_address: missing packages: pip install 'chatiere\[web\]'"):
        create_server(Settings(address="127.0.0.1:0", web_address="127.0.0.1:0"), CollectorRegistry())


def test_a_sealed_table_is_made_in_every_form(web: WebClient) -> None:
    """A table is made with each form of each protocol."""
    seats = [table_service_pb2.TableSeat()] * 2
    request = table_service_pb2.NewTableRequest(
        game="discat", players=2, seats=seats, acknowledgement="ACKNOWLEDGEMENT_NONE"
    )
    for protocol in PROTOCOLS:
        for codec in CODECS:
            made = web.call(
                "/chatiere.v1.TableService/NewTable",
                request,
                table_service_pb2.NewTableResponse,
                protocol=protocol,
                codec=codec,
            )
            assert made.message.table, made.text


def test_log_and_metrics_of_calls_are_the_same_as_at_other_doors() -> None:
    with running(door="web") as server, WebClient(server.address) as web, LogLines() as log:
        web.new_game(headers={"x-request-id": "mine"})
        line = log.wait_for("request mine")
        assert "chatiere.v1.GameService/NewGame OK" in line
        assert "from ipv4:127.0.0.1:" in line
        web.call("/chatiere.v1.Nothing/Nothing", game_service_pb2.GetScoreRequest(), game_service_pb2.GetScoreResponse)
        labels = {"grpc_type": "unknown", "grpc_service": "unknown", "grpc_method": "unknown"}
        assert server.sample("grpc_server_handled_total", grpc_code="Unimplemented", **labels) == 1


def test_a_browser_s_language_is_used(web: WebClient) -> None:
    found = web.new_game(headers={"accept-language": "fr-FR,fr;q=0.9,en;q=0.5"}).http
    assert found.headers["content-language"] == "fr"
    assert "accept-language" in found.headers["vary"]
    assert web.new_game(headers={"accept-language": ";"}).code == "invalid_argument"


def test_memory_of_responses_is_released_once_the_client_has_them() -> None:
    """A client that reads its responses is never refused for the memory of earlier responses."""
    body = json.dumps({"games": ["discat"], "pieces": True, "observation": True, "phrases": True})
    settings = Settings(address="127.0.0.1:0", max_undelivered_bytes=256 * 1024)
    with running(settings, "web") as server, WebClient(server.address) as web:
        for coding in [*["identity"] * 30, *["gzip"] * 30]:
            headers = {"content-type": "application/json", "accept-encoding": coding}
            answer = web.http.post(f"{GAME_SERVICE}ListGames", content=body, headers=headers)
            assert answer.status_code == 200, answer.text
            assert LARGE < len(answer.content) < settings.max_undelivered_bytes // 2
