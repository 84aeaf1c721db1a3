"""A bot for Nain Jaune that plays like the heuristic `lowest`; its argument is JSON, the keys of its `ready`."""

from __future__ import annotations

import json
import sys
from typing import Any

RANKS = "A23456789TJQK"


def send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def order(name: str) -> tuple[bool, bool, int, bool]:
    """Passes and silent plays come last, then the lowest rank; of a rank the pot card comes first."""
    return name == "-", name.endswith("~"), RANKS.find(name[0]), len(name) == 1


def answer(message: dict[str, Any], names: list[str]) -> dict[str, Any]:
    chosen = [min(row["legal"], key=lambda action: order(names[action])) for row in message["decisions"]]
    return {"type": "actions", "id": message["id"], "actions": chosen}


def main() -> None:
    """Answers until it is told to quit."""
    ready = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    names: list[str] = []
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            names = message["actions"]
            send({"type": "ready", "protocol": 1, "id": message["id"], "name": "lowest", "batch": 1024, **ready})
        elif message["type"] == "turn":
            send(answer(message, names))
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    main()
