import random, re
from typing import Any, Dict, Optional, Tuple

import textarena as ta
from textarena.envs.NainJaune.rules import ANTES, DECK, HAND_SIZES, KINDS, PASS, POT_CARDS, RANKS, Round, action_name


class NainJauneEnv(ta.Env):
    """A round of the French card game Nain Jaune. Moves without an alternative are made by the environment."""

    def reset(self, num_players: int, seed: Optional[int] = None):
        if num_players not in HAND_SIZES: raise ValueError(f"Nain Jaune is for 2 to 4 players, not {num_players}")
        self.state = ta.FFAMultiPlayerState(num_players=num_players, seed=seed)
        deck = [kind for kind, count in enumerate(DECK) for _ in range(count)]
        random.shuffle(deck)
        size = HAND_SIZES[num_players]
        dealt = [deck[pid * size : (pid + 1) * size] for pid in range(num_players)]
        self.state.reset(game_state={"round": Round([[cards.count(kind) for kind in range(PASS)] for cards in dealt])}, player_prompt_function=self._prompt)
        self._advance()

    def _prompt(self, player_id: int, game_state: Dict[str, Any]) -> str:
        antes = ", ".join(f"{card} ({ante})" for card, ante in zip(POT_CARDS, ANTES))
        return (
            f"You are Player {player_id} in a round of Nain Jaune, a card game with {self.state.num_players} players.\n"
            f"- Ranks ascend from A, 2 to 9, T (ten), J, Q to K; suits only matter for five cards that have a pot. Everybody has paid into each: {antes}. Whoever plays one of these cards takes its pot.\n"
            "- With the lead you play any card. Then you must go on with the next rank as long as you can, whatever its suit. When you stop, the next player may go on with that rank or pass, and so on.\n"
            "- After a King, or if everybody passes, whoever played the last card leads again.\n"
            "- The round ends when a player has no cards. Every other player pays them 1 chip for each card left in hand. A winner who never passed takes all pots, too. Cards that were not dealt stay hidden.\n"
            "- You are ranked by the chips that you win.\n"
            "Answer with one of the moves that are listed at your turn, in brackets, such as '[5]', '[7d]' or '[pass]'.\n"
        )

    def step(self, action: str) -> Tuple[bool, ta.Info]:
        now, pid = self.state.game_state["round"], self.state.current_player_id
        # Only the player gets their own words back: they may name cards that the others must not know.
        self.state.add_observation(from_id=pid, to_id=pid, message=action, observation_type=ta.ObservationType.PLAYER_ACTION)
        legal = {action_name(move).lower(): move for move in now.legal_actions()}
        said = {text.strip().lower() for text in re.findall(r"\[([^\[\]]*)\]", action)}
        if len(said) == 1 and said <= legal.keys():
            self._play(legal[said.pop()])
            self._advance()
        elif self.state.set_invalid_move(f"Give exactly one of these moves in brackets: {self._moves()}."):
            rewards = {player: -1 if player == pid else 0 for player in range(self.state.num_players)}
            self.state.set_game_outcome(reward_dict=rewards, reason=f"Player {pid} made an invalid move.")
        return self.state.step(rotate_player=False)

    def _play(self, move: int):
        now = self.state.game_state["round"]
        pid, pots = now.player, list(now.pots)
        now.play(move)
        text = f"Player {pid} passes." if move == PASS else f"Player {pid} plays {action_name(move)}."
        if move >= len(RANKS) and move != PASS: text += f" They take {pots[move - len(RANKS)]} chips from its pot."
        self.state.add_observation(message=text, observation_type=ta.ObservationType.GAME_ACTION_DESCRIPTION)

    def _advance(self):
        """Plays moves without an alternative; then asks the next player, or ends the game."""
        now = self.state.game_state["round"]
        while len(now.legal_actions()) == 1: self._play(now.legal_actions()[0])
        if now.winner is not None:
            worse = [sum(other < chips for other in now.chips) for chips in now.chips]
            better = [sum(other > chips for other in now.chips) for chips in now.chips]
            rewards = {pid: (worse[pid] - better[pid]) / (self.state.num_players - 1) for pid in range(self.state.num_players)}
            self.state.set_game_outcome(reward_dict=rewards, reason=f"Player {now.winner} has no cards left. Chips won or lost: {now.chips}")
            return
        self.state.manually_set_current_player_id(now.player, force=True)
        self.state.add_observation(to_id=now.player, message=self._board(), observation_type=ta.ObservationType.GAME_BOARD)

    def _moves(self) -> str:
        return ", ".join(f"[{action_name(move)}]" for move in self.state.game_state["round"].legal_actions())

    def _board(self) -> str:
        now = self.state.game_state["round"]
        hand = " ".join(name for name, count in zip(KINDS, now.hands[now.player]) for _ in range(count))
        required = f"the next rank is {RANKS[now.required - 1]}" if now.required else "you have the lead"
        pots = ", ".join(f"{card} {chips}" for card, chips in zip(POT_CARDS, now.pots))
        left = ", ".join(f"Player {pid} {sum(cards)}" for pid, cards in enumerate(now.hands))
        return f"Your hand: {hand}\nPots: {pots}\nCards left: {left}\nYour turn: {required}. Your moves: {self._moves()}"
