"""Simulate the service from many seeds: `make simulate`."""

import secrets
import time

import click

from .world import simulate


@click.command()
@click.option("--seed", type=int, help="Replay one seed and print its trace.")
@click.option("--first", type=int, help="The first seed. By default it is random.")
@click.option("--seeds", type=int, default=0, show_default=True, help="The largest number of seeds; 0 for no limit.")
@click.option("--seconds", default=60.0, show_default=True, help="The longest time in seconds.")
def main(seed: int | None, first: int | None, seeds: int, seconds: float) -> None:
    """Simulate the service above its wires, with faults drawn from seeds.

    Ends with status 1 at the first seed for which a property is broken.
    """
    if seed is not None:
        trace, broken = simulate(seed)
        print(*trace, sep="\n")
        raise SystemExit(broken is not None)
    begun, number, count = time.monotonic(), secrets.randbits(31) if first is None else first, 0
    while (count < seeds or not seeds) and time.monotonic() - begun < seconds:
        _, broken = simulate(number)
        if broken is not None:
            print(f"seed {number}: {broken!r}\nmake simulate SEED={number} replays it")
            raise SystemExit(1)
        number, count = number + 1, count + 1
    print(f"{count} seeds in {time.monotonic() - begun:.1f} s: all properties held")


if __name__ == "__main__":
    main()
