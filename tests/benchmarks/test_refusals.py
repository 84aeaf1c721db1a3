"""What a benchmark cannot time is refused in a sentence, before anything is timed."""

from __future__ import annotations

import pytest

from tests.benchmarks.commands import command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("advice --models taly", "'tally'"),
        ("browser nowhere", "There is no page in 'nowhere'; `make play` writes one."),
        ("decisions --agents lowst", "'lowest'"),
        ("decisions --agents cheapest --preset batasaurus", "'cheapest' remembers, and its"),
        ("growth --parts seat", "'seat'"),
        ("growth --deals 1", "2 deals"),
        ("growth --most 0", "1 or"),
        ("inference --agent tally", "needs the probabilities of actions, so a network, not 'tally'"),
        ("scale_simulation --times nowhere.json", "--calibrate measures and writes them"),
        ("search_speed --field tally --endings adaptive=2 --preset classic", "Expected a whole number of deals from 8"),
        ("serve --preset clasic", "'classic'"),
        ("speed --setups clasic", "'classic'"),
        ("speed --setups batasaurus:9", "9"),
        ("speed --peers chess", "'chess'"),
        ("speed --seconds 0", "more than 0"),
        ("speed --again --json nowhere.json", "there is no such file"),
        ("throughput --preset clasic", "'classic'"),
        ("throughput --set decline=nevr", "'never'"),
        ("throughput --set decline", "key=value"),
        ("training --runs a=nowhere.yaml", "nowhere.yaml"),
        ("training --deals 1", "2 or more"),
    ],
)
def test_what_cannot_be_timed_is_refused(line: str, said: str) -> None:
    done = command(*line.split())
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
