"""Records that people open: verified in a process of its own, kept under a token, sent as a replay and as a film."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nainjaune_agents.tables.server import job, replays
from nainjaune_agents.tables.server.protocol import Limits, MessageError, OpenReplay, Refusal, cost, read_message
from nainjaune_agents.tables.server.replays import Replays
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_env.core.errors import RecordError
from nainjaune_env.records.record import parse_record
from nainjaune_env.render.replay_page import replay_data
from tests.agents.tables.server.pages import Page, made, new_table, opened, served
from tests.support.games import games_with
from tests.support.source import ROOT

GAME = games_with("speaker", "pictures")[0]
RECORD = (ROOT / "tests" / "golden" / "batasaurus_perfect_2.jsonl").read_text(encoding="utf-8").splitlines()[0]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does the work of a job in this process."""

    async def work(self: Replays, kind: str, record: str, language: str, link: bytes, **more: int) -> bytes:
        try:
            return job.work({"kind": kind, "record": record, "language": language, **more})
        except RecordError as error:
            raise MessageError(str(error)) from None

    monkeypatch.setattr(Replays, "work", work)


@pytest.mark.usefixtures("in_this_process")
def test_a_record_is_opened_and_its_link_leads_to_it(tmp_path: Path) -> None:
    kept: dict[str, str] = {}

    async def first(server: TableServer) -> None:
        seat = Page(server, (await made(server, new_table(GAME)))[0])
        answer = await seat.ask("replay", record=RECORD)
        kept["token"] = answer["token"]
        assert answer["type"] == "opened"

    async def second(server: TableServer) -> None:
        """Another server on the same file."""
        for language in ("en", "fr"):
            page = Page(server, kept["token"], language)
            answer = await page.hello()
            data = gzip.decompress(base64.b64decode(answer["data"]))
            assert data == gzip.decompress(replay_data(parse_record(RECORD), language, scenes=True))
        assert "cannot send" in (await page.ask("rules"))["text"]
        assert (await page.ask("new", table={}))["type"] == "refused"

    served(tmp_path, first)
    served(tmp_path, second)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("broken", ["x", "{}", RECORD.replace('"winners":[', '"winners":[9,')])
async def test_a_broken_record_gets_a_sentence_and_nothing_is_kept(broken: str, server: TableServer) -> None:
    page = Page(server, server.add_host())
    answer = await page.ask("replay", record=broken)
    assert (answer["type"], answer["of"]) == ("refused", "replay")
    assert answer["text"].endswith(".")
    assert server.store._file.execute("select count(*) from replays").fetchone() == (0,)


@pytest.mark.usefixtures("in_this_process")
async def test_a_film_of_a_round(monkeypatch: pytest.MonkeyPatch, server: TableServer) -> None:
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setattr(job, "SCALE", 0.05)
    token = (await Page(server, server.add_host()).ask("replay", record=RECORD))["token"]
    page = Page(server, token)
    film = await page.ask("film", round=1, view=2)
    with image.open(io.BytesIO(base64.b64decode(film["data"]))) as gif:
        assert (gif.format, gif.n_frames > 2) == ("GIF", True)
    assert "from 0 to 2, not 3" in (await page.ask("film", round=1, view=3))["text"]
    assert (await page.ask("film", round=9, view=0))["type"] == "refused"
    page.token = (await made(server, new_table(GAME)))[0]
    assert "token of a table" in (await page.ask("film", round=1, view=0))["text"]


def test_the_size_of_records_and_what_they_count_for() -> None:
    limits = Limits(message_bytes=100, record_bytes=500)
    long = json.dumps({"type": "replay", "token": "t", "record": "x" * 300})
    assert read_message(long, limits) == OpenReplay("x" * 300, token="t")
    assert 3 < cost(long, limits) < 4
    assert cost("x" * 300, limits) == cost(b"x" * 300, limits) == 1
    for refused in (
        json.dumps({"type": "replay", "token": "t", "record": "x" * 500}),
        json.dumps({"token": "t", "type": "replay", "record": "x" * 300}),
        '{"type":"replay","type":"rules","token":"' + "t" * 300 + '"}',
    ):
        with pytest.raises(MessageError, match="at most"):
            read_message(refused, limits)


def run(replay: Callable[[Replays], Awaitable[Any]], path: Path, **options: Any) -> Any:
    async def go() -> Any:
        with opened(path / "t.sqlite") as store:
            return await replay(Replays(store, Limits(jobs_of_link=3), **options))

    return asyncio.run(go())


def script(path: Path, text: str) -> SimpleNamespace:
    """A program in place of the interpreter."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    path.chmod(0o755)
    return SimpleNamespace(executable=str(path))


@pytest.mark.parametrize(
    ("text", "error", "about"),
    [
        ("exec sleep 60", MessageError, "more than 0.2 seconds"),
        ("cat > /dev/null; echo 'It is broken.' >&2; exit 2", MessageError, "It is broken"),
        ("cat > /dev/null; echo Traceback >&2; exit 1", Refusal, "failed_job"),
    ],
)
def test_a_job_that_fails(text: str, error: type[Exception], about: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "sys", script(tmp_path / "program", text))
    seconds = 0.2 if "sleep" in text else 60.0
    with pytest.raises(error, match=about):
        run(lambda own: own.work("replay", RECORD, "en", b""), tmp_path, seconds=seconds)


def test_jobs_wait_for_each_other_and_not_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_at_once = f"cat > /dev/null; mkdir {tmp_path}/one && sleep 0.05 && rmdir {tmp_path}/one && echo x"
    monkeypatch.setattr(replays, "sys", script(tmp_path / "program", one_at_once))

    async def several(own: Replays) -> list[Any]:
        return await asyncio.gather(*(own.work("replay", RECORD, "en", b"") for _ in range(4)), return_exceptions=True)

    *done, refused = run(several, tmp_path)
    assert done == [b"x\n"] * 3
    assert isinstance(refused, Refusal)


@pytest.mark.slow
def test_the_process_of_a_job(tmp_path: Path) -> None:
    data = run(lambda own: own.work("replay", RECORD, "fr", b""), tmp_path)
    assert data == replay_data(parse_record(RECORD), "fr", scenes=True)
    with pytest.raises(MessageError, match="as JSON"):
        run(lambda own: own.work("replay", "{", "en", b""), tmp_path)
