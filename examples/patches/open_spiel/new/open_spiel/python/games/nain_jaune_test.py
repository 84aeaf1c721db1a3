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
"""Tests for Python Nain Jaune."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from open_spiel.python.games import nain_jaune  # pylint: disable=unused-import
from open_spiel.python.games import nain_jaune_rules as rules
from open_spiel.python.observation import make_observation
import pyspiel


def hand_of(text):
  """Returns how many cards of each kind are in a text such as "A A 7d"."""
  return [text.split().count(kind) for kind in rules.KINDS]


def play(round_, moves):
  """Plays moves by name; each must be legal."""
  for move in moves.split():
    action = rules.PASS if move == "pass" else rules.KINDS.index(move)
    assert action in round_.legal_actions(), move
    round_.play(action)


class NainJauneTest(parameterized.TestCase):

  @parameterized.parameters(2, 3, 4)
  def test_game_from_cc(self, players):
    """Runs our standard game tests, checking API consistency."""
    game = pyspiel.load_game("python_nain_jaune_djeco", {"players": players})
    pyspiel.random_sim_test(game, num_sims=10, serialize=False, verbose=False)

  @parameterized.parameters(2, 3, 4)
  def test_chips_are_conserved_and_within_bounds(self, players):
    game = pyspiel.load_game("python_nain_jaune_djeco", {"players": players})
    rng = np.random.RandomState(players)
    for _ in range(50):
      state = game.new_initial_state()
      while not state.is_terminal():
        if state.is_chance_node():
          kinds, probabilities = zip(*state.chance_outcomes())
          self.assertAlmostEqual(sum(probabilities), 1)
          state.apply_action(rng.choice(kinds, p=probabilities))
        else:
          state.apply_action(rng.choice(state.legal_actions()))
      self.assertEqual(sum(state.returns()) + sum(state.round.pots), 0)
      self.assertLessEqual(max(state.returns()), game.max_utility())
      self.assertGreaterEqual(min(state.returns()), game.min_utility())
      self.assertLessEqual(state.move_number(), 48 + game.max_game_length())

  def test_other_numbers_of_players_are_refused(self):
    with self.assertRaises(ValueError):
      nain_jaune.NainJauneGame({"players": 5})

  def test_grand_opera_takes_all_pots(self):
    now = rules.Round([hand_of("Q K 7d"), hand_of("A A"), hand_of("2 2")])
    play(now, "Q K 7d")
    self.assertEqual(now.winner, 0)
    # 3 x 15 chips in the pots, of which 15 are the winner's; 4 cards are paid.
    self.assertEqual(now.chips, [45 - 15 + 4, -15 - 2, -15 - 2])
    self.assertEqual(now.pots, [0] * 5)

  def test_pot_cards_capture_and_a_pass_spoils_the_grand_opera(self):
    now = rules.Round([hand_of("6 A"), hand_of("7d 8"), hand_of("3 4")])
    play(now, "6 pass 7d 8")
    self.assertEqual(now.winner, 1)
    self.assertEqual(now.chips[1], -15 + 45 + 3)
    now = rules.Round([hand_of("6 A"), hand_of("7d 2"), hand_of("3 4")])
    play(now, "6 pass 7d pass pass pass 2")
    self.assertEqual(now.winner, 1)
    self.assertEqual(now.chips[1], -15 + 15 + 3)
    self.assertEqual(now.pots, [3, 6, 9, 12, 0])

  def test_who_takes_over_may_decline_and_who_goes_on_may_not(self):
    now = rules.Round([hand_of("6 7 A"), hand_of("8 2"), hand_of("8 4")])
    play(now, "6")
    self.assertEqual(now.legal_actions(), [6])
    play(now, "7 pass")
    self.assertEqual(now.legal_actions(), [7, rules.PASS])
    play(now, "pass pass")  # a blocked circle: the lead is player 0's again
    self.assertEqual((now.player, now.required), (0, 0))
    self.assertEqual(now.legal_actions(), [0])

  def test_observations_show_nothing_hidden(self):
    """What a player observes stays when the others exchange their cards."""
    game = pyspiel.load_game("python_nain_jaune_djeco")
    one, other = game.new_initial_state(), game.new_initial_state()
    deck = [k for k, count in enumerate(rules.DECK) for _ in range(count)]
    np.random.RandomState(1).shuffle(deck)
    for card in deck[:45]:
      one.apply_action(card)
    for card in deck[:15] + deck[30:45] + deck[15:30]:
      other.apply_action(card)
    for recall in (False, True):
      kind = pyspiel.IIGObservationType(perfect_recall=recall)
      observation = make_observation(game, kind)
      self.assertEqual(
          observation.string_from(one, 0), observation.string_from(other, 0)
      )
      self.assertNotEqual(
          observation.string_from(one, 1), observation.string_from(other, 1)
      )
    self.assertEqual(one.observation_tensor(0), other.observation_tensor(0))


if __name__ == "__main__":
  absltest.main()
