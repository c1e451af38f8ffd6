"""verifiers' command plays a game of our taskset with a model on the loopback interface."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from chatiere.envs.text import TextEnv


def last_action(text: str) -> str:
    """Return the number of the last action in a question."""
    return str(re.findall(r"^\s*(?:\d+-)?(\d+)\. ", text, re.MULTILINE)[-1])


class Model(BaseHTTPRequestHandler):
    """A model that chooses the last action, and sends its reply as a stream."""

    def do_POST(self) -> None:
        """Answer a request for a chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = f"I think so.\nMove: {last_action(asked['messages'][-1]['content'])}"
        parts: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        common: dict[str, Any] = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        lines = [*(json.dumps(common | part) for part in parts), "[DONE]"]
        body = "".join(f"data: {line}\n\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


env = TextEnv("discat", opponents="random")
told = env.reset(0)
while not env.is_over:
    told = env.step(last_action(told.text))
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "my_games.py").write_text("from chatiere.envs.verifiers import GamesEnv, GamesTaskset, __all__\n")
    options = {
        "--env.taskset.game": "discat",
        "--env.taskset.opponents": "random",
        "--env.player.harness.id": "null",
        "--env.player.runtime.type": "subprocess",
        "--client.base-url": f"http://127.0.0.1:{server.server_port}/v1",
        "--client.api-key-var": "KEY",
        "--model": "m",
        "--select.limit": "1",
        "--output-dir": folder,
    }
    binaries = Path(sys.executable).parent
    subprocess.run(
        [binaries / "vf-eval", "my_games", "--no-push", *(word for option in options.items() for word in option)],
        env=os.environ | {"PYTHONPATH": folder, "KEY": "any", "PATH": f"{binaries}:{os.environ['PATH']}"},
        check=True,
    )
    (traces,) = Path(folder).glob("*/traces.jsonl")
    (episode,) = map(json.loads, traces.read_text("utf-8").splitlines())
server.shutdown()
(trace,) = episode["traces"]
assert not trace["errors"], trace["errors"]
assert trace["rewards"] == {"returned": {"score": told.reward, "weight": 1.0}}, (trace["rewards"], told.reward)
