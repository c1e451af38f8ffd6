"""The files in deploy/ are well-formed, and agree with the service and with one another."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from importlib import metadata
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.needs import needs

from chatiere.command import serve
from chatiere.service.base.settings import Settings

pytestmark = pytest.mark.long

DEPLOY = Path(__file__).parents[2] / "deploy"
BASE, SECURE, REDIS = (DEPLOY / "kubernetes" / name for name in ("base", "secure", "redis"))
MANIFESTS = sorted(path for path in BASE.glob("*.yaml") if path.name != "kustomization.yaml")
KUBERNETES = "1.33"
DASHBOARD = DEPLOY / "grafana" / "chatiere.json"

PYPROJECT = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())


def load(name: str) -> Any:
    return yaml.safe_load((BASE / name).read_text())


def container() -> dict[str, Any]:
    (found,) = load("deployment.yaml")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_the_dockerfile_lints() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_image_contains_all_folders_of_the_package_and_the_rules() -> None:
    folders = {path.parent.name for path in DEPLOY.parent.glob("*/chatiere")}
    kept = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    assert folders
    assert {f"!{folder}" for folder in folders | {"web", "docs/games", "docs/rules"}} <= set(kept)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_manifests_conform_to_the_schema_of_kubernetes(path: Path) -> None:
    kubernetes_validate.validate(yaml.safe_load(path.read_text()), KUBERNETES, strict=True)


def test_kustomize_includes_every_manifest() -> None:
    assert sorted(load("kustomization.yaml")["resources"]) == [path.name for path in MANIFESTS]


def test_image_manifests_and_prometheus_have_the_same_ports() -> None:
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^EXPOSE (\d+) (\d+) (\d+)$", dockerfile, re.M).groups() == (  # type: ignore[union-attr]
        str(ports["grpc"]),
        str(ports["metrics"]),
        str(ports["web"]),
    )
    assert f'"0.0.0.0:{ports["grpc"]}"' in dockerfile
    assert f'"0.0.0.0:{ports["metrics"]}"' in dockerfile
    assert {port["port"] for port in load("service.yaml")["spec"]["ports"]} == set(ports.values())
    scrape = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scrape["dns_sd_configs"][0]["port"] == ports["metrics"]
    assert {container()[probe]["grpc"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")} == {
        ports["grpc"]
    }


def test_the_image_refuses_to_start_without_the_settings_of_the_manifests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = re.search(r"^CMD (.+)$", (DEPLOY / "Dockerfile").read_text(), re.M)
    assert command
    arguments = json.loads(command[1])
    found: list[Settings] = []
    monkeypatch.setattr(serve, "serve", found.append)
    bare = CliRunner().invoke(serve.command, arguments)
    assert (bare.exit_code, found) == (2, [])
    assert "--address: other machines can reach this address" in bare.stderr
    (tmp_path / "tokens").touch()
    for tokens in {}, {"CHATIERE_INSECURE": "false", "CHATIERE_TOKENS": str(tmp_path / "tokens")}:
        environment = {each["name"]: each["value"] for each in container()["env"]} | tokens
        done = CliRunner().invoke(serve.command, arguments, env=environment, auto_envvar_prefix="CHATIERE")
        assert done.exit_code == 0, done.stderr
        settings = found.pop()
        assert settings.insecure is not bool(tokens)
        assert settings.web_hosts == ("chatiere.example", "chatiere")


def test_only_monitoring_can_read_metrics_and_pods_make_no_calls() -> None:
    policy = load("network-policy.yaml")["spec"]
    served = load("deployment.yaml")["spec"]["selector"]["matchLabels"]
    assert policy["podSelector"]["matchLabels"] == served
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["egress"] == []
    who = {port["port"]: rule.get("from") for rule in policy["ingress"] for port in rule["ports"]}
    assert who == {
        "grpc": None,
        "web": None,
        "metrics": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
    }
    assert set(who) == {port["name"] for port in container()["ports"]}


# TLS, tokens and table keys


@pytest.fixture(scope="module")
def secure() -> dict[str, Any]:
    """Return kustomize's output for the overlay, by kind."""
    done = subprocess.run(["kubectl", "kustomize", SECURE], capture_output=True, text=True, check=True)
    return {each["kind"]: each for each in yaml.safe_load_all(done.stdout)}


@needs("kubectl")
def test_the_overlay_conforms_to_the_schema_of_kubernetes(secure: dict[str, Any]) -> None:
    assert len(secure) == len(MANIFESTS)
    for manifest in secure.values():
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


