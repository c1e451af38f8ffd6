"""A bot for any game that plays the legal action of the highest id: chatiere arena --bots "cmd:python highest.py"."""

import json
import sys

for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        answer = {"type": "hello", "protocol": 1, "name": "Highest", "reproducible": True}
    else:
        answer = {"id": asked["id"], "actions": [max(each["legal"]) for each in asked["decisions"]]}
    # Without a flush, the answer would wait in a buffer.
    print(json.dumps(answer), flush=True)
