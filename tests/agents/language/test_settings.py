"""Settings are JSON values, and refused with a sentence."""

from __future__ import annotations

import json
import re

import pytest

from nainjaune_agents.language.settings import EDGE, TextEnvSettings
from nainjaune_env.core.errors import ConfigError, NainJauneError


def test_settings_are_json_values() -> None:
    settings = TextEnvSettings(language="fr", form="long", retries=0, field="lowest", reward=EDGE, seed=7)
    assert TextEnvSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert TextEnvSettings.from_dict({}) == TextEnvSettings()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ([], "The settings of rounds: expected keys and values, not []."),
        ({"lnguage": "fr"}, "The settings of rounds: Unknown key 'lnguage'. Did you mean 'language'?"),
        ({"language": "de"}, "The settings of rounds: Unknown language 'de'. Did you mean 'en'? Valid: en, fr."),
        ({"reward": "wins"}, "The settings of rounds: Unknown reward 'wins'. Valid: regret, advantage, edge, chips."),
        ({"retries": True}, "The settings of rounds: expected 'retries' to be a whole number, at least 0, not True."),
        ({"measuring": 1}, "The settings of rounds: expected 'measuring' to be a whole number, at least 2, not 1."),
        ({"field": 3}, "The settings of rounds: expected 'field' to be a text or null, not 3."),
        ({"seed": 1 << 64}, "A seed is a whole number from 0 to 18446744073709551615, not 18446744073709551616."),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_a_sentence(settings: object, says: str) -> None:
    with pytest.raises(NainJauneError, match=re.escape(says)):
        TextEnvSettings.from_dict(settings)


def test_types_are_checked_in_python_too() -> None:
    with pytest.raises(ConfigError, match=r"^TextEnvSettings: expected 'retries' to be a whole number, at least 0, not '2'\.$"):
        TextEnvSettings(retries="2")  # type: ignore[arg-type]
