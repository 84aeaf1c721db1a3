"""Configurations: YAML and ``--set`` are read as they look, and every trainer refuses what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from nainjaune_agents.base.settings import Settings
from nainjaune_agents.players.loading import checkpoint_path
from nainjaune_agents.train import get_trainer, trainer_names
from nainjaune_agents.train.base import anneal
from nainjaune_agents.train.config import apply_settings, build, changed_keys, differing, read_yaml
from nainjaune_env.core.errors import ConfigError


class Toy(Settings, frozen=True):
    size: int = 3
    rate: float = 0.5
    name: str = "x"


def test_settings_override_the_file() -> None:
    values = {"size": 1, "rules": {"stake": 2, "decline": "entry"}}
    settings = ["size=9", "rate=1e-3", "on=true", "preset=null", "widths=[1, 2]", "rules.decline=never", "name=a=b"]
    done = apply_settings(values, settings)
    assert done == {
        "size": 9, "rate": 1e-3, "on": True, "preset": None, "widths": [1, 2], "name": "a=b",
        "rules": {"stake": 2, "decline": "never"},
    }  # fmt: skip
    assert values == {"size": 1, "rules": {"stake": 2, "decline": "entry"}}
    for key in ("size", "rules.stake"):
        with pytest.raises(ConfigError, match=rf"The key '{key}' is set twice, by '{key}=1' and '{key}=2': keep one of them\."):
            apply_settings({}, [f"{key}=1", "on=true", f"{key}=2"])
    assert apply_settings({}, ["rules.stake=3", "rules.max_rounds=2"]) == {"rules": {"stake": 3, "max_rounds": 2}}


def test_none_is_null_as_in_the_tables_of_knobs() -> None:
    assert apply_settings({}, ["preset=None", "name='None'", "rules.stranded=none"]) == {
        "preset": None, "name": "None", "rules": {"stranded": "none"},
    }  # fmt: skip


@pytest.mark.parametrize(("text", "number"), [("010", "8"), ("-010", "-8"), ("00", "0"), ("1:30", "90"), ("1:30.5", "90.5")])
def test_a_number_that_yaml_takes_for_another_is_refused(text: str, number: str, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=rf"without a leading zero or a colon, .*, not '{text}', which YAML takes for {number}\."
    ):
        apply_settings({}, [f"rules.stake={text}"])
    (tmp_path / "c.yaml").write_text(f"widths: [1, {text}]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"c\.yaml' cannot be read as YAML: expected a number without"):
        read_yaml(tmp_path / "c.yaml")


def test_numbers_and_texts_that_only_look_like_those_are_read() -> None:
    settings = ["a=0", "b=10", "c=-0.5", "d='010'", "e=0x10", "f=zoo:strong", "g=1_000", "h=1e-3", "i=-2.E+1", "j=.5e0", "k=e3"]
    expected = [0, 10, -0.5, "010", 16, "zoo:strong", 1000, 1e-3, -20.0, 0.5, "e3"]
    assert apply_settings({}, settings) == dict(zip("abcdefghijk", expected, strict=True))


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("size", r"A setting is key=value, not 'size'\."),
        ("=3", r"A setting is key=value, not '=3'\."),
        ("widths=[1", r"The value in 'widths=\[1' cannot be read as YAML"),
        ("widths=[1", r"as YAML: line 1, column 3: expected ',' or ']', but got '<stream end>'\.?$"),
        ("size.big=1", r"'size' holds 1, so 'size\.big' cannot be set inside it\."),
    ],
)
def test_malformed_settings_are_errors(setting: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        apply_settings({"size": 1}, [setting])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("size: 4  # more\nrules:\n  stake: 2\n", {"size": 4, "rules": {"stake": 2}}),
        ("# nothing differs\n", {}),
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n", {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}}),
        ("widths: &w [3, 4]\nbounds: *w\n", {"widths": [3, 4], "bounds": [3, 4]}),
    ],
    ids=["values", "none", "a replaced key of a merged mapping", "aliases"],
)
def test_yaml_files(tmp_path: Path, text: str, values: dict[str, Any]) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    assert read_yaml(tmp_path / "c.yaml") == values


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(ConfigError, match="There is no configuration at"):
            read_yaml(path)


def test_changed_keys_are_those_that_decide_what_a_run_computes() -> None:
    config = {"rate": 0.5, "size": 3, "device": "cpu", "logs": [], "iterations": 9, "keep_every": 0}
    stored = {**dict(reversed(config.items())), "device": "cuda", "logs": ["mlflow"], "iterations": 5}
    assert changed_keys(config, stored) == []
    assert changed_keys({**config, "size": 4, "rate": 0.6}, stored) == ["rate", "size"]
    assert changed_keys(config, {**stored, "unknown": None}) == ["unknown"]
    del stored["size"]
    assert changed_keys(config, stored) == ["size"]
    assert differing({"iterations": 9, "rate": 0.6, "size": 3}, {"iterations": 5, "rate": 0.5, "size": 3}) == {
        "iterations": [5, 9], "rate": [0.5, 0.6],
    }  # fmt: skip


@pytest.mark.parametrize("name", trainer_names())
def test_a_choice_that_says_a_part_has_the_trainers_defaults_for_the_rest(name: str) -> None:
    cls = get_trainer(name).Config
    usual = cls().to_dict()["optimizer"]
    config = build(cls, apply_settings({}, ["optimizer.learning_rate=3e-3", "arch.hidden=[8]"])).to_dict()
    assert config["arch"] == {"name": "mlp", "hidden": [8], "recurrent": 0}
    assert config["optimizer"] == {**usual, "learning_rate": 3e-3}
    assert build(cls, {"arch": {"name": "residual", "blocks": 3}}).arch.to_dict() == {
        "name": "residual",
        "width": 256,
        "blocks": 3,
    }
    muon = {"optimizer": {"name": "muon", "warmup": 4}}
    if name == "maskable_ppo":
        with pytest.raises(ConfigError, match=r"steps by Adam here, not by \{'name': 'muon'"):
            build(cls, muon)
    else:
        assert build(cls, muon).optimizer.to_dict() == {**usual, "name": "muon", "warmup": 4, "matrix_ratio": 6.0}
    assert list(build(cls, config).to_dict().items()) == list(config.items())
    assert changed_keys(config, cls().to_dict()) == ["arch", "optimizer"]


def test_memory_is_for_ppo() -> None:
    for name in trainer_names():
        values = {"arch": {"recurrent": 8}}
        if name == "ppo":
            assert build(get_trainer(name).Config, values).recurrent == 8
        else:
            with pytest.raises(ConfigError, match=f"'{name}' trains no network with memory: arch.recurrent is 0, not 8"):
                build(get_trainer(name).Config, values)


def test_anneal() -> None:
    assert [anneal(4.0, 2.0, f) for f in (0.0, 0.25, 1.0, 1.5, -1.0)] == [4.0, 3.5, 2.0, 2.0, 4.0]


# ---------------------------------------------------------------- every trainer


def test_an_unknown_algorithm_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Unknown algorithm 'pop'\. Did you mean 'ppo'\?"):
        get_trainer("pop")
    for tool in ("config", "run", "../ppo", None, ["ppo"]):
        with pytest.raises(ConfigError, match="Unknown algorithm"):
            get_trainer(tool)


CONFIGS = sorted(path for path in Path(__file__).parents[3].glob("configs/*/*.yaml") if path.parent.name != "studies")
"""Those of trainings; the others are plans of comparisons."""


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_shipped_configuration_is_valid_and_holds_no_defaults(path: Path) -> None:
    values = read_yaml(path)
    cls = get_trainer(values.get("algorithm", "ppo")).Config
    config, default = build(cls, values), cls()
    for key, value in values.items():
        if key not in ("algorithm", "game", "preset", "players") and value != "auto":  # which each processor reads otherwise
            assert getattr(config, key) != getattr(default, key), f"{key} is the default"
    assert yaml.safe_load(path.read_text(encoding="utf-8")).get("game", config.game) == path.parent.name
    assert "/" not in (values.get("init") or "")  # a path would be one in a checkout
    if "init" in values:
        path = checkpoint_path(values["init"], config.setup(), anywhere=bool(config.mixture), any_rules=True)
        assert path is not None
        assert path.exists()


BOMB = "a0: &a0 [lol, lol]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]\n" for k in range(1, 60))
MERGED = "m0: &m0 {x: 1}\n" + "".join(f"m{k}: &m{k} {{<<: [*m{k - 1}, *m{k - 1}]}}\n" for k in range(1, 60))


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "bomb": (BOMB, "it has more than 100000 values"),
    "merged": (MERGED, "it has more than 100000 values"),
    "endless": ("rules: &a [*a]\n", "it has more than 100000 values"),
    "nested": ("[" * 2000, ""),
    "digits": ("size: " + "9" * 5000, ""),
    "date": ("size: 2001-99-99", ""),
    "undefined": ("x: 1\na: *b", "line 2, column 4: found undefined alias 'b'$"),
    "code": ("!!python/name:os.system {}", ""),
    "a call": ("!!python/object/apply:os.getcwd []", ""),
    "null": ("game: \0", r"it has the character '\\x00', which YAML does not have$"),
    "no UTF-8": (b"\xff\xfe\x00", ""),
    "open": ("a: [1", ""),
    "twice": ("seed: 1\nplayers: 3\nseed: 2\n", "the key 'seed' is in line 1, and again in line 3: keep one of them"),
    "twice in a line": ("rules: {stake: 1, stake: 2}\n", "the key 'stake' is in line 1, and again in line 1"),
    "twice, quoted": ("rules:\n  stake: 1\n  'stake': 1\n", "the key 'stake' is in line 2, and again in line 3"),
}
"""Files that are no YAML, or that grow when they are read; and what is said of them."""


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_yaml_that_grows_or_is_no_value_is_refused_in_a_sentence(tmp_path: Path, text: str | bytes, says: str) -> None:
    (tmp_path / "c.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError, match=rf"c\.yaml' cannot be read as YAML: {says}") as caught:
        read_yaml(tmp_path / "c.yaml")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("text", "kind"), [("- a\n- b\n", "list"), ("just words", "str")])
def test_files_without_a_mapping_are_errors(tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"c\.yaml' should hold keys and values, and holds {kind}\."):
        read_yaml(tmp_path / "c.yaml")


def test_a_setting_that_grows_is_refused_too() -> None:
    bomb = "&a0 [1,1]"
    for _ in range(1, 40):
        bomb = f"[{bomb}, *a0, *a0, *a0]"
    many = ", ".join(f"&b{k} [{', '.join([f'*b{k - 1}'] * 10) if k else 'x'}]" for k in range(30))
    with pytest.raises(ConfigError, match=r"^The value in 'rules=.* cannot be read as YAML: it has more than 100000 values"):
        apply_settings({}, [f"rules=[{many}]"])
    assert apply_settings({}, [f"rules={bomb}"])


@pytest.mark.parametrize("value", [10**400, [0] * 10**6, "x" * 10**6], ids=["large", "list", "text"])
def test_a_wrong_value_is_quoted_in_part(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^run\.yaml: expected 'rate' to be a finite number, not ") as caught:
        build(Toy, {"rate": value}, "run.yaml")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("algorithm", trainer_names())
def test_values_that_exceed_any_memory_are_out_of_bounds(algorithm: str) -> None:
    config, many = get_trainer(algorithm).Config, 99_999_999_999_999
    values: dict[str, Any] = dict.fromkeys(("tables", "rounds", "shard", "eval_deals"), many)
    values |= {"arch": {"hidden": [many]}, "critic_hidden": [many], "optimizer": {"learning_rate": float(many)}}
    shared = values.keys() & {*config.__struct_fields__}
    assert len(shared) >= 4
    for key in shared:
        with pytest.raises(ConfigError, match=rf"expected '{key}(\.\w+)?(\[0\])?' to be .* from \d to \d+, not 99"):
            build(config, {key: values[key]})


@pytest.mark.parametrize(
    "values",
    [
        {"arch": {"hidden": [1 << 14] * 3}}, {"arch": {"name": "residual", "width": 1 << 13, "blocks": 4}},
        {"arch": {"recurrent": 1 << 14}}, {"critic_hidden": [1 << 14] * 3},
    ],
    ids=["hidden", "residual", "recurrent", "critic"],
)  # fmt: skip
def test_layers_that_exceed_any_memory_together_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigError, match=r"The hidden layers of a network have at most 268435456 weights between them, not \d+\."
    ):
        build(get_trainer("ppo").Config, values)
