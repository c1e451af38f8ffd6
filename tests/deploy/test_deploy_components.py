"""The components in deploy/kubernetes and the unit in deploy/systemd agree with the service and the base.

After a change to deploy/prometheus/rules.yml, update the PrometheusRule with
`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/deploy/test_deploy_components.py`.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from prometheus_client import CollectorRegistry
from tools.needs import needs

from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings

pytestmark = pytest.mark.long

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
BASE, SECURE = KUBERNETES / "base", KUBERNETES / "secure"
COMPONENTS = ("gateway", "ingress", "monitoring", "calls-in-flight")
VERSION = "1.33"
# Resources whose schema is part of Kubernetes. Operators define the schemas of all other resources.
OF_KUBERNETES = re.compile(r"v1$|(apps|autoscaling|policy|networking\.k8s\.io)/")
UPDATE = "CHATIERE_UPDATE_GOLDEN" in os.environ
RULES_HEAD = """\
# From deploy/prometheus/rules.yml: CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/deploy/test_deploy_components.py
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: chatiere
spec:
"""
UNIT = DEPLOY / "systemd" / "chatiere.service"
USERS = DEPLOY / "systemd" / "chatiere.sysusers"


def load(*names: str) -> Any:
    return yaml.safe_load(KUBERNETES.joinpath(*names).read_text())


def settings_in(path: Path) -> dict[str, str]:
    """Return the environment of a Deployment's container."""
    (container,) = yaml.safe_load(path.read_text())["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def service_ports() -> dict[str, int]:
    return {port["name"]: port["port"] for port in load("base", "service.yaml")["spec"]["ports"]}


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_includes_all_its_files(name: str) -> None:
    component = load(name, "kustomization.yaml")
    assert component["kind"] == "Component"
    taken = [*component.get("resources", ()), *(patch["path"] for patch in component.get("patches", ()))]
    assert sorted(["kustomization.yaml", *taken]) == sorted(path.name for path in (KUBERNETES / name).iterdir())


def test_the_documentation_names_every_base_overlay_and_component() -> None:
    assert {path.name for path in KUBERNETES.iterdir()} == {"base", "secure", "redis", *COMPONENTS}
    section = (
        (DEPLOY.parent / "docs/operations.md").read_text().partition("## In Kubernetes\n")[2].partition("\n## ")[0]
    )
    assert set(re.findall(r"^\| `([\w-]+)` \|", section, re.M)) == {"redis", *COMPONENTS}
    assert all(f"deploy/kubernetes/{name}`" in section for name in ("base", "secure"))


@needs("kubectl")
@pytest.mark.parametrize("overlaid", [BASE, SECURE], ids=lambda path: path.name)
def test_the_components_together_extend_base_and_overlay(overlaid: Path, tmp_path: Path) -> None:
    overlay = {
        "resources": [os.path.relpath(overlaid, tmp_path)],
        "components": [os.path.relpath(KUBERNETES / name, tmp_path) for name in COMPONENTS],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    done = subprocess.run(["kubectl", "kustomize", tmp_path], capture_output=True, text=True, check=True)
    made = {each["kind"]: each for each in yaml.safe_load_all(done.stdout)}
    assert {"GRPCRoute", "Ingress", "ServiceMonitor", "PrometheusRule", "Deployment"} <= made.keys()
    for each in made.values():
        if OF_KUBERNETES.match(each["apiVersion"]):
            kubernetes_validate.validate(each, VERSION, strict=True)
    assert [metric["type"] for metric in made["HorizontalPodAutoscaler"]["spec"]["metrics"]] == ["Resource", "Pods"]
    assert (
        made["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items()
        <= made["Service"]["metadata"]["labels"].items()
    )


def test_routes_and_ingress_point_to_the_ports_of_the_service() -> None:
    service = load("base", "service.yaml")["metadata"]["name"]
    (rule,) = load("gateway", "grpc-route.yaml")["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": service, "port": service_ports()["grpc"]}]
    ingress = load("ingress", "ingress.yaml")
    kubernetes_validate.validate(ingress, VERSION, strict=True)
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": service, "port": {"name": "web"}}
    assert "web" in service_ports()
    assert [rule["host"]] == ingress["spec"]["tls"][0]["hosts"]
    assert rule["host"] in settings_in(BASE / "deployment.yaml")["CHATIERE_WEB_HOSTS"].split(",")


def test_the_autoscaler_keeps_the_processor_and_adds_calls_in_flight() -> None:
    (processor,) = load("base", "autoscaler.yaml")["spec"]["metrics"]
    kept, added = load("calls-in-flight", "autoscaler.yaml")["spec"]["metrics"]
    assert kept == processor
    assert added["type"] == "Pods"
    registry = CollectorRegistry()
    Metrics(registry)
    (metric,) = (each for each in registry.collect() if each.name == added["pods"]["metric"]["name"])
    assert metric.type == "gauge"
    text = (KUBERNETES / "calls-in-flight/kustomization.yaml").read_text()
    assert f"seriesQuery: {metric.name}{{" in text
    workers = int(settings_in(BASE / "deployment.yaml")["CHATIERE_WORKERS"])
    assert int(added["pods"]["target"]["averageValue"]) == 8 * workers


def test_the_operator_scrapes_like_prometheus() -> None:
    monitor = load("monitoring", "service-monitor.yaml")
    # The job is named after the service.
    plain = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    assert plain["scrape_configs"][0]["job_name"] == load("base", "service.yaml")["metadata"]["name"]
    assert monitor["spec"]["endpoints"] == [{"port": "metrics", "interval": plain["global"]["scrape_interval"]}]
    assert "metrics" in service_ports()
    labels = load("base", "kustomization.yaml")["labels"][0]["pairs"]
    assert monitor["spec"]["selector"]["matchLabels"] == labels


def test_the_operator_has_the_same_rules_as_prometheus() -> None:
    rules = (DEPLOY / "prometheus/rules.yml").read_text()
    made = RULES_HEAD + re.sub(r"^(?=.)", "  ", rules, flags=re.M)
    path = KUBERNETES / "monitoring/prometheus-rule.yaml"
    if UPDATE:
        path.write_text(made)
    assert path.read_text() == made
    assert yaml.safe_load(made)["spec"] == yaml.safe_load(rules)


def unit() -> list[tuple[str, str]]:
    return re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.M)


def test_the_unit_agrees_with_the_service() -> None:
    # The status 2 means invalid settings, for which a restart would not help.
    assert ("RestartPreventExitStatus", "2") in unit()
    values = dict(unit())
    assert float(values["TimeoutStopSec"]) > Settings().grace + 5
    assert values["KillMode"] == "mixed"
    # SIGHUP makes the service reread files. Other signals are ignored, or stop the service.
    assert values["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert USERS.read_text().split()[:2] == ["u", values["User"]]
    settings = set(re.findall(r"CHATIERE_(\w+)=", UNIT.read_text()))
    assert settings
    assert [setting for setting in settings if not hasattr(Settings(), setting.lower())] == []
    operations = (DEPLOY.parent / "docs/operations.md").read_text()
    for named in (values["EnvironmentFile"], values["ExecStart"].split("/bin/")[0], UNIT.name, USERS.name):
        assert named in operations, named


@pytest.fixture
def runnable(tmp_path: Path) -> Path:
    """Write a unit whose program and settings file exist, because systemd-analyze checks both."""
    (tmp_path / "environment").touch()
    text = re.sub(r"^ExecStart=\S+", f"ExecStart={shutil.which('true')}", UNIT.read_text(), flags=re.M)
    text = re.sub(r"^EnvironmentFile=.*", f"EnvironmentFile={tmp_path}/environment", text, flags=re.M)
    path = tmp_path / UNIT.name
    path.write_text(text)
    return path


@needs("systemd-analyze")
def test_systemd_accepts_the_unit(runnable: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", runnable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs("systemd-analyze")
def test_the_unit_is_isolated(runnable: Path) -> None:
    """The exposure of the unit is at most 1.5 of 10, because it needs only the network and the host's programs."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", runnable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
