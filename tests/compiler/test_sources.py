"""What the hash of a module's sources covers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nainjaune_env.compiler import sources
from nainjaune_env.compiler.sources import package_root, source_hash


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Each test reads its sources anew, and the tests after it too."""
    remembered = (sources._digest, sources._imported_files, sources.package_root)
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
    sources._digest.cache_clear()
    sources._imported_files.cache_clear()
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
    read: set[str] = set()
    digest: Callable[[Path], str] = sources._digest.__wrapped__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_digest", lambda source: (read.add(source.name), digest(source))[1])
        assert hashed_now(package / "loops.py") != before
    compiler = {"jit.py", "dispatcher.py", "intrinsics.py", "intrinsic_code.py", "cache.py", "sources.py", "linked.py"}
    assert {"loops.py", "bits.py", "prng.py", "compile_notice.py", *compiler} == read


def hashed_now(file: Path) -> str:
    sources._imported_files.cache_clear()
    return source_hash(file)


def test_environments_with_other_versions_of_numba_keep_their_code_apart(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder each would replace the other's code at every start."""
    before = source_hash(package / "loops.py")
    monkeypatch.setattr(sources, "NUMBA_VERSION", "0.1.0")
    assert source_hash(package / "loops.py") != before


def test_the_kernels_do_not_depend_on_words_and_pictures() -> None:
    from nainjaune_env.engine import loops
    from nainjaune_env.registry import game_names, get_game

    for name in game_names():
        kernel = get_game(name).kernel
        read: set[Path] = set()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sources, "_digest", lambda source, read=read: (read.add(source), "")[1])
            source_hash(Path(loops.__file__), module_at(None, kernel))
        folders = {part for source in read for part in source.parts}
        assert "core" in folders
        assert not folders & {"language", "view", "records", "render", "envs"}, sorted(read)


def test_a_package_root_is_the_topmost_package(package: Path) -> None:
    assert package_root(package / "inner" / "helper.py") == package
    assert package_root(Path(__file__).parents[2] / "train.py") == Path(__file__).parents[2]
