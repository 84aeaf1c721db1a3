"""Settings of rounds with a player that reads and writes: its texts, who plays the other seats, and the reward."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta

from nainjaune_env.core.validation import check_seed
from nainjaune_env.text.answers import RETRIES

from ..base.settings import NonNegativeInt, Settings, convert
from ..players.chat.settings import Form, Language

Reward = Literal["regret", "advantage", "edge", "chips"]
REGRET, ADVANTAGE, EDGE, CHIPS = REWARDS = get_args(Reward)
Deals = Annotated[int, Meta(ge=2)]


class TextEnvSettings(Settings, frozen=True):
    """What holds for every round; raises ``NainJauneError`` for a value that is not allowed."""

    language: Annotated[Language, "of the texts: en or fr"] = "en"
    form: Annotated[Form, "of the texts: short or long"] = "short"
    retries: Annotated[NonNegativeInt, "answers after one that is no legal move, before the lowest legal move is made"] = RETRIES
    field: Annotated[str | None, "the agent in all other seats (None: the game's baseline heuristic)"] = None
    reward: Annotated[Reward, "regret, advantage, edge or chips"] = REGRET
    adviser: Annotated[str | None, "the agent that plays the adviser's rounds (None: as nainjaune analyse)"] = None
    choosing: Annotated[Deals, "deals in which the adviser chooses the best move"] = 500
    measuring: Annotated[Deals, "other deals in which it compares that with the move played"] = 2000
    seed: Annotated[NonNegativeInt, "of the adviser's deals"] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_seed(self.seed)

    @classmethod
    def from_dict(cls, values: object) -> TextEnvSettings:
        """Returns settings with ``values`` over the defaults; raises :class:`ConfigError` for unknown keys and wrong types."""
        return convert(cls, values, "The settings of rounds")
