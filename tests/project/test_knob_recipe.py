"""The recipe for a knob in CONTRIBUTING.md, carried out on a copy of both packages: a knob added, and ``payment`` removed.

Only files that the recipe names are changed. The copy plays without the compiler, in a process of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.source import PACKAGES, ROOT

GAME = Path("nainjaune_env", "games", "nain_jaune")
PLACES = ("rules.py", "RULES.md", "kernel.py", "language/")
"""The files of the game that the recipe names, and the folder, as it names them."""

Changes = Mapping[str, Sequence[tuple[str, str]]]
"""By file: the texts to replace, and what stands there then."""

ADDED: Changes = {
    "rules.py": [
        (
            "    stranded: str = knob(",
            '    toll: int = knob(0, "chips that each loser pays the winner besides", "N3.2", low=0)\n    stranded: str = knob(',
        ),
        ("    stranded: int\n", "    toll: int\n    stranded: int\n"),
        ("        stranded=knobs.stranded,\n", "        toll=knobs.toll,\n        stranded=knobs.stranded,\n"),
    ],
    "RULES.md": [("The stake does not multiply this.", "On top come `toll` chips. The stake does not multiply this.")],
    "kernel.py": [
        ("return points_in(np.int64(table.hand[loser]))", "return rules.toll + points_in(np.int64(table.hand[loser]))"),
        ("return np.int64(table.cards[loser])", "return np.int64(rules.toll + table.cards[loser])"),
    ],
    "language/en.toml": [
        ("[phrases.knobs.stranded]", '[phrases.knobs.toll]\nnumber = "Each pays {value} besides."\n\n[phrases.knobs.stranded]'),
    ],
    "language/fr.toml": [
        ("[phrases.knobs.stranded]", '[phrases.knobs.toll]\nnumber = "Chacun paie {value} en plus."\n\n[phrases.knobs.stranded]'),
    ],
}

REMOVED: Changes = {
    "rules.py": [
        ('class Payment(IntEnum):\n    """What a loser pays the winner (N3.2)."""\n\n    CARDS = 0\n    POINTS = 1\n\n\n', ""),
        (
            '    payment: str = knob("cards", "what a loser pays the winner for each card left", "N3.2", '
            "choices=choices_of(Payment))\n",
            "",
        ),
        ('            payment="points",\n', ""),
        (' payment="points",', ""),
        ("    payment: int\n", ""),
        ("        payment=knobs.payment,\n", ""),
    ],
    "RULES.md": [
        ("pays the winner 1 chip a card it holds (`cards`), or its points\n", "pays the winner its points\n"),
        ("(`points`: ace 1,", "(ace 1,"),
    ],
    "kernel.py": [
        ("KernelRules, Payment, Stranded", "KernelRules, Stranded"),
        ("    if rules.payment == Payment.POINTS:\n        return points_in", "    return points_in"),
        ("    return np.int64(table.cards[loser])\n", ""),
    ],
    "language/en.toml": [
        ("[phrases.knobs.payment]\n", ""),
        ('cards = "The others pay the winner a chip for every card they have left."\n', ""),
        ('points = "The others pay the winner for every card they have left: its number, at most 10."\n\n', ""),
    ],
    "language/fr.toml": [
        ("[phrases.knobs.payment]\n", ""),
        ('cards = "Les autres paient au gagnant un jeton par carte qui leur reste."\n', ""),
        ('points = "Les autres paient au gagnant chaque carte qui leur reste : son nombre, 10 au plus."\n\n', ""),
    ],
}


def copy_with(changes: Changes, folder: Path) -> None:
    """Copies both packages to ``folder`` and makes the ``changes`` in the game."""
    for name, source in PACKAGES.items():
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    for name, replaced in changes.items():
        path = folder / GAME / name
        text = path.read_text(encoding="utf-8")
        for old, new in replaced:
            assert old in text, f"{name} of the game no longer has {old!r}: write the change of this test anew"
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def play_copy(script: str, folder: Path, *words: str, jit: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs a script of ``tests.support`` on the copy in ``folder``."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", f"tests.support.{script}", str(folder), *words],
        cwd=folder,
        env=os.environ | {"NUMBA_DISABLE_JIT": str(int(not jit)), "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )


CASES = [
    pytest.param(ADDED, ("toll", "3"), id="toll-added", marks=pytest.mark.long),
    pytest.param(REMOVED, ("payment",), id="payment-removed"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "words"), CASES)
def test_a_knob_takes_the_places_of_the_recipe_and_no_other(changes: Changes, words: tuple[str, ...], tmp_path: Path) -> None:
    assert all(name.startswith(PLACES) for name in changes)
    copy_with(changes, tmp_path)
    ended = play_copy("knob_copy", tmp_path, *words)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.long
@pytest.mark.parametrize(("changes", "words"), [case.values for case in CASES], ids=["toll-added", "payment-removed"])
def test_pages_without_a_server_need_no_change(changes: Changes, words: tuple[str, ...], tmp_path: Path) -> None:
    """The module of the copy and the same JavaScript announce what the copy's Python does."""
    pytest.importorskip("ziglang")
    copy_with(changes, tmp_path)
    shutil.copytree(ROOT / "wasm", tmp_path / "wasm")
    ended = play_copy("knob_page", tmp_path, *words, jit=True)
    assert ended.returncode == 0, ended.stderr


def test_the_recipe_names_these_places() -> None:
    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("**A knob**")[2].partition("\n**")[0]
    numbered = "\n".join(re.findall(r"^\d\. .*(?:\n   .*)*", recipe, re.MULTILINE))
    assert [place for place in PLACES if f"`{place}`" not in numbered] == []


def test_only_rules_and_kernel_read_the_knob() -> None:
    """Other modules of the game call the kernel, for example its function ``payment_due``."""
    folder = ROOT / GAME
    read = re.compile(r"\brules\.payment\b|\bPayment\b|[\"']payment[\"']")
    readers = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if read.search(path.read_text(encoding="utf-8"))}
    assert readers == {"rules.py", "kernel.py"}
