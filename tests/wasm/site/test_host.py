"""The tables of a browser, driven by messages in Node.js: matches that are resumed, the edge, the deal of the day, refusals."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.games.nain_jaune.rules import ENDLESS, REFUSALS
from nainjaune_env.records.record import parse_record, verify_record
from tests.wasm.site.scripts import output_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def outcome(site: Path) -> Any:
    return json.loads(output_of("host.mjs", site))


def test_a_match_is_resumed_and_recorded(outcome: Any) -> None:
    assert outcome["home"] == ["greeted", "host", "edges", "stored"]
    assert outcome["resumed"]
    assert outcome["french"][0] == "Manche 1 — donneur\N{NARROW NO-BREAK SPACE}: random"
    assert outcome["over"]["over"]
    assert outcome["over"]["scene"]["viewer"] is None
    records = [parse_record(line) for line in outcome["record"].splitlines()]
    assert len(records) == 12
    for record in records:
        assert verify_record(record) == 1
        assert record["agents"] == ["Zoé", "closer", "zoo:strong", "random"]


def test_a_record_is_replayed_as_it_was_played(outcome: Any) -> None:
    replay, over = outcome["replay"], outcome["over"]
    assert replay["scene"] == over["scene"]
    assert replay["rounds"] == [{"first": 0, "pictures": len(over["events"]) + 1}]
    assert replay["text"].splitlines()[-1] == over["settled"][-1]
    assert 0 < len(replay["decisions"]) < len(over["events"])
    assert outcome["wrong_record"].startswith("Round 1: expected 'winner' to be")


def test_the_edge_has_an_interval_from_ten_rounds_on(outcome: Any) -> None:
    assert outcome["quantiles"] == pytest.approx([2.262157, 2.093024, 1.984217], abs=1e-4)
    assert outcome["summary"]["half"] == pytest.approx(2.262157 * math.sqrt(55 / 6 / 10), abs=1e-4)
    assert outcome["few"]["half"] is None
    assert outcome["round"]["name"] == "Le Nain"
    assert outcome["round"]["counts"]
    (edge,) = outcome["edges"]
    assert edge["rounds"] == 12
    assert edge["half"] > 0
    assert not outcome["helped"]
    assert not outcome["advised"]


def test_rounds_under_other_rules_have_their_own_edge_and_a_known_deal_has_none(outcome: Any) -> None:
    assert outcome["keys"] == [["nain_jaune · djeco · 4", 1], ["nain_jaune · djeco · 4 · stake=2", 1]]
    again, (first,) = outcome["again"], outcome["again"]["first"]
    assert again["then"] == [first]
    assert int(again["yours"].split()[0].replace("−", "-")) != first["yours"]


def test_a_decision_is_taken_back_and_a_deal_played_again(outcome: Any) -> None:
    assert outcome["undone"]
    assert outcome["same_cards"]


def test_a_tab_does_not_overwrite_what_another_has_played(outcome: Any) -> None:
    assert outcome["tabs"] == {"refused": "The table has moved on since; nothing was played.", "follows": True, "kept": True}


def test_decisions_are_reviewed(outcome: Any) -> None:
    review, position, advice = outcome["review"], outcome["position"], outcome["advice"]
    costs = [float(each["cost"].split(" ")[0].replace("−", "-")) for each in review["decisions"]]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 0
    assert review["mistakes"] == sum(each["mistake"] for each in review["decisions"])
    assert {each["kind"] for each in review["decisions"]} <= {"what to lead", "to play or to decline", "pot card or plain one"}
    assert position["turn"] == 0
    assert position["action"] in [action for action, _ in position["moves"]]
    assert advice["moves"][0]["mark"] == "▸"
    assert advice["done"]
    assert {move["action"] for move in advice["moves"]} == {action for action, _ in position["moves"]}


def test_the_deal_of_the_day_is_the_same_for_everybody(outcome: Any) -> None:
    first, second, third = outcome["days"]
    assert first == second
    assert first["begun"] != third["begun"]
    assert third["round"]["day"] == "2026-01-03"
    assert third["link"] == "day-2026-01-03"  # each day is a result of its own


def test_what_is_wrong_is_said_in_a_sentence(outcome: Any) -> None:
    assert outcome["refusals"] == [
        "There are no rules none here.",
        "One person plays here; the others are agents.",
        'The knob "stake" is a whole number from 1 to 1000000, not 0.',
        REFUSALS[ENDLESS - 1],
        "A seed is a whole number from 0 to 18446744073709551615.",
        "The table has moved on since; nothing was played.",
        "This needs the server of “nainjaune serve”; the page without a server does not have it.",
    ]
    assert outcome["damaged"] == {
        "text": "What is stored under this link cannot be read. Delete it above, or leave it as it is.",
        "problems": [{"reason": "The table cannot go on: its ply 1 is illegal when it is repeated."}],
        "isNamed": True,
        "kept": 1,
    }
    assert not outcome["forgotten"]


def test_a_puzzle_says_how_good_a_guess_is(outcome: Any) -> None:
    asked, wrong, right, following = outcome["puzzles"]
    assert sorted(outcome["at_puzzle"]) == ["Le Nain", "Margot", "Suzon", "Zoé"]
    assert asked["answer"] is None
    assert not wrong["answer"]["right"]
    assert wrong["answer"]["chosen"] != wrong["answer"]["best"]
    assert wrong["solved"] == 0
    assert right["answer"]["right"]
    assert float(right["answer"]["lead"]) >= 1
    assert right["solved"] == 1
    assert (asked["number"], following["number"]) == (1, 2)


def test_the_lesson_says_what_to_do(outcome: Any) -> None:
    begun, over = outcome["lesson"]
    assert outcome["learner"] == "Guest"
    assert begun[0].startswith("Get rid of all your cards")
    assert begun[1].startswith("You have the lead")
    assert over[0].startswith("That is the whole game.")
