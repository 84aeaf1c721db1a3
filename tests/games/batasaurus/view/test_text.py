"""The picture of a table, and the scene it is drawn from."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.events import Event
from nainjaune_env.games.batasaurus.language import LANGUAGES
from nainjaune_env.games.batasaurus.records.replay import events_of_history, setup_table
from nainjaune_env.games.batasaurus.state import Phase
from nainjaune_env.games.batasaurus.view.scene import FACE_DOWN, LastTrick, Scene, scene
from nainjaune_env.games.batasaurus.view.text import PANEL, WIDTH, panel, render_text
from nainjaune_env.records.recorder import history_of_round
from nainjaune_env.registry import make_setup
from tests.support.recorded import moments

LAYOUTS = [
    [5, 12, 1, 8, 3, 10, 7, 2, 11, 6, 9, 4],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
]
SORTED = [list(range(1, 13))] * 3
SCRIPT = "1:12 2:7 0:8 1:10 2:5 0:10 1:9 0:9 1:6"
"""Seat 1 takes a trick and leads the next, in which seats 0 and 1 battle, battle again, and seat 1 has committed."""


class Played:
    """A table, and how it came to be."""

    def __init__(self, setup: Setup, layouts: list[list[int]], script: str = "", leader: int = 1, actions: Any = None) -> None:
        self.setup = setup
        self.opening = setup_table(setup, layouts, leader=leader)
        self.batch = Batch(setup, 1, skip_forced=False, autoreset=False)
        self.batch.set_tables(0, np.array([self.opening], setup.game.table))
        self.actions: list[int] = []
        if actions is None and script and self.table.phase == Phase.MEMORISING:
            actions = [MEMORISE] * setup.players
        for action in actions or []:
            self.step(action)
        for step in script.split():
            seat, value = map(int, step.split(":"))
            assert self.table.seat == seat
            self.step(layouts[seat].index(value))

    def step(self, action: int) -> None:
        self.actions.append(action)
        self.batch.step([action])

    @property
    def table(self) -> Any:
        return self.batch.tables[0]

    @property
    def history(self) -> dict[str, Any]:
        return {"opening": self.opening, "actions": self.actions}

    def draw(self, seat: int | None = None, **options: Any) -> str:
        return render_text(self.setup, self.table, seat, **{**self.history, **options})

    def scene(self, seat: int | None = None) -> Scene:
        return scene(self.setup, self.table, seat, events=events_of_history(self.setup, **self.history))


def glimpse() -> Played:
    return Played(make_setup("batasaurus", players=3), LAYOUTS, SCRIPT)


def perfect() -> Played:
    return Played(make_setup("batasaurus", players=3, memory="perfect"), SORTED, SCRIPT)


PICTURE = """\
Batasaurus · batasaurus · trick 2

            ╭─ seat 1 ────────────╮ ╭─ seat 2 ────────────╮
            │ 8 cards · pile 3    │ │ 10 cards · pile 0   │
            │ not shown yet:      │ │ not shown yet:      │
            │   1  2  3  4  5  6  │ │   1  2  3  4  ·  6  │
            │   7  8  ·  · 11  ·  │ │   ·  8  9 10 11 12  │
            ╰───────────── leads ─╯ ╰─────────────────────╯

         ╔═══════════════╗ ╭───────────────╮ ╔═══════════════╗
         ║░░░░░░░░░░░░░░░║ │ 5             │ ║ 9             ║
         ║░░░░░░░░░░░░░░░║ │  Stegosaurus  │ ║ Styracosaurus ║
         ╚═══════════════╝ ╰───────────────╯ ╚═══════════════╝
               seat 1            seat 2            seat 0
              on 9, 10                             on 10

                    last trick: seat 1 took 3 cards
        seat 1 T. rex · seat 2 Triceratops · seat 0 Velociraptor
                                Battle!
            seat 0 to put a card face down, 6 cards at stake

                        ╭─ ▶ seat 0 (you) ────╮
                        │ 9 cards · pile 0    │
                        │ not shown yet:      │
                        │   1  2  3  4  5  6  │
                        │   7  ·  ·  · 11 12  │
                        ╰─────────────────────╯
