"""What deploy/ says is well-formed, and agrees with the service and with itself."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from chatiere.service.config import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
KUBERNETES = "1.33"
DASHBOARD = DEPLOY / "grafana" / "chatiere.json"

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")


def load(name: str) -> Any:
    return yaml.safe_load((DEPLOY / "kubernetes" / name).read_text())


def container() -> dict[str, Any]:
    (found,) = load("deployment.yaml")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_the_dockerfile_lints() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_image_is_made_of_all_folders_of_the_package() -> None:
    folders = {path.name for path in (DEPLOY.parent / "src" / "chatiere").iterdir() if path.is_symlink()}
    kept = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    assert folders
    assert {f"!{folder}" for folder in folders} <= set(kept)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_the_manifest_keeps_to_the_schema_of_kubernetes(path: Path) -> None:
    kubernetes_validate.validate(yaml.safe_load(path.read_text()), KUBERNETES, strict=True)


def test_kustomize_takes_every_manifest() -> None:
    assert sorted(load("kustomization.yaml")["resources"]) == [path.name for path in MANIFESTS]


def test_ports_agree() -> None:
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^EXPOSE (\d+) (\d+)$", dockerfile, re.M).groups() == (  # type: ignore[union-attr]
        str(ports["grpc"]),
        str(ports["metrics"]),
    )
    assert f'"0.0.0.0:{ports["grpc"]}"' in dockerfile
    assert f'"0.0.0.0:{ports["metrics"]}"' in dockerfile
    assert {port["port"] for port in load("service.yaml")["spec"]["ports"]} == set(ports.values())
    scrape = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scrape["dns_sd_configs"][0]["port"] == ports["metrics"]
    assert {container()[probe]["grpc"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")} == {
        ports["grpc"]
    }


def test_the_service_is_headless() -> None:
    assert load("service.yaml")["spec"]["clusterIP"] == "None"


def test_a_pod_is_killed_only_after_the_grace_period_of_the_service() -> None:
    pause = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    grace = load("deployment.yaml")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace > pause + Settings().grace


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [("check", "config", "prometheus.yml"), ("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")],
)
def test_prometheus_takes_its_files(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_test_and_says_what_to_do() -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    tests = yaml.safe_load((DEPLOY / "prometheus" / "rules_test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case.get("exp_alerts")}
    assert fired == {alert["alert"] for alert in alerts}
    assert all(alert["annotations"]["summary"] and alert["annotations"]["action"] for alert in alerts)


def test_every_panel_of_the_dashboard_says_what_it_shows() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["title"] and panel["description"] and panel["targets"] for panel in panels)
