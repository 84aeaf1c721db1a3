"""Configurations: settings read from YAML files that hold only what differs, and from ``--set key=value``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml

from nainjaune_env.core.errors import ConfigError, quoted

from ..base.settings import Settings, convert, described

C = TypeVar("C", bound=Settings)

PLACEMENT_KEYS = frozenset({"device", "workers", "cluster", "logs", "bots"})
"""Keys that say where a run computes and logs, not what it computes; they may change when a run is resumed."""

LENGTH_KEYS = ("iterations", "generations")
"""Keys for the length of a run, in whole iterations."""
RESUME_KEYS = frozenset({*LENGTH_KEYS, "checkpoint_minutes", "keep_best", "keep_every"})
"""Keys that may be changed when a run is resumed: its length, and which of its checkpoints are kept."""


def changed_keys(config: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """Returns the keys whose ``stored`` values differ from ``config``, so that a run cannot be resumed under it.

    :data:`PLACEMENT_KEYS` and :data:`RESUME_KEYS` do not count.
    """
    return sorted(differing(config, stored).keys() - PLACEMENT_KEYS - RESUME_KEYS)


def differing(config: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Returns the keys whose values differ, each with the ``stored`` value and that of ``config``; None where one lacks it."""
    one_sided = config.keys() ^ stored.keys()
    return {
        key: [stored.get(key), config.get(key)] for key in {**config, **stored} if key in one_sided or config[key] != stored[key]
    }


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping in a YAML file; raises :class:`ConfigError` if the file is missing or holds anything else."""
    if not path.is_file():
        raise ConfigError(f"There is no configuration at {str(path)!r}.")
    try:
        values = _load_yaml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{str(path)!r} cannot be read as YAML: {error}") from None
    if values is None:  # an empty file, or comments only
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{str(path)!r} should hold keys and values, and holds {type(values).__name__}.")
    return values


MAX_VALUES = 100_000
"""Values that a configuration has at most, with its aliases written out."""


_NULL, _INT, _FLOAT, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("null", "int", "float", "merge"))
_OCTAL_OR_BASE_60 = re.compile(r"[-+]?0[0-9_]+|.*:.*")
"""Numbers that PyYAML reads by YAML 1.1, where 010 is 8 and 1:30 is 90."""


class _Loader(yaml.SafeLoader):
    """YAML in which ``None`` is null, as in the tables of knobs, and ``1e-3`` is a number, as in YAML 1.2.

    Refuses keys that come twice, and numbers that YAML 1.1 would read in another base.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Returns the mapping in ``node``; raises ``ValueError`` for a key that comes twice: PyYAML would keep the last one."""
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode) and key_node.tag != _MERGE:
                key, line = self.construct_object(key_node), key_node.start_mark.line + 1
                if key in lines:
                    raise ValueError(f"the key {quoted(key)} is in line {lines[key]}, and again in line {line}: keep one of them")
                lines[key] = line
        return super().construct_mapping(node, deep=deep)

    def number(self, node: yaml.ScalarNode) -> float:
        """Returns the number in ``node``; raises ``ValueError`` where a reader would take it for another one."""
        value = self.construct_yaml_int(node) if node.tag == _INT else self.construct_yaml_float(node)
        if _OCTAL_OR_BASE_60.fullmatch(node.value):
            raise ValueError(
                f"expected a number without a leading zero or a colon, or text in quotes, not {quoted(node.value)}, "
                f"which YAML takes for {value}."
            )
        return value


_Loader.add_implicit_resolver(_NULL, re.compile(r"None\Z"), ["N"])
_Loader.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?(\d+\.?|\d*\.\d+)[eE][-+]?\d+\Z"), [*"-+.0123456789"])
_Loader.add_constructor(_INT, _Loader.number)
_Loader.add_constructor(_FLOAT, _Loader.number)


def _load_yaml(text: str) -> Any:
    """Returns the value of a YAML document; raises ``ValueError`` for anything else, and for more than :data:`MAX_VALUES`."""
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        raise ValueError(f"it has the character {chr(error.character)!r}, which YAML does not have") from None
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MAX_VALUES:  # aliases of lists of aliases grow without end when they are read one by one
            raise ValueError(f"it has more than {MAX_VALUES} values, with its aliases written out")
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise ValueError(f"{where}{error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from None
    finally:
        loader.dispose()


def _size(node: yaml.Node, sizes: dict[int, float]) -> float:
    """Returns the number of nodes from ``node`` on with aliases written out, infinite where one refers to itself."""
    if id(node) not in sizes:
        sizes[id(node)] = math.inf  # until all below it are counted
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        else:
            parts = node.value if isinstance(node, yaml.SequenceNode) else []
        sizes[id(node)] = 1 + sum(_size(part, sizes) for part in parts)
    return sizes[id(node)]


def apply_settings(values: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Returns ``values`` overridden by settings ``key=value``; values are YAML, ``rules.decline=never`` sets inside a mapping.

    Raises :class:`ConfigError` for a malformed setting, and for a key that is set twice.
    """
    result, given = dict(values), dict[str, str]()
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"A setting is key=value, not {quoted(setting)}.")
        if key in given:
            raise ConfigError(
                f"The key {quoted(key)} is set twice, by {quoted(given[key])} and {quoted(setting)}: keep one of them."
            )
        given[key] = setting
        try:
            value = _load_yaml(text)
        except ValueError as error:
            raise ConfigError(f"The value in {quoted(setting)} cannot be read as YAML: {error}") from None
        outer, dot, inner = key.partition(".")
        if dot:
            mapping = result.get(outer, {})
            if not isinstance(mapping, dict):
                raise ConfigError(f"{quoted(outer)} holds {quoted(mapping)}, so {quoted(key)} cannot be set inside it.")
            result[outer] = {**mapping, inner: value}
        else:
            result[key] = value
    return result


def build(cls: type[C], values: Mapping[str, Any], what: str = "The configuration") -> C:
    """Returns the configuration with ``values``; raises :class:`ConfigError`, which names ``what`` they are of, as its file."""
    return convert(cls, values, what)


def describe(cls: type[Settings]) -> str:
    """Returns the table of keys that ``--keys`` prints: key, default, meaning."""
    return "\n".join(f"  {name:20} {default!s:14} {meaning}" for name, default, meaning in described(cls))