@needs("kubectl")
def test_the_overlay_gives_the_service_certificate_tokens_and_table_keys(secure: dict[str, Any]) -> None:
    pod = secure["Deployment"]["spec"]["template"]["spec"]
    (found,) = pod["containers"]
    folders = {mount["name"]: mount["mountPath"] for mount in found["volumeMounts"] if mount["readOnly"]}
    secrets = {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"]}
    assert folders.keys() == secrets.keys()
    # The names of the entries in Secrets of the type kubernetes.io/tls, and the names of the other Secrets' source
    # files.
    files = {
        "CHATIERE_TLS_CERTIFICATE": f"{folders['tls']}/tls.crt",
        "CHATIERE_TLS_KEY": f"{folders['tls']}/tls.key",
        "CHATIERE_TOKENS": f"{folders['tokens']}/tokens",
        "CHATIERE_TABLE_KEYS": f"{folders['table-keys']}/table-keys",
    }
    environment = {each["name"]: each["value"] for each in found["env"]}
    in_base = {each["name"]: each["value"] for each in container()["env"]}
    assert environment == in_base | files | {"CHATIERE_INSECURE": "false"}
    text = (SECURE / "kustomization.yaml").read_text()
    assert f"create secret tls {secrets['tls']} " in text
    for name in "tokens", "table-keys":
        assert f"create secret generic {secrets[name]} --from-file={name} " in text


def test_the_deployment_leaves_the_number_of_pods_to_the_autoscaler() -> None:
    assert "replicas" not in load("deployment.yaml")["spec"]
    target = load("autoscaler.yaml")["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", load("deployment.yaml")["metadata"]["name"])


@needs("kubectl")
def test_no_probe_of_the_overlay_uses_grpc_without_tls(secure: dict[str, Any]) -> None:
    (found,) = secure["Deployment"]["spec"]["template"]["spec"]["containers"]
    healthz = {"httpGet": {"path": "/healthz", "port": "web", "scheme": "HTTPS"}}
    metrics = {"httpGet": {"path": "/metrics", "port": "metrics"}}
    asked = {"startupProbe": healthz, "readinessProbe": healthz, "livenessProbe": metrics}
    times = {"periodSeconds", "timeoutSeconds", "failureThreshold"}
    for probe, wanted in asked.items():
        assert {key: value for key, value in found[probe].items() if key not in times} == wanted


@needs("kubectl")
def test_the_component_gives_the_overlay_rooms_in_redis(tmp_path: Path) -> None:
    relative = {path: os.path.relpath(path, tmp_path) for path in (SECURE, REDIS)}
    overlay = {"resources": [relative[SECURE]], "components": [relative[REDIS]]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    done = subprocess.run(["kubectl", "kustomize", tmp_path], capture_output=True, text=True, check=True)
    made = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(done.stdout)}
    assert len(made) == len(MANIFESTS) + 3
    for manifest in made.values():
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    (found,) = made["Deployment", "chatiere"]["spec"]["template"]["spec"]["containers"]
    assert {"CHATIERE_RELAY", "CHATIERE_TABLE_KEYS"} <= {each["name"] for each in found["env"]}
    assert made["NetworkPolicy", "chatiere"]["spec"]["egress"]


def test_the_parts_of_the_component_agree() -> None:
    parts = {path.stem: yaml.safe_load(path.read_text()) for path in REDIS.glob("*.yaml")}
    component = parts.pop("kustomization")
    patches = [patch["path"] for patch in component["patches"]]
    assert sorted([*component["resources"], *patches]) == sorted(f"{name}.yaml" for name in parts)
    for name in component["resources"]:
        kubernetes_validate.validate(parts[name.removesuffix(".yaml")], KUBERNETES, strict=True)
    environments: dict[str, dict[str, Any]] = {}
    ports: dict[str, int] = {}
    for name in "chatiere", "redis":
        (found,) = parts[name]["spec"]["template"]["spec"]["containers"]
        environments[name] = {each["name"]: each.get("value") for each in found["env"]}
        secrets = [each["valueFrom"]["secretKeyRef"] for each in found["env"] if "valueFrom" in each]
        assert secrets == [{"name": "chatiere-redis", "key": "password"}]
        ports |= {port["name"]: port["containerPort"] for port in found.get("ports", ())}
    (served,) = parts["service"]["spec"]["ports"]
    assert (served["port"], served["targetPort"]) == (ports["redis"], "redis")
    address = environments["chatiere"]["CHATIERE_RELAY"]
    assert address == f"redis://:$(REDIS_PASSWORD)@{parts['service']['metadata']['name']}:{ports['redis']}"
    assert Settings(relay=address, workers=2).relay == address
    # The network policy allows exactly these connections.
    labels = parts["redis"]["spec"]["template"]["metadata"]["labels"]
    assert (
        parts["service"]["spec"]["selector"] == parts["network-policy"]["spec"]["podSelector"]["matchLabels"] == labels
    )
    (way, _) = parts["chatiere-network-policy"]["spec"]["egress"]
    assert way == {"to": [{"podSelector": {"matchLabels": labels}}], "ports": [{"port": "redis"}]}
    text = (REDIS / "kustomization.yaml").read_text()
    assert "create secret generic chatiere-redis --from-literal=password=" in text
    # Redis must not evict rooms, because --max-room-bytes already limits them.
    (redis,) = parts["redis"]["spec"]["template"]["spec"]["containers"]
    assert (
        int(redis["args"][redis["args"].index("--maxmemory") + 1].removesuffix("mb")) << 20 > Settings().max_room_bytes
    )


def test_settings_in_manifests_are_settings() -> None:
    names = {f"CHATIERE_{field.name.upper()}" for field in fields(Settings)}
    for path in BASE / "deployment.yaml", SECURE / "deployment.yaml":
        (found,) = yaml.safe_load(path.read_text())["spec"]["template"]["spec"]["containers"]
        assert {each["name"] for each in found["env"]} <= names


# The image's contents


def pinned(name: str) -> dict[str, str]:
    """Return the versions in a file of constraints. All entries must have hashes."""
    entries = re.sub(r" *\\\n *", " ", re.sub(r"^ *#.*\n", "", (DEPLOY / name).read_text(), flags=re.M)).splitlines()
    found = [re.fullmatch(r"([\w.-]+)==(\S+)((?: --hash=sha256:[0-9a-f]{64})+)", entry) for entry in entries]
    assert all(found), entries
    return {match[1]: match[2] for match in found if match}


def needed(requirements: Iterable[str]) -> Iterator[tuple[str, Requirement]]:
    """Yield the name and the text of each requirement that applies in the image, except the extras' requirements."""
    image = {"python_version": "3.13", "python_full_version": "3.13.0", "extra": "", "sys_platform": "linux"}
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate(image):
            yield canonicalize_name(requirement.name), requirement


def of_extra(extra: str) -> Iterator[str]:
    """Yield the requirements of an extra and of the extras to which it refers."""
    for text in PYPROJECT["project"]["optional-dependencies"][extra]:
        requirement = Requirement(text)
        if requirement.name == PYPROJECT["project"]["name"]:
            for named in requirement.extras:
                yield from of_extra(named)
        else:
            yield text


@pytest.mark.parametrize(
    ("name", "requirements"),
    [
        (
            "constraints.txt",
            [*PYPROJECT["project"]["dependencies"], *of_extra("web"), *of_extra("redis")],
        ),
        ("constraints-build.txt", PYPROJECT["build-system"]["requires"]),
    ],
)
def test_constraints_cover_exactly_the_requirements(name: str, requirements: list[str]) -> None:
    """If this fails, regenerate them with `make constraints`."""
    versions = pinned(name)
    wanted, seen = list(needed(requirements)), set()
    while wanted:
        each, requirement = wanted.pop()
        assert requirement.specifier.contains(versions[each]), requirement
        if each not in seen:
            seen.add(each)
            of_each = list(needed(metadata.requires(each) or ()))
            if metadata.version(each) != versions[each]:
                # Another release is installed here. Assume that it needs the same packages, in any release.
                of_each = [(name, Requirement(name)) for name, _ in of_each]
            wanted += of_each
    assert seen == versions.keys()


def test_the_image_installs_only_packages_with_hashes() -> None:
    dockerfile = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    installs = re.findall(r"pip (?:install|wheel)[^&\n]*", dockerfile)
    assert installs
    for install in installs:
        assert "--require-hashes" in install or "--no-deps" in install
    assert re.findall(r"^FROM (\S+)", dockerfile, re.M) == ["${BUILD_IMAGE}", "${RUN_IMAGE}"]
    python = {".".join(match) for match in re.findall(r"^ARG \w+=python:(\d+)\.(\d+)-", dockerfile, re.M)}
    assert python == set(re.findall(r"--python-version (\S+)", (DEPLOY.parent / "Makefile").read_text()))


def test_the_service_is_headless() -> None:
    assert load("service.yaml")["spec"]["clusterIP"] == "None"


def test_a_pod_is_killed_only_after_the_grace_period_of_the_service() -> None:
    pause = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    grace = load("deployment.yaml")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace > pause + Settings().grace


@needs("Prometheus")
@pytest.mark.parametrize(
    "arguments",
    [("check", "config", "prometheus.yml"), ("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")],
)
def test_prometheus_accepts_its_files(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_test_and_recommends_an_action() -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    tests = yaml.safe_load((DEPLOY / "prometheus" / "rules_test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case.get("exp_alerts")}
    assert fired == {alert["alert"] for alert in alerts}
    assert all(alert["annotations"]["summary"] and alert["annotations"]["action"] for alert in alerts)


def test_every_panel_of_the_dashboard_has_a_description() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["title"] and panel["description"] and panel["targets"] for panel in panels)
