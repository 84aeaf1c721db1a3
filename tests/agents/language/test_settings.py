"""Settings are JSON values, and refused with a sentence."""

from __future__ import annotations

import json

import pytest

from nainjaune_agents.language.settings import EDGE, TextEnvSettings
from nainjaune_env.core.errors import ConfigError, NainJauneError


def test_settings_are_json_values() -> None:
    settings = TextEnvSettings(language="fr", form="long", retries=0, field="lowest", reward=EDGE, seed=7)
    assert TextEnvSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert TextEnvSettings.from_dict({}) == TextEnvSettings()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reward": "wins"}, "reward"),
        ({"language": "de"}, "language"),
        ({"form": "tiny"}, "form"),
        ({"retries": -1}, "retries"),
        ({"retries": "2"}, "retries"),
        ({"measuring": 1}, "measuring"),
        ({"seed": 1 << 64}, "seed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_a_sentence(settings: dict[str, object], message: str) -> None:
    with pytest.raises(NainJauneError) as error:
        TextEnvSettings.from_dict(settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_types_are_checked_in_python_too() -> None:
    with pytest.raises(ConfigError, match=r"^The setting 'retries': expected int, not '2'\.$"):
        TextEnvSettings(retries="2")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^The setting 'field': expected str \| None, not 3\.$"):
        TextEnvSettings(field=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^Settings are an object of JSON, not \[\]\.$"):
        TextEnvSettings.from_dict([])  # type: ignore[arg-type]
