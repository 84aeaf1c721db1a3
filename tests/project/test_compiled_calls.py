"""The calls that are compiled ahead; ``make library`` compiles and makes them."""

from __future__ import annotations

import inspect
import json

import pytest

from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.compiler.platforms import LEVEL_3, PLATFORMS
from nainjaune_env.compiler.signatures import describe_record, dtype_name, example_of, record_of, signature_of
from tests.support.ahead import calls
from tests.support.source import ROOT


@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_every_function_is_there() -> None:
    for game in calls.own_games():
        calls.instantiate_loops(game)
    for name, signatures in calls.read_calls().calls.items():
        _, function = calls.function_named(name)
        assert f"{function.py_func.__module__}:{function.py_func.__qualname__}" == name
        arguments = len(inspect.signature(function.py_func).parameters)
        assert {len(signature) for signature in signatures} == {arguments}, f"{name}: a signature of before"


def test_every_signature_is_that_of_some_arguments() -> None:
    records, listed_calls = calls.read_calls()
    for name, signatures in listed_calls.items():
        assert signatures, name
        for signature in signatures:
            assert signature_of(tuple(example_of(entry, records) for entry in signature)) == signature, name


def test_records_are_those_that_they_describe() -> None:
    records = calls.read_calls().records
    assert {dtype_name(game.table) for game in calls.own_games()} <= records.keys()
    for name, dtype in records.items():
        assert dtype_name(dtype) == name
        assert record_of(json.loads(json.dumps(describe_record(dtype)))) == dtype


def test_every_platform_has_a_wheel() -> None:
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert all(f'"{name.removesuffix(LEVEL_3)}": ' in text for name in PLATFORMS)
