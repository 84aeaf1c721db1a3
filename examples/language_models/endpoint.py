#!/usr/bin/env python3
"""A chat-completions server whose models are heuristics, to try what is made for language models without one.

``python examples/language_models/endpoint.py 8000`` prints its address; port 0 takes a free one. The model ``closer`` is the
heuristic of that name. It reads nothing but the words of the question (docs/text.md), in English or French, short or long: the
rules, knobs set over a preset among them, and the situations.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from nainjaune_agents.players.heuristics import batasaurus, heuristics_module, nain_jaune
from nainjaune_env import make_setup
from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import sentence
from nainjaune_env.games.batasaurus import language as batasaurus_texts
from nainjaune_env.games.batasaurus.language.seat import BATTLE
from nainjaune_env.games.batasaurus.state import SLOTS, Phase
from nainjaune_env.games.nain_jaune import language as nain_jaune_texts
from nainjaune_env.registry import game_names, get_game
from nainjaune_env.text.seat import FORMS, TextSeat
from nainjaune_env.text.tokens import count_tokens
from nainjaune_env.text.words import LANGUAGES

SUITS = "♠♥♦♣"
"""In the order of the suits of a deck."""


class UnknownModel(Exception):
    """No heuristic of the game has the model's name."""


@dataclass(frozen=True)
class Question:
    """What the messages of a conversation ask for."""

    setup: Setup
    language: str
    situations: tuple[str, ...]
    """All that were shown, the last of which is to be decided."""

    @property
    def head(self) -> tuple[int, str]:
        """The seat to act, and its turn in words."""
        # before it may stand that a move was made for the model
        line = next(line for line in self.situations[-1].splitlines() if line.startswith(f"{self.setup.preset}, "))
        head, _, turn = line.partition(" — ")
        return int(re.findall(r"\d+", head)[-2]), turn

    def parts(self, situation: str) -> dict[str, str]:
        """Returns the lines of one of ``situations``, by their titles."""
        colon = LANGUAGES[self.language].colon
        return dict(line.split(colon, 1) for line in situation.splitlines() if colon in line)

    @property
    def legal(self) -> list[int]:
        """The numbers of the legal moves."""
        listed = re.split(rf"^{LANGUAGES[self.language].moves}", self.situations[-1], flags=re.MULTILINE)[1]
        return [int(number) for number in re.findall(r"(\d+): ", listed)]


@cache
def titles() -> Mapping[str, tuple[Setup, str]]:
    """Returns every setup and language by the first line of their rules."""
    return {
        say.title.format(title=game.title, preset=preset, players=seats): (
            make_setup(game.name, preset, players=seats),
            language,
        )
        for language, say in LANGUAGES.items()
        for game in map(get_game, game_names())
        for preset, sheet in game.presets.items()
        for seats in sheet.players
    }


@lru_cache
def setup_of(rules: str) -> tuple[Setup, str]:
    """Returns the setup with the knobs whose texts come closest to ``rules``, and the language; raises ``LookupError``."""
    said = {*rules.splitlines()}
    setup, language = titles()[next((line for line in said if line in titles()), "")]
    numbers = {*map(int, re.findall(r"\d+", rules))}

    def missed(setup: Setup) -> int:
        return min(len(said ^ {*TextSeat(setup, language=language, form=form).rules.splitlines()}) for form in FORMS)

    fewest, knobs = missed(setup), dict(setup.knobs)
    for knob in 2 * fields(setup.rules):  # twice, since some go only together
        about = knob.metadata
        values = {"word": about["choices"], "flag": (False, True), "number": (None, *sorted(numbers))}[about["kind"]]
        for value in values:
            with contextlib.suppress(RulesError):
                other = make_setup(setup.game.name, setup.preset, players=setup.players, **{**knobs, knob.name: value})
                if (count := missed(other)) < fewest:
                    fewest, knobs, setup = count, dict(other.knobs), other
    return setup, language


def question(messages: Sequence[Mapping[str, Any]]) -> Question:
    """Returns what ``messages`` ask; raises ``LookupError`` where they are not about one of our games."""
    setup, language = setup_of(messages[0]["content"])
    shown = (message["content"] for message in messages if message["role"] == "user")
    return Question(setup, language, tuple(text for text in shown if text.endswith(LANGUAGES[language].ask)))


