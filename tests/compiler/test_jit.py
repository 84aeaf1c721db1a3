"""The compiler: cached functions and templates."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import pytest

from nainjaune_env.compiler import jit as compiler
from nainjaune_env.compiler.cache import cache_folder
from nainjaune_env.compiler.jit import JIT_ENABLED, instantiate, jit
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game
from tests.support import first_use

compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


@compiled_only
def test_compiled_functions_are_cached_where_we_say_and_numbas_own_setting_is_left_alone() -> None:
    from numba.core import config

    before = config.CACHE_DIR
    from nainjaune_env.games.nain_jaune import kernel

    assert before == config.CACHE_DIR
    assert isinstance(kernel.legal, numba.core.dispatcher.Dispatcher)
    folder = cache_folder(kernel.legal.py_func)
    if folder is not None:
        assert Path(kernel.legal.stats.cache_path).is_relative_to(folder)


def plain(x: int) -> int:
    return x


def test_jit_gives_the_function_back_where_the_compiler_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "JIT_ENABLED", False)
    assert jit(plain) is plain
    assert compiler.wrapping(plain)(5) == 5


@compiled_only
def test_what_compiled_code_calls_has_an_interface_to_python_only_where_python_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path))  # numba does not show the code of a function that it reads from a cache
    inner = jit(lambda number, flag: number + 1 if flag else number - 1)
    outer: Any = instantiate_caller(inner)
    assert outer(3) == (4, 2)
    linked = inner.linked
    assert inner.signatures == []
    assert linked.targetoptions["no_cpython_wrapper"]
    (code,) = [result.library.get_llvm_str() for result in linked.overloads.values()]
    assert "_ZN7cpython" not in code  # numba's name of a wrapper
    assert inner(3, True) == 4
    (code,) = [result.library.get_llvm_str() for result in inner.overloads.values()]
    assert "_ZN7cpython" in code
    assert len(linked.signatures) == 1  # constants have no form of their own
    assert outer(5) == (6, 4)


def instantiate_caller(inner: Any) -> Any:
    """A compiled function that calls ``inner`` with two constants."""

    def outer(number: Any) -> Any:
        return inner(number, True), inner(number, False)

    return jit(outer)


def test_instantiate_binds_names_and_gives_the_same_module_again() -> None:
    marker = object()
    one = instantiate("nainjaune_env.core.cards", "test-one", marker=marker)
    two = instantiate("nainjaune_env.core.cards", "test-two")
    try:
        assert one.marker is marker
        assert not hasattr(two, "marker")
        assert one.__name__ == "nainjaune_env.core.cards[test-one]"
        assert one is sys.modules[one.__name__] is instantiate("nainjaune_env.core.cards", "test-one")
        assert one.card_number is not two.card_number
        assert one.card_number("7d") == 32
    finally:
        del sys.modules[one.__name__], sys.modules[two.__name__]


def test_no_thread_gets_a_module_before_its_code_has_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_template.py").write_text("begun.set()\nassert go_on.wait(60)\nanswer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    begun, go_on, answers = threading.Event(), threading.Event(), []

    def work() -> None:
        answers.append(getattr(instantiate("slow_template", "a", begun=begun, go_on=go_on), "answer", None))

    threads = [threading.Thread(target=work) for _ in range(2)]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    threads[1].join(0.1)  # without a lock it has a module without an answer by now
    go_on.set()
    for thread in threads:
        thread.join()
    del sys.modules["slow_template[a]"]
    assert answers == [42, 42]


@pytest.mark.slow
def test_the_first_use_from_several_threads_gives_what_one_thread_gives() -> None:
    for use, game, result in first_use.results_of_a_process(6, seed=2):
        assert result == first_use.digest(use, game), (use, game)


@compiled_only
def test_one_instance_of_a_template_is_loaded_from_the_cache_where_no_other_is(tmp_path: Path) -> None:
    """Each instance has a cached function of its own, though file, line and arguments are the same."""
    (tmp_path / "kernels.py").write_text(
        "from nainjaune_env.compiler.jit import jit\nclass one: f = jit(lambda x: x + 1)\nclass two: f = jit(lambda x: x + 2)\n"
    )
    (tmp_path / "template.py").write_text(
        "from nainjaune_env.compiler.jit import jit\nf = game.f\n@jit\ndef twice(x):\n    return f(f(x))\n"
    )
    code = (
        "import sys; from nainjaune_env.compiler.jit import instantiate; import kernels\n"
        "for name in sys.argv[1:]:\n"
        "    twice = instantiate('template', name, game=getattr(kernels, name)).twice\n"
        "    print(twice(0), sum(twice.stats.cache_hits.values()))\n"
    )
    env = os.environ | {"NAINJAUNE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def printed(*names: str) -> str:
        command = [sys.executable, "-W", "error", "-c", code, *names]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True).stdout

    assert printed("one", "two") == "2 0\n4 0\n"
    assert printed("two") == "4 1\n"


@compiled_only
def test_a_change_of_a_bound_function_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "template.py").write_text("from nainjaune_env.compiler.jit import jit\n@jit\ndef twice(x):\n    return f(f(x))\n")
    code = (
        "from nainjaune_env.compiler.jit import instantiate; import kernels\n"
        "print(instantiate('template', 't', f=kernels.f).twice(0))"
    )
    env = os.environ | {"NAINJAUNE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    for step in (1, 2):
        (tmp_path / "kernels.py").write_text(
            f"from nainjaune_env.compiler.jit import jit\n@jit\ndef f(x):\n    return x + {step}\n"
        )
        command = [sys.executable, "-W", "error", "-c", code]
        printed = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True).stdout
        assert printed == f"{2 * step}\n"


@compiled_only
def test_a_second_game_is_found_compiled_as_the_first_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that numba does not recognise goes through Python every time, and takes thirty times as long."""
    batches = [Batch(get_game(name).setup(), 1) for name in game_names()]
    choices = streams(0, 1)

    def play() -> None:
        for batch in batches:
            batch.set_tables(0, batch.tables.copy())
            batch.step(batch.sample(choices))
            batch.reset(seed=1)
            batch.observe(0)

    def looked_up(dispatcher: Any, *args: Any, **kws: Any) -> None:
        raise AssertionError(f"{dispatcher} was not found compiled")

    play()
    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "_compile_for_args", looked_up)
    play()


def test_instantiate_of_nothing_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"no module 'nainjaune_env\.nothing' to instantiate"):
        instantiate("nainjaune_env.nothing", "x")


def test_instantiate_leaves_nothing_behind_when_the_template_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_template.py").write_text("raise RuntimeError('on purpose')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeError, match="on purpose"):
        instantiate("broken_template", "x")
    assert "broken_template[x]" not in sys.modules
