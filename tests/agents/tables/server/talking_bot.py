"""A bot that plays the first legal action, with a comment and a value; its argument: after how many turns it ends.

Where there is a file ``healed`` in its folder it goes on for ever.
"""

import json
import os
import sys

READY = {"type": "ready", "protocol": 1, "name": "talker"}
COMMENT = "<b>bold</b>\u202e" + "x" * 400


def main() -> None:
    """Answers until it is told to quit, or its turns are over."""
    left = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 40
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({**READY, "id": message["id"]}), flush=True)
        elif message["type"] == "turn":
            if left == 0 and not os.path.exists("healed"):
                sys.exit(3)
            left -= 1
            (decision,) = message["decisions"]
            said = {"comments": [COMMENT], "values": [-1.25]}
            print(json.dumps({"type": "actions", "id": message["id"], "actions": decision["legal"][:1], **said}), flush=True)
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    main()
