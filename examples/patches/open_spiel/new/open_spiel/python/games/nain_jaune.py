# Copyright 2026 DeepMind Technologies Limited
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# Lint as python3
"""A round of Nain Jaune (2 to 4 players) implemented in Python.

Chance deals kinds of cards, as suits do not matter: first the hand of player 0,
then those of the others. What is not dealt stays hidden. A return is what a
player won or lost in chips; pots may keep chips, so it is no zero-sum game.
"""

import numpy as np

from open_spiel.python.games import nain_jaune_rules as rules
import pyspiel

_DEFAULT_PLAYERS = 3
_MAX_PLAYERS = max(rules.HAND_SIZES)

_GAME_TYPE = pyspiel.GameType(
    short_name="python_nain_jaune_djeco",
    long_name="Python Nain Jaune (rules of DJECO)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.GENERAL_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=_MAX_PLAYERS,
    min_num_players=min(rules.HAND_SIZES),
    provides_information_state_string=True,
    # The history is too long for a tensor of fixed size.
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification={"players": _DEFAULT_PLAYERS},
)


class NainJauneGame(pyspiel.Game):
  """One round of Nain Jaune."""

  def __init__(self, params=None):
    params = params or {}
    players = params.get("players", _DEFAULT_PLAYERS)
    if players not in rules.HAND_SIZES:
      raise ValueError(
          f"Nain Jaune is for {sorted(rules.HAND_SIZES)} players, not {players}"
      )
    hand_size = rules.HAND_SIZES[players]
    antes = sum(rules.ANTES)
    super().__init__(
        _GAME_TYPE,
        pyspiel.GameInfo(
            num_distinct_actions=rules.NUM_ACTIONS,
            max_chance_outcomes=len(rules.KINDS),
            num_players=players,
            min_utility=-float(antes + hand_size),
            max_utility=float((antes + hand_size) * (players - 1)),
            max_game_length=rules.longest_round(players),
        ),
        params,
    )

  def new_initial_state(self):
    """Returns a state before the deal."""
    return NainJauneState(self)

  def make_py_observer(self, iig_obs_type=None, params=None):
    """Returns an object used for observing game state."""
    return NainJauneObserver(
        iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False),
        self.num_players(),
        params,
    )


class NainJauneState(pyspiel.State):
  """A state of a round: first the deal, then the play."""

  def __init__(self, game):
    """Constructor; should only be called by Game.new_initial_state."""
    super().__init__(game)
    self.undealt = list(rules.DECK)
    self.hands = [[0] * len(rules.KINDS) for _ in range(game.num_players())]
    self.hand_size = rules.HAND_SIZES[game.num_players()]
    self.round = None

  def current_player(self):
    """Returns id of the next player to move, or TERMINAL if game is over."""
    if self.round is None:
      return pyspiel.PlayerId.CHANCE
    if self.is_terminal():
      return pyspiel.PlayerId.TERMINAL
    return self.round.player

  def chance_outcomes(self):
    """Returns the kinds that can be dealt next and their probabilities."""
    assert self.is_chance_node()
    cards = sum(self.undealt)
    return [(k, n / cards) for k, n in enumerate(self.undealt) if n]

  def _legal_actions(self, player):
    """Returns a list of legal actions, sorted in ascending order."""
    assert player == self.round.player
    return self.round.legal_actions()

  def _apply_action(self, action):
    """Deals a card, or plays an action of the current player."""
    if self.round is not None:
      self.round.play(action)
      return
    hand = next(hand for hand in self.hands if sum(hand) < self.hand_size)
    hand[action] += 1
    self.undealt[action] -= 1
    if sum(self.hands[-1]) == self.hand_size:
      self.round = rules.Round(self.hands)

  def _action_to_string(self, player, action):
    """Action -> string."""
    name = rules.action_name(action)
    return f"deal {name}" if player == pyspiel.PlayerId.CHANCE else name

  def is_terminal(self):
    """Returns True if the game is over."""
    return self.round is not None and self.round.winner is not None

  def returns(self):
    """Returns the chips won so far; zeros before the end."""
    if not self.is_terminal():
      return [0.0] * self.num_players()
    return [float(chips) for chips in self.round.chips]

  def __str__(self):
    """Returns all hands and all plays."""
    hands = self.hands if self.round is None else self.round.hands
    lines = [f"p{p}: {_hand_string(hand)}" for p, hand in enumerate(hands)]
    if self.round is not None:
      lines.append(_public_string(self.round))
      lines.append(_history_string(self.round))
    return "\n".join(lines)


