"""A bot that plays the highest legal actions until a turn in which it does something else.

Arguments: what it does, at which turn from 1 on (0: at hello), and JSON, keys of its `ready`. With `any:SEED:FILE` it does
anything at any turn, one in eight; `FILE` counts its starts, so that it does not always do the same.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import lowest_bot

FOREVER = 600.0


def write_forever(stream: int, text: bytes) -> None:
    while True:
        os.write(stream, text)


def leave_one() -> None:
    """A grandchild in a session of its own keeps the pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(FOREVER)
        os._exit(0)
    os.wait()


def fork_and_end() -> None:
    leave_one()
    sys.exit(4)


def fork_and_stay() -> None:
    leave_one()
    time.sleep(FOREVER)


def spawn() -> None:
    """Processes in sessions of their own, each started by the one before, which ends; they end by themselves after a while."""
    if os.fork() == 0:
        for _ in range(500):
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(0.01)
        os._exit(0)
    time.sleep(FOREVER)


def ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(FOREVER)


def freeze() -> None:
    """Stops the process that is to end this one."""
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(FOREVER)


def close_and_stay() -> None:
    os.close(1)
    time.sleep(FOREVER)


def complain() -> None:
    print("a complaint", file=sys.stderr)
    raise RuntimeError("the reason")


def say(**message: Any) -> Callable[[], None]:
    return lambda: lowest_bot.send(message)


DEEDS: dict[str, Callable[[], object]] = {
    "hang": lambda: time.sleep(FOREVER),
    "delay": lambda: time.sleep(0.3),
    "ignore": ignore_signals,
    "freeze": freeze,
    "exit": lambda: sys.exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "raise": complain,
    "fork": fork_and_end,
    "leave": fork_and_stay,
    "spawn": spawn,
    "half": lambda: os.write(1, b'{"type": "actions", "id"') and sys.exit(5),
    "half and stay": lambda: os.write(1, b'{"type": "actions", "id"') and time.sleep(FOREVER),
    "surrogate": lambda: os.write(1, b'{"type": "actions", "id": 2, "actions": [1], "comments": ["\\ud800"]}\n'),
    "close": close_and_stay,
    "line": lambda: write_forever(1, b"x" * 65536),
    "lines": lambda: write_forever(1, b'{"type": "news"}\n' * 100),
    "log": lambda: write_forever(2, b"noise\n" * 1000),
    "words": lambda: print("hello world", flush=True),
    "number": lambda: print(17, flush=True),
    "nested": lambda: print("[" * 100_000, flush=True),
    "bytes": lambda: os.write(1, b"\xff\xfe\n"),
    "no type": say(id=0),
}


ANSWERS = (
    "no actions", "too few", "texts", "flags", "floats", "huge", "negative", "illegal", "long comment", "wrong id"
)  # fmt: skip


def chance(seed: str, path: str) -> tuple[random.Random, bool]:
    """Another generator for each start, and whether this is the first one, which is refused if it does not greet."""
    with open(path, "a+", encoding="utf-8") as file:
        file.write("x")
        return random.Random(f"{seed} {file.tell()}"), file.tell() == 1


def main() -> None:
    deed, at, ready = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    rng, first = chance(*deed.split(":")[1:]) if deed.startswith("any:") else (None, False)
    turns = 0
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        turns += kind == "turn"
        if rng is not None:
            now = rng.random() < 1 / 8 and not (first and kind == "hello")
            deed, at = rng.choice([*(one for one in DEEDS if one != "freeze"), *ANSWERS]), turns if now else -1
        if kind in ("hello", "turn") and turns == at:
            rows = message.get("decisions", [])
            count, right = len(rows), [row["legal"][0] for row in rows]
            answers: dict[str, Any] = {
                "no actions": {},
                "too few": {"actions": right[1:]},
                "texts": {"actions": ["3"] * count},
                "flags": {"actions": [True] * count},
                "floats": {"actions": [3.0] * count},
                "huge": {"actions": [10**30] * count},
                "negative": {"actions": [-1] * count},
                "illegal": {"actions": [next(a for a in range(64) if a not in row["legal"]) for row in rows]},
                "long comment": {"actions": right, "comments": ["x" * 501] * count},
            }
            if deed in answers:
                lowest_bot.send({"type": "actions", "id": message["id"], **answers[deed]})
            elif deed == "wrong id":
                lowest_bot.send({"type": "actions", "id": message["id"] + 1, "actions": [0] * count})
            else:
                DEEDS[deed]()
        elif kind == "hello":
            lowest_bot.send({"type": "ready", "protocol": 1, "id": message["id"], "name": "faulty", "batch": 1024, **ready})
        elif kind == "turn":
            lowest_bot.send(
                {"type": "actions", "id": message["id"], "actions": [row["legal"][-1] for row in message["decisions"]]}
            )
        elif kind == "quit":
            return


if __name__ == "__main__":
    main()