╭─ 0 ───────────╮ ╭─ 1 ───────────╮ ╭─ 2 ───────────╮ ╭╌ 3 ╌╌╌╌╌╌╌╌╌╌╌╮
│░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ ╎               ╎
│░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ ╎               ╎
╰───────────────╯ ╰───────────────╯ ╰───────────────╯ ╰╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╯
╭─ 4 ───────────╮ ╭╌ 5 ╌╌╌╌╌╌╌╌╌╌╌╮ ╭─ 6 ───────────╮ ╭─ 7 ───────────╮
│░░░░░░░░░░░░░░░│ ╎               ╎ │░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│
│░░░░░░░░░░░░░░░│ ╎               ╎ │░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│
╰───────────────╯ ╰╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╯ ╰───────────────╯ ╰───────────────╯
╭─ 8 ───────────╮ ╭─ 9 ───────────╮ ╭╌ 10 ╌╌╌╌╌╌╌╌╌╌╮ ╭─ 11 ──────────╮
│░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ ╎               ╎ │░░░░░░░░░░░░░░░│
│░░░░░░░░░░░░░░░│ │░░░░░░░░░░░░░░░│ ╎               ╎ │░░░░░░░░░░░░░░░│
╰───────────────╯ ╰───────────────╯ ╰╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╯ ╰───────────────╯
"""


def test_the_picture() -> None:
    assert glimpse().draw(0) == PICTURE


# ---------------------------------------------------------------- what is seen


def test_b4_1_with_perfect_memory_a_seat_sees_its_own_cards_and_no_other_slots() -> None:
    seen = perfect().scene(1)
    assert seen.slots == (None, (1, 2, 3, 4, 5, None, 7, 8, None, None, 11, None), None)
    assert seen.committed == (None, 6, None)
    assert perfect().scene(0).committed == (None, FACE_DOWN, None)
    assert perfect().scene(0).slots[1] is None
    assert seen.cards == perfect().scene(0).cards == (9, 8, 10)


def test_b4_2_under_glimpse_a_seat_sees_its_cards_in_its_memorising_step_alone() -> None:
    setup = make_setup("batasaurus", players=3)
    for steps in range(4):
        played = Played(setup, LAYOUTS, actions=[MEMORISE] * steps)
        for seat in range(3):
            sees = steps < 3 and seat == (1 + steps) % 3
            assert played.scene(seat).slots[seat] == (tuple(LAYOUTS[seat]) if sees else (FACE_DOWN,) * 12)
            assert played.scene(seat).phase == (Phase.MEMORISING if steps < 3 else Phase.TRICK)
            text = played.draw(seat)
            assert ("T. rex" in text) == sees
            assert ("seat 1 to memorise their cards" in text) == (steps == 0)
    seen = glimpse().scene(1)
    assert seen.slots[1] == tuple(None if value in (12, 10, 9, 6) else FACE_DOWN for value in LAYOUTS[1])
    assert (seen.slots[0], seen.slots[2], seen.committed) == (None, None, (None, FACE_DOWN, None))


def test_a_spectator_sees_everything() -> None:
    for played, layouts in ((glimpse(), LAYOUTS), (perfect(), SORTED)):
        seen = played.scene()
        gone = ((8, 10, 9), (12, 10, 9, 6), (7, 5))
        assert seen.slots == tuple(
            tuple(None if value in used else value for value in row) for row, used in zip(layouts, gone, strict=True)
        )
        assert seen.committed == (None, 6, None)
        assert "░ Dimetrodon ░" in played.draw()
        assert "░ Dimetrodon" not in played.draw(0)


def test_b2_3_the_trick_so_far_is_seen_and_what_lies_under_it() -> None:
    seen = glimpse().scene(2)
    assert seen.shown == ((10, 9), (10, 9), (5,))
    assert (seen.phase, seen.ahead, seen.at_turn, seen.leader, seen.at_stake) == (Phase.BATTLE, (0, 1), 0, 1, 6)
    assert seen.last == LastTrick(1, ((8,), (12,), (7,)), (0, 3, 0))
    assert (seen.piles, seen.trick, seen.winners) == ((0, 3, 0), 2, ())
    assert seen.unshown[1] == (1, 2, 3, 4, 5, 6, 7, 8, 11)  # what is committed is not shown
    without = scene(glimpse().setup, glimpse().table, 2)
    assert (without.shown, without.last) == (((9,), (9,), (5,)), None)


# ---------------------------------------------------------------- what is not


SETUPS = [
    make_setup("batasaurus", players=players, memory=memory, dinosaurs=dinosaurs)
    for memory in ("glimpse", "perfect")
    for players in (2, 3, 4)
    for dinosaurs in (4, 12)
]
every_setup = pytest.mark.parametrize("setup", SETUPS, ids=lambda s: f"{s.rules.memory} {s.players} {s.rules.dinosaurs}")


def test_b2_3_with_perfect_memory_what_another_commits_cannot_be_told() -> None:
    setup = make_setup("batasaurus", players=3, memory="perfect")
    before = SCRIPT.rsplit(maxsplit=1)[0]
    seen: list[set[str]] = [set(), set(), set()]
    for value in (1, 2, 3, 4, 5, 6, 7, 8, 11):
        played = Played(setup, SORTED, f"{before} 1:{value}")
        for seat in range(3):
            seen[seat].add(played.draw(seat))
    assert [len(pictures) for pictures in seen] == [1, 9, 1]


# ---------------------------------------------------------------- how it looks


@pytest.mark.parametrize("language", ["en", "fr"])
@every_setup
def test_every_table_fits_the_page(setup: Setup, language: str) -> None:
    short = LANGUAGES[language].words.seat_short
    for table, history in moments(setup, 1):
        for seat in (None, *range(setup.players)):
            text = render_text(setup, table, seat, language=language, **history)
            assert max(map(len, text.splitlines())) <= WIDTH
            assert all(f" {short.format(seat=other)} " in text for other in range(setup.players))
            assert text.count("▶") == (table.stage == 0)
            corners = [len(re.findall(pair, text)) for pair in ("[╭╔]", "[╮╗]", "[╰╚]", "[╯╝]")]
            assert len(set(corners)) == 1


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_battle_that_takes_the_whole_game_fits_the_page(language: str) -> None:
    played = Played(make_setup("batasaurus", players=4, memory="perfect"), [SORTED[0]] * 4, leader=0)
    words, labels = LANGUAGES[language].words, LANGUAGES[language].labels
    for ply in range(48):
        played.step(11 - ply // 4)
        text = played.draw(language=language)
        assert max(map(len, text.splitlines())) <= WIDTH
        if ply == 33:  # two seats have committed their 4 on all of this
            assert text.count(f"{labels.under} 5, 6, 7, 8,") == text.count(f"{labels.under} 6, 7, 8, 9,") == 2
            assert text.count("10, 11, 12 ") + text.count("10, 11, 12\n") == 4
    assert played.batch.done[0]
    # four times the whole set, each name told
    assert all(len(re.findall(rf"{re.escape(name)}\b", text)) == 4 for name in words.dinosaurs)


def test_panels_hold_the_widest_figures() -> None:
    table = glimpse().table.copy()
    table["cards"], table["pile"] = 12, 48
    for language in ("en", "fr"):
        for seat in range(3):
            seen = scene(glimpse().setup, table, seat)
            assert {len(line) for line in panel(seen, seat, LANGUAGES[language])} == {PANEL}


def test_a_history_holds_forced_plies_too() -> None:
    """Last cards are forced: a batch makes these plies by itself, and its history is that of one that does not."""
    setup = make_setup("batasaurus", memory="perfect", dinosaurs=2)
    plies = Played(setup, [[1, 2]] * 2, "0:1 1:2 1:1 0:2", leader=0)
    batch = Batch(setup, 1, autoreset=False, log=True)
    batch.set_tables(0, plies.opening)
    for action in plies.actions[:2]:
        batch.step([action])
    assert plies.draw(0) == render_text(setup, batch.tables[0], 0, **history_of_round(batch, 0))
    assert "last trick: seat 0 took 2 cards\n" in plies.draw(0)
    assert "  seat 1 Compsognathus · seat 0 Kentrosaurus\n" in plies.draw(0)


def test_colour_only_where_asked_for() -> None:
    plain, coloured = glimpse().draw(), glimpse().draw(color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    painted = re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", coloured)
    assert {colour for colour, text in painted if text == "Spinosaurus" or text == "T. rex"} == {"31"}
    assert {colour for colour, text in painted if "░" in text} == {"2"}
    french = glimpse().draw(language="fr", color=True)
    assert "\x1b[33mVélociraptor\x1b[0m" in french
    assert "\x1b[32mAnkylosaure" not in french  # nobody has shown it


def over(script: str, **knobs: Any) -> Played:
    """A game of three with two dinosaurs each, to its end."""
    played = Played(make_setup("batasaurus", players=3, memory="perfect", dinosaurs=2, **knobs), [[1, 2]] * 3, script, leader=0)
    assert played.batch.done[0]
    return played


@pytest.mark.parametrize(
    ("played", "last", "end"),
    [
        (over("0:1 1:2 2:1 1:1 2:2 0:2"), "seat 0 and seat 2 took 1 card each", "Seat 1 wins with 3 cards."),
        (over("0:2 1:2 2:1 0:1 1:1"), "seat 0 and seat 1 took 2 cards each", "Seat 0 and seat 1 share the win with 2 cards."),
        (over("0:2 1:2 2:1 0:1 1:1", exhausted="void"), "nobody's", "Seat 2 wins with 1 card."),
        (over("0:1 1:1 2:2 2:1 0:2 1:2"), "seat 0 and seat 1 took 1 card each", "Seat 2 wins with 3 cards."),
    ],
    ids=["shared", "with cards left over", "void", "a card for nobody"],
)
def test_b2_4_and_b3_2_the_last_trick_and_the_end_are_told(played: Played, last: str, end: str) -> None:
    for seat in (None, 0, 1, 2):
        text = played.draw(seat)
        assert re.search(rf"^ +last trick: {re.escape(last)}$", text, re.MULTILINE)
        assert re.search(rf"^ +the game is over\n +{re.escape(end)}$", text, re.MULTILINE)
        assert re.search(r"^Batasaurus · batasaurus · trick \d$", text, re.MULTILINE)
        assert not re.search("▶|leads|to play|to lead", text)
    events = events_of_history(played.setup, **played.history) or []
    assert played.scene().trick == sum(event.kind in (Event.TAKE, Event.SHARE, Event.NOBODY) for event in events)
    assert played.scene().at_turn is None
