#!/usr/bin/env python3
"""A bot in Python, without any package: Nain Jaune's heuristic `longest` leads the longest run of its hand, by named features."""

import json
import sys

RANKS = "A23456789TJQK"


def run_length(held, rank):
    """Returns how many ranks from ``rank`` on the hand has without a gap."""
    length = 0
    while rank + length < 13 and held[rank + length]:
        length += 1
    return length


class Bot:
    def __init__(self, hello):
        self.names = hello["actions"]  # "5" a plain card, "Td" a pot card, "Td~" the same played silently, "-" a pass
        self.pots = [RANKS.index(name[0]) for name in self.names if len(name) == 2]

    def choose(self, decision):
        """Returns an action and a comment."""
        features = decision["features"]
        held = [count > 0 for count in features["hand"]]
        for rank, has in zip(self.pots, features["hand_pots"], strict=True):
            held[rank] = held[rank] or has

        def preference(action):
            name = self.names[action]
            rank = RANKS.find(name[0])  # -1 for a pass
            return (rank >= 0, len(name) < 3, run_length(held, rank) if rank >= 0 else 0, -rank, len(name))

        best = max(decision["legal"], key=preference)
        length = preference(best)[2]
        return best, f"This begins a run of {length}." if length > 1 else None


def main():
    bot = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello" and message["game"] != "nain_jaune":
            answer = {"type": "refuse", "id": message["id"], "reason": "I play Nain Jaune only."}
        elif message["type"] == "hello":
            bot = Bot(message)
            answer = {"type": "ready", "protocol": 1, "id": message["id"], "name": "longest in Python"}
            answer |= {"wants": ["features"], "batch": 1024, "deterministic": True}
        elif message["type"] == "turn":
            actions, comments = zip(*map(bot.choose, message["decisions"]), strict=True)
            answer = {"type": "actions", "id": message["id"], "actions": actions, "comments": comments}
        elif message["type"] == "quit":
            return
        else:
            continue
        print(json.dumps(answer), flush=True)


main()
