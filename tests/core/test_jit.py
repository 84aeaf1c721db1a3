"""The one door to the compiler: where compiled code is cached, and templates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from nainjaune_env.core import jit as door
from nainjaune_env.core.jit import JIT_ENABLED, PACKAGE_ROOT, cache_folder, instantiate, jit
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game

find_folder = cache_folder.__wrapped__
"""`cache_folder` without its memory."""
compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


def test_the_cache_folder_is_named_after_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "cache"))
    package = tmp_path / "package"
    (package / "sub").mkdir(parents=True)
    (package / "one.py").write_text("A = 1\n")
    (package / "sub" / "two.py").write_text("B = 2\n")
    seen = [find_folder(package)]

    def changed() -> Path:
        seen.append(find_folder(package))
        assert seen[-1] != seen[-2]
        return seen[-1]

    assert seen[0] == find_folder(package)
    assert seen[0].is_dir()
    assert seen[0].parent == tmp_path / "cache"
    (package / "sub" / "two.py").write_text("B = 3\n")  # a constant in another file, which numba itself would miss
    changed()
    (package / "three.py").write_text("")
    changed()
    (package / "three.py").rename(package / "four.py")
    changed()
    (package / "notes.md").write_text("not a source")
    assert find_folder(package) == seen[-1]
    (package / "four.py").unlink()
    (package / "sub" / "two.py").write_text("B = 2\n")
    assert changed() == seen[0]
    # our own sources are a part of every key, so that a package built on them is compiled anew when they change
    assert seen[0].name.startswith(find_folder(PACKAGE_ROOT).name)


def test_without_a_setting_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAINJAUNE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_folder(PACKAGE_ROOT).parent == tmp_path / "xdg" / "nainjaune-env"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find_folder(PACKAGE_ROOT).parent == tmp_path / "home" / ".cache" / "nainjaune-env"


def test_a_parent_that_cannot_be_written_gives_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "file" / "below"))
    assert find_folder(PACKAGE_ROOT) is None
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "good"))
    monkeypatch.setattr(door.os, "access", lambda *_: False)
    assert find_folder(PACKAGE_ROOT) is None


def test_the_package_compiles_and_plays_without_a_cache(tmp_path: Path) -> None:
    """The whole way, in a process whose cache cannot be written; plain Python, to be quick, imports all the same."""
    (tmp_path / "file").write_text("in the way")
    code = (
        "from nainjaune_env.core.jit import jit, cache_folder; from nainjaune_env.core.prng import streams\n"
        "assert cache_folder() is None\n"
        "double = jit(lambda x: 2 * x)\n"
        "assert double(21) == 42 and len(streams(0, 3)) == 3\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"NAINJAUNE_CACHE": str(tmp_path / "file" / "below")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


@compiled_only
def test_compiled_functions_are_cached_where_we_say_and_numbas_own_setting_is_left_alone() -> None:
    from numba.core import config

    before = config.CACHE_DIR
    from nainjaune_env.games.nain_jaune import kernel

    assert before == config.CACHE_DIR
    assert isinstance(kernel.legal, numba.core.dispatcher.Dispatcher)
    folder = cache_folder(PACKAGE_ROOT)  # as at import: remembered, should a source have changed since
    if folder is not None:
        assert Path(kernel.legal.stats.cache_path).is_relative_to(folder)


@compiled_only
def test_a_package_root_is_the_topmost_package(tmp_path: Path) -> None:
    (tmp_path / "top" / "mid").mkdir(parents=True)
    for folder in ("top", "top/mid"):
        (tmp_path / folder / "__init__.py").write_text("")
    file = tmp_path / "top" / "mid" / "code.py"
    file.write_text("def f(x):\n    return x\n")
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    assert door._package_root(space["f"]) == tmp_path / "top"
    shutil.rmtree(tmp_path / "top")
    assert door._package_root(jit_of := plain) == Path(__file__).resolve().parent
    assert jit_of(3) == 3


def plain(x: int) -> int:
    return x


def test_jit_gives_the_function_back_where_the_compiler_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "JIT_ENABLED", False)
    assert jit(plain) is plain
    assert door.wrapping(plain)(5) == 5


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


@compiled_only
def test_one_instance_of_a_template_is_loaded_from_the_cache_where_no_other_is(tmp_path: Path) -> None:
    """Each instance has a cached function of its own, though file, line and arguments are the same."""
    (tmp_path / "kernels.py").write_text(
        "from nainjaune_env.core.jit import jit\nclass one: f = jit(lambda x: x + 1)\nclass two: f = jit(lambda x: x + 2)\n"
    )
    (tmp_path / "template.py").write_text(
        "from nainjaune_env.core.jit import jit\nf = game.f\n@jit\ndef twice(x):\n    return f(f(x))\n"
    )
    code = (
        "import sys; from nainjaune_env.core.jit import instantiate; import kernels\n"
        "for name in sys.argv[1:]:\n"
        "    twice = instantiate('template', name, game=getattr(kernels, name)).twice\n"
        "    print(twice(0), sum(twice.stats.cache_hits.values()))\n"
    )
    env = os.environ | {"NAINJAUNE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def told(*names: str) -> str:
        command = [sys.executable, "-W", "error", "-c", code, *names]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True).stdout

    assert told("one", "two") == "2 0\n4 0\n"
    assert told("two") == "4 1\n"


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
