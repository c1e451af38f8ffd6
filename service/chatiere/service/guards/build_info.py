"""The metric with the versions of a server's components."""

from importlib.metadata import version

from prometheus_client import CollectorRegistry, Gauge

from chatiere import engine
from chatiere.bots import BOTS_VERSION


def tell_build(registry: CollectorRegistry) -> None:
    """Register `chatiere_build_info`."""
    labels = {"version": version("chatiere"), "api": "chatiere.v1", "bots": str(BOTS_VERSION)}
    labels |= {game.name: str(game.rules_version) for game in engine.games()}
    Gauge(
        "chatiere_build_info",
        "1: the versions of the package, of the API, of the bots and, by game, of the rules.",
        labels,
        registry=registry,
    ).labels(**labels).set(1)
