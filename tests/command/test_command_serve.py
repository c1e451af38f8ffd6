"""chatiere serve: its options; tests/service tests their effect."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from chatiere.bots import BOTS_VERSION
from chatiere.command import serve
from chatiere.service.base import settings
from chatiere.service.base.settings import SettingError, Settings

from .conftest import Run

Asked = Callable[..., Settings]


@pytest.fixture
def asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Return asked(argument, …). It returns the settings with which a server would run."""

    def settings_of(*arguments: object, **environment: str) -> Settings:
        found: list[Settings] = []
        monkeypatch.setattr(serve, "serve", found.append)
        result = run("serve", *arguments, env=environment)
        assert result.exit_code == 0, result.stderr
        (settings,) = found
        return settings

    return settings_of


# A value other than the default for each setting.
OTHERS: dict[str, Any] = {
    "address": "[::1]:0",
    "fast_address": "localhost:2",
    "web_address": "localhost:3",
    "metrics_address": "localhost:1",
    "workers": 3,
    "oversubscribe": True,
    "max_calls": 5,
    "max_streams": 6,
    "max_calls_per_client": 7,
    "max_rate_per_client": 0.5,
    "max_message_bytes": 8,
    "max_fast_cost": 15,
    "max_fast_debt": 16,
    "batch_threads": 9,
    "max_batch_items": 10,
    "max_playouts": 11,
    "max_table_playouts": 14,
    "max_answer_bytes": 12,
    "max_undelivered_bytes": 13,
    "request_timeout": 2.5,
    "stream_idle_timeout": 3.5,
    "max_connection_age": 12.5,
    "connection_age_grace": 4.5,
    "default_deadline": 1.5,
    "max_deadline": 2000.0,
    "grace": 0.0,
    "hang_timeout": 1.5,
    "relay": "memory",
    "max_rooms": 17,
    "max_followers": 18,
    "max_room_bytes": 19,
    "room_lifetime": 4.5,
    "tls_certificate": Path(__file__),
    "tls_key": Path(__file__),
    "client_ca": Path(__file__),
    "tokens": Path(__file__),
    "table_keys": Path(__file__),
    "open_tables": True,
    "web_origins": ("https://a.example", "http://localhost:8080"),
    "web_hosts": ("page.example", "chatiere"),
    "web_frame_ancestors": ("https://a.example", "http://localhost:8080"),
    "insecure": True,
    "reflection": False,
    "channelz": True,
    "rules_versions": ("discat=1", "chat_cartonne=1"),
    "bots_version": BOTS_VERSION,
    "bots": ("agent=mybot.py:Agent:depth=3,width=2", "theirs"),
    "log_level": "warning",
    "log_format": "json",
    "log_calls": True,
    "traces": True,
}
# Settings that need other settings.
TOGETHER = {
    "tls_certificate": ["tls_key"],
    "tls_key": ["tls_certificate"],
    "client_ca": ["tls_certificate", "tls_key"],
    "open_tables": ["tokens", "max_calls_per_client"],
    "web_origins": ["web_address"],
    "web_hosts": ["web_address"],
    "web_frame_ancestors": ["web_address"],
}
SETTINGS = [field.name for field in fields(Settings)]


def written(value: object) -> object:
    """Return a value as written on the command line: lists are separated by commas."""
    return ",".join(value) if isinstance(value, tuple) else value


def test_without_options_the_settings_have_their_defaults(asked: Asked) -> None:
    assert asked() == Settings()


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_an_option(asked: Asked, name: str) -> None:
    names = [name, *TOGETHER.get(name, [])]
    arguments: list[object] = []
    for each in names:
        flag, value = f"--{each.replace('_', '-')}", written(OTHERS[each])
        arguments += [flag, value] if not isinstance(value, bool) else [flag if value else flag.replace("--", "--no-")]
    expected = replace(Settings(), **{each: OTHERS[each] for each in names})
    assert expected != Settings()
    assert asked(*arguments) == expected


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_an_environment_variable(asked: Asked, name: str) -> None:
    names = [name, *TOGETHER.get(name, [])]
    environment = {f"CHATIERE_{each.upper()}": str(written(OTHERS[each])) for each in names}
    assert asked(**environment) == replace(Settings(), **{each: OTHERS[each] for each in names})


def test_options_override_the_environment(asked: Asked) -> None:
    assert asked("--workers", 2, CHATIERE_WORKERS="3").workers == 2


def test_metrics_can_be_turned_off(asked: Asked) -> None:
    assert asked("--metrics-address", "off").metrics_address is None


@pytest.mark.parametrize("name", SETTINGS)
def test_help_explains_every_setting(run: Run, name: str) -> None:
    text = " ".join(run("serve", "--help").stdout.split())
    assert f"--{name.replace('_', '-')} " in text
    assert f"CHATIERE_{name.upper()}" in text.replace(" ", "")


