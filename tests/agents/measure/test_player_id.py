"""Two players with one identity play the same: what changes how one plays changes it, and where its files lie does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec import structs

from nainjaune_agents.measure.ladder.entries import located
from nainjaune_agents.measure.player_id import player_id, settings_that_decide
from nainjaune_agents.players.chat.settings import ANSWERS_DEPEND_ON, ChatSettings
from nainjaune_agents.players.loading import kept_path
from nainjaune_agents.players.mixed import explicit_name
from nainjaune_agents.players.networks.checkpoint import FILE_NAME
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError
from tests.agents.measure.distributed.runs import save_run
from tests.agents.players.test_loading import package  # noqa: F401

SETUP = make_setup(players=3)
PYTHON = "from helper import pick\ndef f(observation, mask):\n    return pick(mask)\n"
HELPER = "def pick(mask):\n    return mask.argmax(axis=-1)\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a run and players from elsewhere in the folder ``a``, and its copy ``b``."""
    monkeypatch.chdir(tmp_path)
    save_run(Path("a/run"))
    shutil.copy(f"a/run/{FILE_NAME}", kept_path(Path("a/run"), 100))
    for name, text in {"bot.sh": "true\n", "data.txt": "1\n", "bot.py": PYTHON, "helper.py": HELPER, "net.onnx": "1"}.items():
        Path("a", name).write_text(text, encoding="utf-8")
    shutil.copytree("a", "b")
    return tmp_path


def of(name: str, bots: BotSettings | None = None) -> str:
    identity: str = player_id(name, SETUP, bots)
    return identity


def test_it_is_a_digest_and_the_same_each_time() -> None:
    assert len(of("closer")) == 32
    assert int(of("closer"), 16)
    assert of("closer") == of("closer", BotSettings(FORFEIT))


def test_names_modifiers_and_tables_decide() -> None:
    searches = [f"closer@search={text}" for text in ("5", "6", "5,inference=policy", "5,rollouts=tally", "5,rollouts=lowest")]
    fields = ["mixed:closer+tally", "mixed:tally+closer", "mixed:closer+tally@search=5", "mixed:closer+highest"]
    runs = ["a/run", "a/run@sample", "a/run@search=5", "a/run@search=5@search=5"]
    names = ["closer", "tally", "closer@adaptive=5", *searches, *fields, *runs]
    setups = [SETUP, make_setup(), make_setup(preset="classic", players=3), make_setup(players=3, direction="counterclockwise")]
    players = [*map(of, names), *(player_id("closer", setup) for setup in setups[1:])]
    assert len(set(players)) == len(names) + 3
    other = make_setup("batasaurus", None, 2)
    assert player_id("random", other) != player_id("random", make_setup("batasaurus", None, 3))
    assert player_id("cheapest", other) != player_id("cheapest@remember=0.7", other) != player_id("cheapest@remember=0.8", other)


def test_a_mixed_field_is_its_pool() -> None:
    assert of("mixed") == of(explicit_name("mixed", SETUP))


@pytest.mark.parametrize(
    "name",
    ["{}/run", "{}/run@sample", "mixed:{}/run+closer", "exec:sh {}/bot.sh", "exec:sh --in={}/bot.sh", "onnx:{}/net.onnx"],
)
def test_a_copy_is_the_same_player_and_a_changed_one_is_not(name: str) -> None:
    assert of(name.format("a")) == of(name.format("b")) == of(name.format(Path("b").resolve()))
    save_run(Path("b/run"), iteration=1)
    for file in ("bot.sh", "net.onnx"):
        Path("b", file).write_text("other\n", encoding="utf-8")
    assert of(name.format("a")) != of(name.format("b"))


@pytest.mark.parametrize("file", ["bot.py", "helper.py"])
def test_python_files_with_what_they_import(file: str) -> None:
    assert of("a/bot.py:f") == of("b/bot.py:f") != of("b/bot.py:g")
    path = Path("b", file)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert of("a/bot.py:f") != of("b/bot.py:f")


def test_one_network_has_several_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({of(name) for name in ("a/run", "ppo:a/run", f"a/run/{FILE_NAME}", "a/run@100")}) == 1
    monkeypatch.chdir("a")
    before = [of(name) for name in ("closer@search=4,rollouts=run", "mixed:tally+closer@search=4,rollouts=run", "closer")]
    save_run(Path("run"), iteration=1)
    after = [of(name) for name in ("closer@search=4,rollouts=run", "mixed:tally+closer@search=4,rollouts=run", "closer")]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, False, True]
    assert of("run@100") not in (of("run"), *before)


