"""The positions of Chat perché in perft.json: `PYTHONPATH=tests python -m games.chat_perche.perft` counts them."""

from ..perft_file import read, write
from .reference import Game

if __name__ == "__main__":
    entries = read("chat_perche")
    for entry in entries:
        entry["count"] = Game.perft(entry["players"], entry["options"], entry["moves"], entry["depth"])
    write("chat_perche", entries)