def said(model: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """Returns the answer of the heuristic ``model``; raises :class:`UnknownModel` if there is none of that name."""
    return f"{LANGUAGES[question(messages).language].keyword}: {move(model, messages)}"


def move(model: str, messages: Sequence[Mapping[str, Any]]) -> int:
    """Returns the number of the move of the heuristic ``model``; raises :class:`UnknownModel` if there is none of that name."""
    asked = question(messages)
    players = {"nain_jaune": nain_jaune_move, "batasaurus": batasaurus_move}
    if model not in getattr(heuristics_module(asked.setup.game.name), "NAMES", ()):
        raise UnknownModel
    return players[asked.setup.game.name](model, asked)


def nain_jaune_move(model: str, asked: Question) -> int:
    """Returns its move in Nain Jaune, at a table put together from the words: by whom a card was played does not matter to it."""
    texts, rules = nain_jaune_texts.LANGUAGES[asked.language], asked.setup.kernel_rules
    say, words = texts.advice, texts.words
    parts = asked.parts(asked.situations[-1])
    table = np.zeros(1, asked.setup.game.table)[0]
    table.seat, turn = seat, _ = asked.head
    table.hand[seat] = cards(parts[say.hand], words.rank_signs, rules.pot_cards)
    table.cards[seat] = int(table.hand[seat]).bit_count()
    table.played[seat] = cards(parts[say.played].strip(say.nothing), words.rank_signs, rules.pot_cards)
    for other, count in re.findall(r"(\d+) (\d+)", parts[say.cards]):
        table.cards[int(other)] = int(count)
    table.pot[:] = [int(chips.split()[1]) for chips in parts[say.pots].split(" · ")]
    for rank, name in enumerate(words.rank_names, 1):
        if turn in {sentence(text.format(rank=name)) for text in (say.follows, say.may_decline)}:
            table.required_rank = rank
    legal = sum(1 << number - 1 for number in asked.legal)
    return 1 + int(nain_jaune.play(nain_jaune.NAMES.index(model), table, rules, legal))


def cards(kinds: str, signs: Sequence[str], pot_cards: Sequence[int]) -> int:
    """Returns a set of cards as bits, from kinds such as ``3 3 7♦``: plain cards get suits that no pot has."""
    cards = 0
    for kind in kinds.split():
        rank = signs.index(kind.rstrip(SUITS))
        in_pots = kind[-1] in SUITS
        suits = [SUITS.index(kind[-1])] if in_pots else range(len(SUITS))
        alike = [suit * len(RANKS) + rank for suit in suits]
        cards |= 1 << next(card for card in alike if in_pots or not (cards >> card & 1 or card in pot_cards))
    return cards


def batasaurus_move(model: str, asked: Question) -> int:
    """Returns its move in Batasaurus; where cards lie, it knows from what it was shown first."""
    say = batasaurus_texts.LANGUAGES[asked.language].advice
    parts, (seat, turn) = asked.parts(asked.situations[-1]), asked.head
    table = np.zeros(1, asked.setup.game.table)[0]
    table.seat, table.phase = seat, Phase.BATTLE if turn == say.turns[BATTLE] else Phase.TRICK
    for shown in re.finditer(r"(\d+) [^·]*\((\d+)\)", parts[say.shown]):
        table.shown[int(shown[1])] = int(shown[2])
    for unshown in parts[say.unshown].split(" · "):
        other, *values = map(int, re.findall(r"\d+", unshown))
        table.held[other] = sum(1 << value - 1 for value in values)
    known = np.zeros(SLOTS, np.uint8)
    first = asked.parts(asked.situations[0])[say.mine]
    seen = [int(value) for value in re.findall(r"\((\d+)\)", first)]
    by_slot = first.startswith(say.slot.split("{")[0])  # else cards are always seen, and the number of a move is the value
    for place, value in enumerate(seen):
        known[place if by_slot else value - 1] = value
    legal = sum(1 << number - (not by_slot) for number in asked.legal)
    which = batasaurus.NAMES.index(model)
    return int(batasaurus.choose(which, table, asked.setup.kernel_rules, legal, known)) + (not by_slot)


def completion(model: str, content: Any, usage: tuple[int, int] | None, reason: str = "stop") -> dict[str, Any]:
    """Returns the answer ``content`` as a chat completion; ``usage`` are the tokens of the question, and of the answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": reason}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": int(time.time()), "model": model, "choices": [choice]}
    if usage is not None:
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        answer["usage"] = dict(zip(names, (*usage, sum(usage)), strict=True))
    return answer


class Handler(BaseHTTPRequestHandler):
    """Answers one request after another of a connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words: Any) -> None:
        """Writes nothing."""

    def do_POST(self) -> None:
        """Answers a request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            self.answer(body)
        except (ValueError, LookupError, TypeError, AttributeError):
            self.fail(400, "Expected the messages of one of our games.")

    def answer(self, body: bytes) -> None:
        """Answers the request ``body``."""
        asked = json.loads(body)
        try:
            content = said(asked["model"], asked["messages"])
        except UnknownModel:
            self.fail(404, f"The model {asked['model']} does not exist.")
        else:
            self.send_json(200, completion(asked["model"], content, (count_tokens(body.decode()), count_tokens(content))))

    def fail(self, status: int, message: str, **headers: str) -> None:
        """Answers with an error."""
        self.send_json(status, {"error": {"message": message}}, **headers)

    def send_json(self, status: int, value: Any, **headers: str) -> None:
        """Answers with a JSON value."""
        self.send(status, json.dumps(value).encode(), Content_Type="application/json", **headers)

    def send(self, status: int, body: bytes, **headers: str) -> None:
        """Answers with a body."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Writes nothing of a client that has left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int, help="0: a free one")
    server = Server(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
