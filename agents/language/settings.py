"""Settings of rounds with a player that reads and writes: its texts, who plays the other seats, and the reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.validation import check_name, check_seed
from nainjaune_env.text.answers import RETRIES
from nainjaune_env.text.seat import FORMS, SHORT
from nainjaune_env.text.words import LANGUAGES

from ..base.options import build, check_options, has_type, option, option_types

REGRET, ADVANTAGE, EDGE, CHIPS = REWARDS = ("regret", "advantage", "edge", "chips")


@dataclass(frozen=True)
class TextEnvSettings:
    """What holds for every round; raises ``NainJauneError`` for a value that is not allowed."""

    language: str = option("en", "of the texts: en or fr")
    form: str = option(SHORT, "of the texts: short or long")
    retries: int = option(RETRIES, "answers after one that is no legal move, before the lowest legal move is made", low=0)
    field: str | None = option(None, "the agent in all other seats (None: the game's baseline heuristic)")
    reward: str = option(REGRET, "regret, advantage, edge or chips")
    adviser: str | None = option(None, "the agent that plays the adviser's rounds (None: as nainjaune analyse)")
    choosing: int = option(500, "deals in which the adviser chooses the best move", low=2)
    measuring: int = option(2000, "other deals in which it compares that with the move played", low=2)
    seed: int = option(0, "of the adviser's deals", low=0)

    def __post_init__(self) -> None:
        for name, hint in option_types(type(self)).items():
            if not has_type(value := getattr(self, name), hint):
                raise ConfigError(f"The setting {name!r}: expected {getattr(hint, '__name__', hint)}, not {quoted(value)}.")
        check_options(self)
        check_name("language", self.language, LANGUAGES)
        check_name("form of a text", self.form, FORMS)
        check_name("reward", self.reward, REWARDS)
        check_seed(self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TextEnvSettings:
        """Returns settings with ``values`` over the defaults; raises :class:`ConfigError` for unknown keys and wrong types."""
        if not isinstance(values, Mapping):
            raise ConfigError(f"Settings are an object of JSON, not {quoted(values)}.")
        return build(cls, values)