WRONG = {
    "address": "50051",
    "fast_address": "localhost",
    "web_address": "localhost",
    "metrics_address": "none",
    "workers": "0",
    "oversubscribe": "maybe",
    "max_calls": "0",
    "max_streams": "-1",
    "max_calls_per_client": "-1",
    "max_rate_per_client": "-0.5",
    "max_message_bytes": "4MB",
    "max_fast_cost": "much",
    "max_fast_debt": "0",
    "batch_threads": "0",
    "max_batch_items": "0",
    "max_playouts": "0",
    "max_table_playouts": "0",
    "max_answer_bytes": "0",
    "max_undelivered_bytes": "0",
    "request_timeout": "0",
    "stream_idle_timeout": "-1",
    "max_connection_age": "-1",
    "connection_age_grace": "-1",
    "default_deadline": "0",
    "max_deadline": "59",
    "grace": "-1",
    "hang_timeout": "0.9",
    "relay": "paper",
    "max_rooms": "0",
    "max_followers": "0",
    "max_room_bytes": "0",
    "room_lifetime": "0",
    "tls_certificate": "/no/such/file",
    "tls_key": "/no/such/file",
    "client_ca": __file__,
    "tokens": "/no/such/file",
    "table_keys": "/no/such/file",
    "web_origins": "page.example",
    "open_tables": "maybe",
    "web_hosts": "https://page.example",
    "web_frame_ancestors": "page.example",
    "insecure": "maybe",
    "reflection": "maybe",
    "channelz": "maybe",
    "rules_versions": "discat=0",
    "bots_version": "0",
    "bots": "Agent=mybot.py:Agent",
    "log_level": "loud",
    "log_format": "xml",
    "log_calls": "maybe",
    "traces": "maybe",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_value_stops_the_start_and_is_named(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(serve, "serve", lambda settings: pytest.fail("started"))
    result = run("serve", env={f"CHATIERE_{name.upper()}": WRONG[name]})
    assert result.exit_code == 2
    # The error for a client CA names the missing server certificate.
    named = "tls_certificate" if name == "client_ca" else name
    assert f"--{named.replace('_', '-')}" in result.stderr


def test_the_number_of_workers_is_bounded_by_processors(
    run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "processors", lambda: 2)
    assert asked("--workers", 8).workers == 8
    assert asked("--workers", 1024, "--oversubscribe").workers == 1024
    message = "Error: --workers: must be 8 or less, as this process may use 2 processors; or oversubscribe\n"
    assert (refused := run("serve", "--workers", 9)).stderr == message
    assert refused.exit_code == 2


@pytest.mark.parametrize("name", settings.RANGES)
def test_numbers_out_of_range_are_refused_and_named(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(serve, "serve", lambda settings: pytest.fail("started"))
    most = settings.RANGES[name].most
    for value in ("-1", "1e-9", f"{most + 1}", "1" + "0" * 400, "inf", "-inf", "nan"):
        result = run("serve", f"--{name.replace('_', '-')}", value)
        assert (result.exit_code, f"--{name.replace('_', '-')}" in result.stderr) == (2, True), value
    for number in (-1, 1e-9, most + 1, float("inf"), float("nan")):
        wrong: dict[str, Any] = {name: number}
        with pytest.raises(SettingError, match=f"^{name}: must be from "):
            Settings(**wrong)


def test_every_number_has_a_range() -> None:
    numbers = {field.name for field in fields(Settings) if type(field.default) in (int, float)}
    assert settings.RANGES.keys() == numbers


def test_a_setting_that_the_server_refuses_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: Settings) -> None:
        raise SettingError("tokens", "line 3: nonsense")

    monkeypatch.setattr(serve, "serve", refuse)
    result = run("serve")
    assert result.exit_code == 2
    assert result.stderr == "Error: --tokens: line 3: nonsense\n"


def test_the_supervisor_imports_no_library_that_only_workers_need() -> None:
    libraries = ["asyncio", "cryptography", "google.protobuf", "grpc", "numpy"]
    program = f"import sys, chatiere.command.serve; print([each for each in {libraries} if each in sys.modules])"
    found = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


SERVES = """
import sys
from prometheus_client import CollectorRegistry
from chatiere.service.base.settings import Settings
from chatiere.service.process.worker import create_server

server, _ = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
server.start()
print([each for each in ("chatiere.bots.registry", "cryptography", "numpy") if each in sys.modules])
server.stop(None).wait()
"""


def test_an_idle_worker_imports_no_library_that_only_some_calls_need() -> None:
    found = subprocess.run((sys.executable, "-c", SERVES), capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
