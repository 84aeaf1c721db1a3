"""A bot for Nain Jaune that plays like the heuristic `lowest`.

Arguments: JSON, the keys of its `ready`; whether it answers with `probabilities`; seconds that it takes for a turn; a file to
which it writes what it reads, or a folder for that file, `read`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

RANKS = "A23456789TJQK"


def send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def order(name: str) -> tuple[bool, bool, int, bool]:
    """Passes and silent plays come last, then the lowest rank; of a rank the pot card comes first."""
    return name == "-", name.endswith("~"), RANKS.find(name[0]), len(name) == 1


def answer(message: dict[str, Any], names: list[str]) -> dict[str, Any]:
    chosen = [min(row["legal"], key=lambda action: order(names[action])) for row in message["decisions"]]
    return {"type": "actions", "id": message["id"], "actions": chosen, "comments": [names[action] for action in chosen]}


def probabilities(message: dict[str, Any], names: list[str]) -> dict[str, Any]:
    chosen = answer(message, names)["actions"]
    rows = [[float(one == action) for one in row["legal"]] for row, action in zip(message["decisions"], chosen, strict=True)]
    return {"type": "probabilities", "id": message["id"], "probabilities": rows, "values": [0.5] * len(rows)}


def main() -> None:
    """Answers until it is told to quit."""
    ready, kind, seconds, path = [*map(json.loads, sys.argv[1:4]), *sys.argv[4:], ""][:4]
    names: list[str] = []
    for line in sys.stdin:
        message = json.loads(line)
        if path:
            with open(os.path.join(path, "read") if os.path.isdir(path) else path, "a", encoding="utf-8") as file:
                file.write(line)
        if message["type"] == "hello":
            names = message["actions"]
            send({"type": "ready", "protocol": 1, "id": message["id"], "name": "lowest", "batch": 1024, **ready})
        elif message["type"] == "turn":
            time.sleep(seconds)
            by_probabilities = kind == "probabilities" or message["answer"] == "probabilities"
            send(probabilities(message, names) if by_probabilities else answer(message, names))
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    main()
