"""What the folder of compiled code is named after, and when it is removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nainjaune_env.compiler import code_cache, locked_cache
from nainjaune_env.compiler.code_cache import cache_folder, package_root, remove_unused, source_hash


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Each test reads its sources anew, and the tests after it too."""
    remembered = (code_cache._open_folder, code_cache._digest, code_cache._imported_files, code_cache.package_root)
    for function in remembered:
        function.cache_clear()
    yield
    for function in remembered:
        function.cache_clear()


SOURCES = {
    "__init__.py": "from package_x import phrases\n",
    "kernel.py": "from typing import TYPE_CHECKING\nfrom package_x.state import (\n    SIZE,  # seats\n)\n"
    "from .inner import helper as h\nif TYPE_CHECKING:\n    from package_x import phrases\n",
    "state.py": "import package_x.numbers\nSIZE = 3\n",
    "numbers.py": "ONE = 1\n",
    "inner/__init__.py": "",
    "inner/helper.py": "TWO = 2\n",
    "phrases.py": "HELLO = 'bonjour'\n",
    "loops.py": "import numpy as np\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of sources, known as loaded."""
    root = tmp_path / "package_x"
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setitem(sys.modules, "package_x", module_at(root / "__init__.py"))
    return root


def module_at(file: Path | None, *parts: ModuleType) -> ModuleType:
    """A module that says it comes from ``file`` and is made of ``parts``."""
    module = ModuleType("x")
    module.__dict__.update(__file__=None if file is None else str(file), __modules__=parts)
    return module


def hashed(file: Path, *parts: ModuleType) -> str:
    """The hash of sources as they are on disk now."""
    code_cache._digest.cache_clear()
    code_cache._imported_files.cache_clear()
    return source_hash(file, module_at(file, *parts))


@pytest.mark.parametrize("name", ["kernel.py", "state.py", "numbers.py", "inner/helper.py"])
def test_a_change_of_what_a_module_imports_changes_its_hash(package: Path, name: str) -> None:
    before = hashed(package / "kernel.py")
    (package / name).write_text(SOURCES[name] + "OTHER = 4\n")
    assert hashed(package / "kernel.py") != before
    (package / name).write_text(SOURCES[name])
    assert hashed(package / "kernel.py") == before


@pytest.mark.parametrize("name", ["phrases.py", "__init__.py", "inner/__init__.py", "loops.py"])
def test_a_change_elsewhere_does_not(package: Path, name: str) -> None:
    before = hashed(package / "kernel.py")
    (package / name).write_text(SOURCES[name] + "OTHER = 4\n")
    assert hashed(package / "kernel.py") == before


def test_the_modules_bound_to_a_template_are_sources_of_it(package: Path) -> None:
    joined = module_at(None, module_at(package / "kernel.py"))
    before = hashed(package / "loops.py", joined)
    assert before != hashed(package / "loops.py")
    (package / "numbers.py").write_text("ONE = 2\n")
    assert hashed(package / "loops.py", joined) != before


def test_a_package_of_the_environments_is_hashed_where_another_imports_it(package: Path) -> None:
    before = hashed(package / "loops.py")
    (package / "loops.py").write_text("import numpy as np\nimport nainjaune_env.core.bits\n")
    sources: set[str] = set()
    digest: Callable[[Path], str] = code_cache._digest.__wrapped__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_cache, "_digest", lambda source: (sources.add(source.name), digest(source))[1])
        assert hashed_now(package / "loops.py") != before
    core = {
        "bits.py", "prng.py", "jit.py", "intrinsics.py",
        "code_cache.py", "code_libraries.py", "call_types.py", "locked_cache.py", "compile_notice.py",
    }  # fmt: skip
    assert {"loops.py", *core} == sources


def hashed_now(file: Path) -> str:
    code_cache._imported_files.cache_clear()
    return source_hash(file)


