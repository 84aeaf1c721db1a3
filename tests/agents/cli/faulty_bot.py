"""A bot that plays the first legal action, until it has made as many decisions as its argument says; then it ends.

Where there is a file ``healed`` in its folder it goes on for ever.
"""

import json
import os
import sys

READY = {"type": "ready", "protocol": 1, "name": "faulty"}


def main() -> None:
    """Answers until it is told to quit."""
    left = int(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({**READY, "id": message["id"]}), flush=True)
        elif message["type"] == "turn":
            if left == 0 and not os.path.exists("healed"):
                sys.exit(3)
            left -= 1
            (decision,) = message["decisions"]
            print(json.dumps({"type": "actions", "id": message["id"], "actions": decision["legal"][:1]}), flush=True)
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    main()
