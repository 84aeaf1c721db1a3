"""``nainjaune zoo``: the list, the cards, and a run put into a box."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.players.mixed import explicit_name
from nainjaune_agents.players.zoo import PlayerRegistry, load_card, save_card
from nainjaune_env import make_setup
from tests.agents.cli.command import Capture, output_of, refused
from tests.agents.players.zoo.boxes import RATING, put
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


def test_cards_get_ratings_where_the_field_plays(tmp_path: Path, capfd: Capture) -> None:
    """On Batasaurus the mixed pool has players that remember."""
    put(tmp_path, "a", small(), "classic-3")
    other = put(tmp_path, "a", make_setup("batasaurus"), "batasaurus-2").with_suffix(".json")
    rating = replace(RATING, preset="batasaurus", players=2, knobs={})
    save_card(other, replace(load_card(other), ratings=[rating]))
    before = [player.card for player in PlayerRegistry(tmp_path).players("a")]
    out = output_of(capfd, f"zoo a --folder {tmp_path} --against mixed --deals 60 --seed 5")
    batasaurus, classic = out.splitlines()
    assert batasaurus.startswith("Not rated: zoo:a, Batasaurus")
    assert classic == "Rated: zoo:a, Nain Jaune (classic, max_rounds 2) with 3 seats."
    after = [player.card for player in PlayerRegistry(tmp_path).players("a")]
    assert after[0] == before[0]
    assert after[1].ratings[:-1] == before[1].ratings
    assert after[1].ratings[-1].field == explicit_name("mixed", small())
    assert "mixed:" in output_of(capfd, f"zoo a --folder {tmp_path}")
    refused(capfd, f"zoo a --folder {tmp_path} --against nobody", "'nobody'", printed=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nobody", "Unknown zoo player 'nobody'"),
        ("../../evil --add runs/a --note x --against lowest", "with a letter or digit; not '../../evil'."),
        ("--add runs/a", "--add needs a name, --note and --against"),
        ("a --note x", "--note and --local-changes need --add"),
        ("--against lowest", "--against needs the name of the player that is rated"),
        ("a --add runs/none --note x --against lowest", "There is no checkpoint at 'runs/none"),
        ("--folder no", r"There is no folder at 'no'\."),
        ("strong --folder empty", r"There are no players in the folder 'empty'\."),
    ],
)
def test_what_is_refused(words: str, says: str, capfd: Capture) -> None:
    put(Path("box"), "a", small(), "classic-3")
    Path("empty").mkdir()
    refused(capfd, f"zoo --folder box {words}", says)
