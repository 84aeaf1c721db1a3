"""``nainjaune zoo``: the list, the cards, and a run put into a box."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.cli.command import Capture, nainjaune, output_of, refused
from tests.agents.trainers.test_ppo import run_in, tiny
from tests.agents.zoo.boxes import put
from tests.support.positions import small


def test_the_list_and_a_card(tmp_path: Path, capfd: Capture) -> None:
    put(tmp_path, "strong", small(), "classic-3")
    put(tmp_path, "strong", small(), "nain_jaune", anywhere=True)
    put(tmp_path, "other", small(), "nain_jaune", anywhere=True)
    out = output_of(capfd, f"zoo --folder {tmp_path}")
    assert out.splitlines() == [
        "zoo:other   Nain Jaune at any table                          +0.500 ± 0.100 over lowest",
        "zoo:strong  Nain Jaune (classic, max_rounds 2) with 3 seats  +0.500 ± 0.100 over lowest",
        "zoo:strong  Nain Jaune at any table                          +0.500 ± 0.100 over lowest",
    ]
    out = output_of(capfd, f"zoo zoo:other --folder {tmp_path}")
    for part in ("A small one.", "1.5 minutes", "  python train.py --out runs/x", "classic, max_rounds 2, 3 seats", "seed 9"):
        assert part in out


def test_a_run_is_added(capfd: Capture) -> None:
    run_in(Path("runs/a"), tiny(iterations=1))
    words = "zoo tiny --folder box --add runs/a --note Tiny. --against lowest --deals 30"
    status, out, _ = nainjaune(capfd, f"{words} --local-changes")  # a developer's checkout may have some
    assert status == 0
    path = Path(out.removeprefix("Added: ").strip())
    assert path.is_file()
    assert "zoo:tiny" in nainjaune(capfd, "zoo --folder box")[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nobody", "Unknown zoo player 'nobody'"),
        ("../../evil --add runs/a --note x --against lowest", "with a letter or digit; not '../../evil'."),
        ("--add runs/a", "--add needs a name, --note and --against"),
        ("a --note x", "--note, --against and --local-changes need --add"),
        ("a --add runs/a --note x --against lowest --deals 1", "--deals: expected a whole number from 2 to"),
        ("a --add runs/none --note x --against lowest", "There is no checkpoint at 'runs/none"),
        ("--folder no", r"There is no folder at 'no'\."),
        ("--folder empty", r"There are no players in the folder 'empty'\."),
        ("strong --folder empty", r"There are no players in the folder 'empty'\."),
    ],
)
def test_what_is_refused(words: str, says: str, capfd: Capture) -> None:
    put(Path("box"), "a", small(), "classic-3")
    Path("empty").mkdir()
    refused(capfd, f"zoo --folder box {words}", says)
