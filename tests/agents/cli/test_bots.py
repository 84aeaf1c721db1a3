"""Other programs as players in every command: what they play, what their faults cost, and that none is left behind."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.base.settings import described
from nainjaune_agents.cli.bot_options import settings_of, with_settings
from nainjaune_agents.cli.main import command_line
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.program.settings import FORFEIT, STOP, BotSettings
from tests.agents.cli.command import Capture, nainjaune, refused
from tests.agents.players.program.programs import gone, lowest
from tests.agents.tables.server.test_bots import TALKER
from tests.support.processes import running

FAULTY = TALKER
"""It ends after as many decisions as its argument says."""
TABLE = "--preset djeco --players 3"


def name_of(program: Path, *words: str) -> str:
    return "exec:" + shlex.join([sys.executable, "-S", str(program), *words])


LIKE_LOWEST = lowest(deterministic=True)


def numbers(path: str) -> Any:
    """The results in a file, without what differs between two runs, or between a bot and the agent that it plays like."""
    held = json.loads(Path(path).read_text(encoding="utf-8"))
    for key in ("made", "commit", "versions", "machine", "milliseconds_a_decision", "bots"):
        held.pop(key, None)
    return json.loads(json.dumps(held).replace(json.dumps(LIKE_LOWEST)[1:-1], "lowest"))


def played(capfd: Capture, words: str, bot: str = LIKE_LOWEST) -> tuple[int, str, str]:
    """What a command returns and prints whose word ``BOT`` is the name of the bot."""
    first, *others = (bot if word == "BOT" else word for word in words.split())
    return nainjaune(capfd, first, *others)


def output(capfd: Capture, words: str, bot: str = LIKE_LOWEST) -> str:
    status, out, err = played(capfd, words, bot)
    assert (status, err) == (0, "")
    return out


def test_a_tournament_with_a_bot_equals_that_with_the_heuristic_it_plays_like(capfd: Capture) -> None:
    words = f"{TABLE} --deals 12 --chunk 5 --agents closer"
    output(capfd, f"evaluate --out bot {words} BOT")
    output(capfd, f"evaluate --out own {words} lowest")
    assert numbers("bot/results.json") == numbers("own/results.json")
    assert "bots" not in json.loads(Path("own/results.json").read_text(encoding="utf-8"))
    (counts,) = json.loads(Path("bot/results.json").read_text(encoding="utf-8"))["bots"].values()
    assert counts["decisions"] > 12 * 3
    assert (counts["forfeited"], counts["faults"]) == (0, {})
    assert "Faults of bots" not in Path("bot/results.html").read_text(encoding="utf-8")


def faults_in(out: str, bot: str) -> int:
    """The number of faults that an output says the bot made, all of them ends of the program at one decision."""
    said = re.search(re.escape(bot) + r": (\d+) faults? \((\d+) exit\), (\d+) of [\d,]+ decisions forfeited", out)
    assert said is not None, out
    assert said[1] == said[2] == said[3]
    return int(said[1])


@pytest.mark.slow
def test_settings_and_counts_pass_to_workers_and_back(capfd: Capture) -> None:
    faulty = name_of(FAULTY, "150")
    words = f"evaluate {TABLE} --deals 12 --chunk 3 --out a --on-fault forfeit --workers 2 --agents closer BOT"
    faults = faults_in(output(capfd, words, faulty), faulty)
    assert faults == json.loads(Path("a/results.json").read_text(encoding="utf-8"))["bots"][faulty]["faults"]["exit"] > 0


def test_faults_are_counted_in_all_that_is_printed_and_written(capfd: Capture) -> None:
    faulty = name_of(FAULTY, "100")
    words = f"{TABLE} --on-fault forfeit"
    for command, file in (
        (f"evaluate {words} --deals 6 --out a --agents closer BOT", "a/results.json"),
        (f"evaluate --until-decided {words} --deals 6 --out b --agents closer BOT", "b/results.json"),
        (f"evaluate {words} --deals 2 --rounds 2 --episode match --out c --agents closer BOT", "c/results.json"),
    ):
        faults = faults_in(output(capfd, command, faulty), faulty)
        assert json.loads(Path(file).read_text(encoding="utf-8"))["bots"][faulty]["faults"]["exit"] == faults > 0
    page = Path("a/results.html").read_text(encoding="utf-8")
    assert "Faults of bots" in page
    assert "--on-fault forfeit" in page  # of the command that repeats it


def test_a_tournament_that_a_bot_has_stopped_goes_on(capfd: Capture) -> None:
    faulty = name_of(FAULTY, "200")
    words = f"evaluate {TABLE} --deals 8 --chunk 2 --agents closer BOT"
    status, out, err = played(capfd, f"{words} --out stopped", faulty)
    assert (status, out) == (2, "")
    assert "The program ended with status 3" in err
    assert "kept in stopped/rows, and the same command goes on from there; a smaller --chunk keeps more." in err
    assert [*Path("stopped/rows").iterdir()]
    Path("healed").touch()
    output(capfd, f"{words} --out stopped", faulty)
    output(capfd, f"{words} --out whole", faulty)
    assert numbers("stopped/results.json") == numbers("whole/results.json")


@pytest.mark.slow
def test_commands_take_bots(capfd: Capture, file: Path) -> None:
    assert "duplicate play alone needs" in output(capfd, f"evaluate --control-variates {TABLE} --deals 3 --agents closer BOT")
    output(capfd, f"film {TABLE} --out round.svg --agents closer BOT")
    assert Path("round.svg").stat().st_size > 1000
    assert "study/decisions.parquet" in output(capfd, f"study {TABLE} --rounds 4 --out study --agents closer BOT")
    out = output(capfd, f"advise --record {file} --round 1 --move 1 --deals 4 --model BOT")
    assert "rounds played out by" in out
    words = f"advise --record {file} --round 1 --move 1 --deals 4 --json --on-fault forfeit --model BOT"
    status, out, err = played(capfd, words, name_of(FAULTY, "30"))
    assert (status, json.loads(out)["unit"], "decisions forfeited" in err) == (0, "chips", True)
    assert "played out by" in output(capfd, f"analyse {file} --match 1 --seat 0 --choosing 4 --measuring 4 --model BOT")
    small = "--preset djeco --players 2 --set ranks=3 --set suits=2 --set hand=2 --first 0"
    own, bots = output(capfd, f"exact {small} --agents lowest BOT").splitlines()[-2:]
    assert own.split()[-5:] == bots.split()[-5:]


def settings(words: str | list[str], command: str = "evaluate --agents closer exec:bot") -> BotSettings:
    more = words.split() if isinstance(words, str) else words
    return settings_of(command_line("nainjaune").parse_args([*command.split(), *more]))


def test_arguments_say_how_bots_are_asked(capfd: Capture, tmp_path: Path) -> None:
    assert settings("") == BotSettings(STOP, 10.0, 5.0)
    assert settings("--on-fault forfeit --bot-start-seconds 30") == BotSettings(FORFEIT, 30.0, 5.0)
    assert settings("--bot-seconds 0") == BotSettings(STOP, None, None)
    assert settings("", "serve") == BotSettings(FORFEIT)
    words = f"evaluate {TABLE} --deals 2 --agents closer"
    output(capfd, f"{words} BOT --bot-seconds 4 --bot-start-seconds 30", lowest(path=tmp_path / "read"))
    hello = json.loads((tmp_path / "read").read_text(encoding="utf-8").splitlines()[0])
    assert hello["seconds"] == {"start": 30.0, "decision": 4.0}
    for option in ("--on-fault stop", "--bot-seconds 3"):
        refused(capfd, f"{words} lowest {option}", "is for bots, whose names begin with exec: or chat:, and no agent here is")
    refused(capfd, f"{words} lowest --on-fault ignore", "Unknown choice 'ignore'")
    refused(capfd, f"{words} lowest --bot-seconds -1", "xpected a number from 0")


def test_arguments_say_how_language_models_are_asked(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    chat = "evaluate --agents closer chat:gpt-5"
    assert settings("", chat) == BotSettings(decision_seconds=60.0, chat=ChatSettings())
    one = settings("--chat form=long tokens=7 --bot-seconds 9 --chat temperature=1 base_url=http://[::1]:80/v1", chat)
    assert one.chat == ChatSettings(base_url="http://[::1]:80/v1", form="long", temperature=1.0, tokens=7)
    assert settings("--out there", chat).chat == ChatSettings(transcripts="there.chat.jsonl")
    assert settings("--out there --chat transcripts=here", chat).chat == ChatSettings(transcripts="here")
    says = "--chat: Unknown key 'tokn'. Did you mean 'tokens'?"
    refused(capfd, f"evaluate {TABLE} --agents closer chat:gpt-5 --chat tokn=3", re.escape(says))
    with pytest.raises(SystemExit):
        command_line("nainjaune").parse_args(["evaluate", "--help-players"])
    shown = " ".join(capfd.readouterr().out.split())
    assert all(f" {name}, {meaning}" in shown for name, _, meaning in described(ChatSettings))


@pytest.mark.parametrize(
    "one",
    [
        BotSettings(),
        BotSettings(FORFEIT, 10.0, 2.5),
        BotSettings(STOP, None, None),
        BotSettings(chat=ChatSettings(base_url="http://127.0.0.1:80/v1", form="long", language="fr", temperature=0.7, retries=0)),
    ],
)
def test_settings_are_read_again_from_the_words_of_a_report(one: BotSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert settings(one.to_words(), f"evaluate --agents {'exec:bot' if one.chat is None else 'chat:gpt-5'}") == one
    assert BotSettings.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_training_takes_the_settings_that_are_given() -> None:
    def given(words: str) -> dict[str, Any]:
        return dict(with_settings(values, command_line("nainjaune").parse_args(["train", *words.split()])))

    values: dict[str, Any] = {"seed": 3}
    assert given("--out run") == values
    assert given("--out run --bot-seconds 5") == {"seed": 3, "bots": {"decision_seconds": 5.0}}
    assert given("--chat tokens=3")["bots"]["chat"]["tokens"] == 3
    values = {"bots": {"on_fault": FORFEIT, "decision_seconds": 9.0}}
    assert given("--bot-seconds 0") == {"bots": {"on_fault": FORFEIT, "decision_seconds": None, "start_seconds": None}}


def test_a_match_that_a_bot_has_stopped_goes_on(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = "\n".join([*"A23456789JQK", "10", "pass", ""])

    def play(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(moves * 40))
        return played(capfd, f"play --pace 0 --no-confirm {words}", name_of(FAULTY, "3"))

    status, out, err = play("--rounds 1 --seed 4 --agents BOT")
    assert (status, "The program ended with status 3" in err, "--resume" in out) == (2, True, True)
    status, out, err = play("--resume --on-fault forfeit")  # the bot is asked again, ends again, and forfeits
    assert (status, err) == (0, "")
    faults_in(out, name_of(FAULTY, "3"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("workers", "number"), [(["--workers", "2"], signal.SIGINT), ([], signal.SIGKILL)])
def test_no_bot_outlives_the_command(tmp_path: Path, workers: list[str], number: signal.Signals) -> None:
    """A bot that does not end with its input ends with the command: after Ctrl-C, and where the command is killed."""
    stubborn = tmp_path / "stubborn.py"
    text = FAULTY.read_text(encoding="utf-8").replace("    main()\n", "    main()\n    import time\n    time.sleep(600)\n")
    stubborn.write_text(text, encoding="utf-8")
    words = ["evaluate", *TABLE.split(), "--deals", "1000000", "--chunk", "8", *workers, "--agents", "closer"]
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words, name_of(stubborn, "1000000")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    there, until = 7 if workers else 3, time.monotonic() + 60  # the command, and for each bot its reaper, which names it too
    try:
        while len(running(str(stubborn))) < there and time.monotonic() < until:
            time.sleep(0.1)
        os.kill(process.pid, number)
        process.wait(30)
    finally:
        process.kill()
    assert gone(stubborn)
