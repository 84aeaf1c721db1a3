"""Nain Jaune: a round is dealt from the episode's seed and replayed from its history at every step."""

import json
import random
from os import path

from kaggle_environments.envs.nain_jaune.rules import DECK, HAND_SIZES, PASS, POT_CARDS, RANKS, Round, action_name
from kaggle_environments.utils import resolve_episode_seed

dirpath = path.dirname(__file__)
with open(path.join(dirpath, "nain_jaune.json"), encoding="utf-8") as file:
    specification = json.load(file)


def round_of(players, seed, history):
    """Returns the round that was dealt from the seed, after the plays of its history."""
    deck = [kind for kind, count in enumerate(DECK) for _ in range(count)]
    random.Random(seed).shuffle(deck)
    size = HAND_SIZES[players]
    hands = [deck[seat * size : (seat + 1) * size] for seat in range(players)]
    now = Round([[hand.count(kind) for kind in range(PASS)] for hand in hands])
    for _, action in history:
        now.play(action)
    return now


def interpreter(state, env):
    history = state[0].observation.history
    begins = not state[0].observation.pots
    if env.done and not begins:
        return state
    # The seed is scrubbed from the configuration, as it tells all hands.
    now = round_of(len(state), resolve_episode_seed(env), history)
    if not begins:
        actor = state[now.player]
        if actor.status == "ACTIVE" and actor.action not in now.legal_actions():
            actor.status = "INVALID"
        if actor.status != "ACTIVE":  # the round cannot go on without a player
            for agent in state:
                if agent is not actor:
                    agent.status = "DONE"
            return state
        now.play(actor.action)
    legal = now.legal_actions()
    for seat, agent in enumerate(state):
        acts = now.winner is None and seat == now.player
        agent.observation.player = seat
        agent.observation.hand = now.hands[seat]
        agent.observation.legalActions = legal if acts else []
        if now.winner is not None:
            agent.status = "DONE"
            agent.reward = now.chips[seat]
        else:
            agent.status = "ACTIVE" if acts else "INACTIVE"
    shared = state[0].observation
    shared.currentPlayer = now.player
    shared.requiredRank = now.required
    shared.pots = now.pots
    shared.cardsLeft = [sum(hand) for hand in now.hands]
    shared.history = [list(play) for play in now.history]
    return state


def renderer(state, env):
    shared = state[0].observation
    pots = ", ".join(f"{card} {chips}" for card, chips in zip(POT_CARDS, shared.pots))
    plays = ", ".join(f"{seat}: {action_name(action)}" for seat, action in shared.history)
    rank = RANKS[shared.requiredRank - 1] if shared.requiredRank else "any"
    return f"pots: {pots}\ncards left: {shared.cardsLeft}\nplays: {plays}\nseat {shared.currentPlayer}, rank {rank}\n"


def html_renderer():
    htmlpath = path.join(dirpath, "visualizer", "default", "dist", "index.html")
    if path.exists(htmlpath):
        with open(htmlpath, encoding="utf-8") as file:
            return file.read()
    return ""


def random_agent(observation):
    return random.choice(observation.legalActions)


def lowest_agent(observation):
    """Plays its lowest card, and never declines."""
    return observation.legalActions[0]


agents = {"random": random_agent, "lowest": lowest_agent}