def test_words_of_a_command_decide() -> None:
    names = ["sh a/bot.sh", "sh a/bot.sh --level 3", "sh a/bot.sh --level 4", "sh a/bot.sh a/data.txt", "sh a/data.txt a/bot.sh"]
    assert len({of(f"exec:{name}") for name in names}) == len(names)


def test_settings_of_bots_decide_for_bots() -> None:
    chat = BotSettings(chat=ChatSettings(base_url="http://x"))
    bots = [BotSettings(), BotSettings(FORFEIT), BotSettings(decision_seconds=0.01), BotSettings(start_seconds=1.0)]
    assert len({of("exec:sh a/bot.sh", one) for one in bots}) == len(bots)
    assert of("exec:sh a/bot.sh", chat) == of("exec:sh a/bot.sh")
    assert of("closer", bots[2]) == of("closer", chat) == of("closer")
    assert of("closer@search=2,rollouts=exec:true", bots[1]) != of("closer@search=2,rollouts=exec:true")
    assert settings_that_decide("closer", chat) == {}


def test_settings_of_texts_decide_for_language_models() -> None:
    usual = ChatSettings(base_url="http://x")
    others = {"base_url": "http://y", "form": "long", "language": "fr", "temperature": 1.0, "answer_tokens": 9, "retries": 0}
    assert [*others] == [*ANSWERS_DEPEND_ON]
    players = [of("chat:x", BotSettings(chat=structs.replace(usual, **{key: value}))) for key, value in others.items()]
    here = of("chat:x", BotSettings(chat=usual))
    forfeit = [BotSettings(FORFEIT, decision_seconds=seconds, chat=usual) for seconds in (5.0, 6.0)]
    players += [here, of("chat:y", BotSettings(chat=usual)), *(of("chat:x", bots) for bots in forfeit)]
    assert len(set(players)) == len(players)
    cheap = structs.replace(usual, at_once=1, cache="c", transcripts="t", tokens=3)
    assert of("chat:x", BotSettings(decision_seconds=60, start_seconds=1.0, chat=cheap)) == here


def test_a_program_that_is_built_is_its_sources() -> None:
    def built(folder: str, agent: str, build: str = "cc -o bot bot.c") -> str:
        identity: str = player_id(located(agent, Path(folder)), SETUP, folder=Path(folder), build=build)
        return identity

    for folder in ("a", "b"):
        Path(folder, "bot.c").write_text("int main;", encoding="utf-8")
        Path(folder, "build.sh").write_text("cc bot.c", encoding="utf-8")
    for agent, build in {
        "exec:./bot": "cc -o bot bot.c",
        "exec:java -jar bot --in=data.txt": "sh bot.c bot",
        "exec:./bot x": "sh build.sh",
    }.items():
        before = {built(folder, agent, build) for folder in ("a", "b")}
        assert len(before) == 1
        Path("a/bot").write_bytes(b"machine code")
        assert {built("a", agent, build)} == before
        Path("a/bot").unlink()
    flags = built("a", "exec:./bot"), built("a", "exec:./bot", "cc -O2 -o bot bot.c"), built("a", "exec:./bot -v")
    assert len(set(flags)) == 3
    for file, agent in (("bot.c", "exec:./bot"), ("data.txt", "exec:./bot data.txt")):
        before = {built("b", agent)}
        Path("b", file).write_text("other", encoding="utf-8")
        assert built("b", agent) not in before
    with pytest.raises(AgentError, match=r"A program is built by 'make', which names no file of 'a'\."):
        built("a", "exec:./bot", "make")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a/empty", r"'a/empty' plays by a file that cannot be read: '.*checkpoint\.safetensors': No such file"),
        ("a/none", "There is no run or checkpoint at 'a/none'"),
        ("exec:./none --level 3", "plays by a file that cannot be read: 'none': No such file"),
        ("exec:sh 'a", r"The agent \"exec:sh 'a\" is not a command: No closing quotation\."),
        ("exec:", "The agent 'exec:' is not a command: It names no program"),
        ("onnx:none.onnx", r"cannot be read: 'none\.onnx'"),
        ("none.py:f", r"There is no file 'none\.py'"),
        ("onnx:a\0", "Expected the name of an agent, and its build, without NUL"),
        ("closed", "Unknown agent 'closed'"),
    ],
)
def test_what_is_not_there(name: str, says: str) -> None:
    Path("a/empty").mkdir()
    with pytest.raises(AgentError, match=says):
        of(name)


def test_a_player_of_another_package_is_its_version(package: Path) -> None:  # noqa: F811
    before = of("theirs"), of("theirs:strong")
    (metadata,) = package.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text(encoding="utf-8").replace("Version: ", "Version: 9."), encoding="utf-8")
    assert not {of("theirs"), of("theirs:strong")} & {*before}