class NainJauneObserver:
  """Observer, conforming to the PyObserver interface (see observation.py)."""

  def __init__(self, iig_obs_type, players, params):
    """Initializes an empty observation tensor."""
    if params:
      raise ValueError(f"Observation parameters not supported; passed {params}")
    self._recall = iig_obs_type.perfect_recall
    self._public = iig_obs_type.public_info
    self._private = (
        iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
    )
    kinds = len(rules.KINDS)
    pieces = [("player", (players,))]
    if self._private:
      pieces.append(("hand", (kinds,)))
    if self._public:
      pieces += [
          ("current_player", (players,)),
          ("last_player", (players,)),
          ("required_rank", (rules.KING + 1,)),
          ("pots", (len(rules.ANTES),)),
          ("cards_left", (players,)),
          ("played", (players, kinds)),
          ("has_passed", (players,)),
      ]
    sizes = [int(np.prod(shape)) for _, shape in pieces]
    self.tensor = None if self._recall else np.zeros(sum(sizes), np.float32)
    self.dict = {}
    if self._recall:
      return
    start = 0
    for (name, shape), size in zip(pieces, sizes):
      self.dict[name] = self.tensor[start : start + size].reshape(shape)
      start += size

  def set_from(self, state, player):
    """Updates `tensor` and `dict` to reflect `state` from PoV of `player`."""
    if self._recall:
      raise ValueError(
          "All that a player has seen has no tensor, only a string"
      )
    self.tensor.fill(0)
    self.dict["player"][player] = 1
    now = state.round
    if self._private:
      hands = state.hands if now is None else now.hands
      self.dict["hand"][:] = hands[player]
    if self._public and now is not None:
      self.dict["current_player"][now.player] = 1
      self.dict["last_player"][now.last] = 1
      self.dict["required_rank"][now.required] = 1
      self.dict["pots"][:] = now.pots
      self.dict["cards_left"][:] = [sum(hand) for hand in now.hands]
      for seat, action in now.history:
        if action != rules.PASS:
          self.dict["played"][seat, action] += 1
      self.dict["has_passed"][list(now.have_passed)] = 1

  def string_from(self, state, player):
    """Observation of `state` from the PoV of `player`, as a string."""
    parts = [f"p{player}"]
    now = state.round
    if self._private:
      # With recall the hand as dealt: what was played since is in the history.
      hands = state.hands if now is None or self._recall else now.hands
      parts.append(f"hand: {_hand_string(hands[player])}")
    if self._public and now is not None:
      parts.append(
          _history_string(now) if self._recall else _public_string(now)
      )
    return " | ".join(parts)


def _hand_string(hand):
  """Returns the cards of a hand, such as "A A 2 7d"."""
  names = zip(rules.KINDS, hand)
  return " ".join(name for name, count in names for _ in range(count))


def _public_string(now):
  """Returns what everybody knows of a round but for its history."""
  rank = rules.RANKS[now.required - 1] if now.required else "any"
  pots = zip(rules.POT_CARDS, now.pots)
  played = [[0] * len(rules.KINDS) for _ in now.hands]
  for seat, action in now.history:
    if action != rules.PASS:
      played[seat][action] += 1
  return " | ".join([
      f"to act: p{now.player}, last: p{now.last}, rank: {rank}",
      "pots: " + " ".join(f"{card} {chips}" for card, chips in pots),
      f"cards left: {[sum(hand) for hand in now.hands]}",
      f"played: {[_hand_string(hand) for hand in played]}",
      f"passed: {sorted(now.have_passed)}",
  ])


def _history_string(now):
  """Returns all plays of a round."""
  plays = [f"p{seat} {rules.action_name(a)}" for seat, a in now.history]
  return "plays: " + ", ".join(plays)


# Register the game with the OpenSpiel library

pyspiel.register_game(_GAME_TYPE, NainJauneGame)
