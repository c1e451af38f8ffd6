"""A bot for any game that asks a language model. README.md in this folder describes it."""

import argparse
import json
import os
import re
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor, wait
from http.client import HTTPException
from pathlib import Path

PROMPT = 'You play a game. Think briefly. End your reply with "Move: NUMBER", the number of a legal action.'
parser = argparse.ArgumentParser(description="A bot that asks a language model. OPENAI_API_KEY is the endpoint's key.")
parser.add_argument("--url", required=True, help="an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1")
parser.add_argument("--model", required=True)
parser.add_argument("--rules", type=Path, help="a file for the prompt, as written by `chatiere rules GAME`")
parser.add_argument("--attempts", type=int, default=3, help="maximum requests for each decision (default: 3)")
parser.add_argument("--pause", type=float, default=2, help="seconds to wait after a failed request (default: 2)")
parser.add_argument("--parallel", type=int, default=16, help="maximum requests at the same time (default: 16)")
given = parser.parse_args()
system = f"{PROMPT}\n\n{given.rules.read_text('utf-8')}" if given.rules else PROMPT
headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}


def ask(messages, deadline):
    """Return the model's reply. Raises OSError or HTTPException (no response), ValueError or LookupError (no reply)."""
    body = json.dumps({"model": given.model, "messages": messages}).encode()
    request = urllib.request.Request(given.url.rstrip("/") + "/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=max(0.001, deadline - time.monotonic())) as response:
        return json.load(response)["choices"][0]["message"]["content"] or ""


def read_move(reply, labels):
    """Return the index of the action in the last line "Move: …", otherwise in the last line; or None."""
    lines = [line for line in re.sub(r"(?s)<think>.*?</think>", "", reply).splitlines() if line.strip()] or [""]
    line = ([line for line in lines if re.search(r"\bmove\W*:", line, re.I)] or lines)[-1]
    text = re.sub(r".*\bmove\W*:", "", line, flags=re.I).strip(" \t*_`\"'.").casefold()
    forms = [(str(number), label.casefold(), f"{number}. {label}".casefold()) for number, label in enumerate(labels, 1)]
    return next((index for index, names in enumerate(forms) if text in names), None)


def decide(decision, deadline):
    """Return an action, or -1 if the model names none in time. Raises the endpoint's error if all attempts failed."""
    failed = 0
    messages = [{"role": "system", "content": system}, {"role": "user", "content": decision["text"]}]
    for _ in range(given.attempts):
        try:
            reply = ask(messages, deadline)
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            failed += 1
            if time.monotonic() < deadline and failed == given.attempts:
                raise
            time.sleep(max(0, min(given.pause, deadline - time.monotonic())))
            continue
        if (index := read_move(reply, decision["labels"])) is not None:
            return decision["legal"][index]
        told = f'That names no legal action. End your reply with "Move: NUMBER", from 1 to {len(decision["legal"])}.'
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": told}]
    return -1


pool = ThreadPoolExecutor(given.parallel)
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"type": "hello", "protocol": 1, "name": given.model[:100], "wants": ["text", "labels"]}
    if asked["type"] == "decide":
        # The host ends a program that is late, so a tenth of the time is left for the answer.
        deadline = time.monotonic() + 0.9 * asked["seconds"]
        found = [pool.submit(decide, decision, deadline) for decision in asked["decisions"]]
        wait(found, max(0, deadline - time.monotonic()))
        try:
            answer = {"id": asked["id"], "actions": [each.result() if each.done() else -1 for each in found]}
        except Exception as error:
            print(f"{given.url}: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
    print(json.dumps(answer), flush=True)
