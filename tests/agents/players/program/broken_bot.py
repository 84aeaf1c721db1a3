"""A bot with one mistake: ``python broken_bot.py MISTAKE READY``; without one, it plays the first legal action.

``READY`` is JSON: keys of its ``ready``.
"""

import json
import random
import sys
import time

MISTAKE = sys.argv[1]
READY = json.loads(sys.argv[2])
KNOWN = {
    "hello": {"type", "protocol", "id", "game", "preset", "players", "rules", "title", "rules_text", "unit", "actions", "layout",
              "fingerprint", "seconds"},
    "turn": {"type", "id", "answer", "seconds", "decisions"},
}  # fmt: skip


def chosen(place, row, count):
    legal = row["legal"]
    if MISTAKE == "place":
        return 0 if legal[0] != 0 else 62
    if MISTAKE == "random":
        return random.choice(legal)
    if MISTAKE == "order":
        return legal[place * len(legal) // count]
    if MISTAKE == "started":
        return random.Random(f"{STARTED} {row}").choice(legal)
    return legal[0]


def answer(message):
    rows = message["decisions"]
    if message["answer"] == "probabilities" or MISTAKE == "half":
        each = 0.5 if MISTAKE == "half" else 1.0
        share = [
            [each * (random.random() if MISTAKE == "drawn" else 1) / len(row["legal"]) for row_ in row["legal"]] for row in rows
        ]
        if MISTAKE == "drawn":
            share = [[value / sum(row) for value in row] for row in share]
        return {"type": "probabilities", "probabilities": share}
    actions = [chosen(place, row, len(rows)) for place, row in enumerate(rows)]
    return {"type": "actions", "actions": actions[:1] if MISTAKE == "one" else actions}


def say(message):
    print(json.dumps(message), flush=True)


def main():
    turns = 0
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if MISTAKE == "strict" and set(message) - KNOWN.get(kind, set(message)):
            raise ValueError("what is this field?")
        if kind == "hello" and MISTAKE == "refuse":
            say({"type": "refuse", "id": 0, "reason": "I am shy."})
        elif kind == "hello" and MISTAKE == "debug":
            print("Loading the weights...", flush=True)
        elif kind == "hello" and MISTAKE != "silent":
            given = {"zero": 1}.get(MISTAKE, message["id"])
            say({"type": "ready", "protocol": 1, "name": "broken", **({} if MISTAKE == "no id" else {"id": given}), **READY})
        elif kind == "turn":
            turns += 1
            if MISTAKE == "dies" and turns > 20:
                sys.exit(3)
            if MISTAKE == "long" and turns > 1:
                say({"comment": " " * (1 << 24)})
            say({**answer(message), "id": 1 if MISTAKE == "stuck" else message["id"]})
        elif kind == "stop" and MISTAKE == "stops":
            return
        elif kind == "quit" and MISTAKE == "stays" and turns == 1:
            time.sleep(60)
        elif kind == "quit" and MISTAKE == "polite":
            say({"type": "bye"})
        elif kind == "quit":
            return
        elif kind not in ("hello", "turn", "stop") and MISTAKE == "types":
            raise ValueError(f"what is {kind}?")
    while MISTAKE == "endless":
        time.sleep(1)


STARTED = random.random()
main()
