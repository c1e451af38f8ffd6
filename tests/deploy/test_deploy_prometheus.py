"""Prometheus scrapes two workers under load, and every query of the dashboard and the alerts has a value."""

import json
import math
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import psutil
import pytest
import trustme
import yaml
from service.process import Served, served, wait_until
from tools.needs import needs
from tools.patience import PATIENCE

from chatiere import engine
from chatiere.clients import CHANNEL_OPTIONS, ChatiereError, Client
from chatiere.v1 import batch_service_pb2, batch_service_pb2_grpc

from .test_deploy_files import DASHBOARD, DEPLOY

pytestmark = [
    needs("Prometheus"),
    pytest.mark.long,
]

RULES = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"][0]["rules"]


def queries() -> dict[str, str]:
    """Return every expression, by its place. Comparisons are removed from alerts, so that they always have a value."""
    found = {}
    for rule in RULES:
        found[rule.get("alert") or rule["record"]] = re.sub(r" (==|>=|>|<) [\d.]+$", "", rule["expr"].strip())
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            query = target["expr"].replace("$__rate_interval", "30s")
            found[f"{panel['title']} {target['refId']}"] = query
    return found


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """Run Prometheus on a free port, with deploy/'s rules and a scrape every second. Yield its address."""
    shutil.copy(DEPLOY / "prometheus" / "rules.yml", folder)
    configuration = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    (job,) = configuration["scrape_configs"]
    del job["dns_sd_configs"]
    job["static_configs"] = [{"targets": [target]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    command = (
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--web.listen-address=127.0.0.1:0",
    )
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            listening = wait_until(
                lambda: [c for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN],
                "Prometheus listens",
            )
            address = f"127.0.0.1:{listening[0].laddr.port}"
            wait_until(lambda: is_ready(address), "Prometheus is ready")
            yield address
        finally:
            process.terminate()


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/-/ready", timeout=PATIENCE):
            return True
    except urllib.error.HTTPError:
        return False


def ask(address: str, query: str) -> list[float]:
    """Return the current values of a query."""
    url = f"http://{address}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return [float(result["value"][1]) for result in json.load(answer)["data"]["result"]]


def load(server: Served, roots: bytes) -> None:
    """Call both services to play games, make an invalid call and play a batch."""
    credentials = grpc.ssl_channel_credentials(roots)
    with grpc.secure_channel(server.address, credentials, options=CHANNEL_OPTIONS) as channel:
        client = Client(channel)
        for game in engine.games():
            state = client.new_game(game.name, game.min_players, seed=1).state
            action = client.list_legal_actions(state).legal_actions[0]
            client.apply(state, action)
            with pytest.raises(ChatiereError):
                client.apply(state, 65_000)
            batch(channel, game)


def batch(channel: grpc.Channel, game: engine.Game) -> None:
    stub: Any = batch_service_pb2_grpc.BatchServiceStub(channel)
    table = batch_service_pb2.BatchSetup(game=game.name, players=game.min_players)
    columns = batch_service_pb2.Columns(legal=True)
    seeds = np.arange(16, dtype="<u8").tobytes()
    positions = stub.NewGames(batch_service_pb2.NewGamesRequest(setup=table, seeds=seeds, columns=columns)).positions
    offsets = np.frombuffer(positions.legal_offsets, "<u4")
    moves = np.frombuffer(positions.legal_ids, "<u2")[offsets[:-1]].tobytes()
    stub.Step(batch_service_pb2.StepRequest(setup=table, states=positions.states, moves=moves))


def test_every_query_has_a_value(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    with served("--workers", "2", "--tls-certificate", str(certificate), "--tls-key", str(key)) as server:
        target = urllib.parse.urlsplit(server.metrics_url).netloc
        with prometheus(tmp_path, target) as address:
            wait_until(lambda: ask(address, "up") == [1.0], "Prometheus has scraped the server")
            psutil.Process(server.worker_pid(0)).kill()
            missing = queries()

            def all_have_values() -> bool:
                load(server, authority.cert_pem.bytes())
                for name, query in list(missing.items()):
                    values = ask(address, query)
                    if values and not any(math.isnan(value) for value in values):
                        del missing[name]
                return not missing

            try:
                wait_until(all_have_values, "every query has a value")
            except AssertionError as error:
                raise AssertionError(f"no value: {missing}") from error
            assert ask(address, "sum(chatiere_workers_restarted_total)") == [1.0]