def test_environments_with_other_versions_of_numba_keep_their_code_apart(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder each would replace the other's code at every start."""
    before = source_hash(package / "loops.py")
    monkeypatch.setattr(code_cache, "NUMBA_VERSION", "0.1.0")
    assert source_hash(package / "loops.py") != before


def test_the_kernels_do_not_depend_on_words_and_pictures() -> None:
    from nainjaune_env.engine import loops
    from nainjaune_env.registry import game_names, get_game

    for name in game_names():
        kernel = get_game(name).kernel
        read: set[Path] = set()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(code_cache, "_digest", lambda source, read=read: (read.add(source), "")[1])
            source_hash(Path(loops.__file__), module_at(None, kernel))
        folders = {part for source in read for part in source.parts}
        assert "core" in folders
        assert not folders & {"language", "view", "records", "render", "envs"}, sorted(read)


def test_a_package_root_is_the_topmost_package(package: Path) -> None:
    assert package_root(package / "inner" / "helper.py") == package
    assert package_root(Path(__file__).parents[2] / "train.py") == Path(__file__).parents[2]


def test_the_folder_is_the_users_unless_a_setting_names_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAINJAUNE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder_of(hashed).parent == tmp_path / "xdg" / "nainjaune-env" / "compiled"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for caches in ("", "here"):  # a relative one is invalid
        monkeypatch.setenv("XDG_CACHE_HOME", caches)
        for own in ("", None):
            monkeypatch.delenv("NAINJAUNE_CACHE", raising=False) if own is None else monkeypatch.setenv("NAINJAUNE_CACHE", own)
            assert folder_of(hashed).parent == tmp_path / "home" / ".cache" / "nainjaune-env" / "compiled"
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    assert folder_of(hashed).parent == tmp_path / "own" / "compiled"
    assert folder_of(hashed).name == f"{__name__}-{source_hash(Path(__file__), sys.modules[__name__])}"


def test_a_relative_folder_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in another working folder would load what is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAINJAUNE_CACHE", "here")
    monkeypatch.setattr(locked_cache, "_warned", False)
    with pytest.warns(RuntimeWarning, match="not kept in here, .* is the path of a folder from the root on"):
        assert cache_folder(hashed) is None
    assert code_cache.why_not_kept().startswith("here: NAINJAUNE_CACHE is")
    assert list(tmp_path.iterdir()) == []


def folder_of(fn: Callable[..., Any]) -> Path:
    folder = cache_folder(fn)
    assert folder is not None
    assert folder.is_dir()
    return folder


def test_a_folder_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "file" / "below"))
    assert cache_folder(hashed) is None
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "good"))
    monkeypatch.setattr(code_cache.os, "access", lambda *_: False)
    assert cache_folder(hashed) is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
@pytest.mark.parametrize("below", ["", "compiled", "module"])
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, mode: int
) -> None:
    """Its files are pickles, which can run any code."""
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    monkeypatch.setattr(locked_cache, "_warned", False)
    mine = folder_of(hashed)
    assert {place.stat().st_mode & 0o777 for place in (mine, mine.parent, mine.parent.parent)} == {0o700}
    open_to_all = mine if below == "module" else tmp_path / "own" / below
    open_to_all.chmod(mode)
    code_cache._open_folder.cache_clear()
    with pytest.warns(
        RuntimeWarning, match=rf"not kept in {open_to_all}, .*others can write to it\. .* chmod 700 {open_to_all}$"
    ):
        assert cache_folder(hashed) is None


@pytest.mark.skipif(sys.platform == "win32", reason="owners go by other numbers there")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    monkeypatch.setattr(locked_cache, "_warned", False)
    folder_of(hashed)
    code_cache._open_folder.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(RuntimeWarning, match="the folder belongs to another user"):
        assert cache_folder(hashed) is None


def test_a_function_without_a_file_has_no_folder() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", space)
    assert cache_folder(space["f"]) is None


def test_unused_folders_are_removed_when_a_new_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path))
    long_ago = time.time() - 31 * 24 * 3600
    for name, used in (("old", long_ago), ("recent", time.time() - 29 * 24 * 3600)):
        (tmp_path / "compiled" / name).mkdir(parents=True)
        (tmp_path / "compiled" / name / "code.nbi").write_text("")
        os.utime(tmp_path / "compiled" / name, (used, used))
    os.utime(tmp_path, (long_ago, long_ago))
    mine = folder_of(hashed)
    assert sorted(path.name for path in mine.parent.iterdir()) == sorted(["recent", mine.name])
    os.utime(mine, (long_ago, long_ago))
    code_cache._open_folder.cache_clear()
    assert folder_of(hashed).stat().st_mtime > time.time() - 3600  # a use is noted


def test_a_folder_that_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").mkdir()
    os.utime(tmp_path / "old", (0, 0))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "rmdir", refuse)
    remove_unused(tmp_path)
    assert (tmp_path / "old").is_dir()


def test_the_package_compiles_and_plays_without_a_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code = (
        "from nainjaune_env.compiler.jit import jit; from nainjaune_env.compiler.code_cache import cache_folder\n"
        "from nainjaune_env.core.prng import streams\n"
        "assert cache_folder(streams) is None\n"
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
