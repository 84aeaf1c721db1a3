"""A bot for Nain Jaune that plays like the heuristic `lowest`; arguments are JSON: keys of its `ready`."""

import json
import sys

READY = {"batch": 1024, "deterministic": True, **json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}")}
RANKS = "A23456789TJQK"


def main() -> None:
    """Answers until it is told to quit."""
    names: list[str] = []
    for line in sys.stdin:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                names = message["actions"]
                print(json.dumps({"type": "ready", "protocol": 1, "id": message["id"], "name": "lowest", **READY}), flush=True)
            case "turn":
                chosen = [min(row["legal"], key=lambda action: order(names[action])) for row in message["decisions"]]
                print(json.dumps({"type": "actions", "id": message["id"], "actions": chosen}), flush=True)
            case "quit":
                return


def order(name: str) -> tuple[bool, bool, int, bool]:
    """Declines and silent plays come last, then the lowest rank; of a rank the pot card comes first."""
    return name == "-", name.endswith("~"), RANKS.find(name[0]), len(name) == 1


main()
