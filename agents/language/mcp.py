"""Rounds for language models by the Model Context Protocol (docs/language_models.md)."""

from __future__ import annotations

import secrets
import socket
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypedDict

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

from nainjaune_env.core.errors import AgentError, ConfigError, IllegalActionError, NainJauneError, quoted
from nainjaune_env.core.validation import check_name
from nainjaune_env.records.record import append_record, check_appendable
from nainjaune_env.registry import game_names, get_game, resolve_setup

from .rewards import Reward, chips, edge, rewarded
from .round import TextRound
from .settings import EDGE, REGRET, TextEnvSettings
from .tasks import SPLITS, TRAIN, TextTask, tasks

INSTRUCTIONS = """\
Rounds of card games in which you play one seat. Call start_round: it returns the rules, your position, and the word by which all
other tools know the table. Answer each position with play until the round is over, then call finish for the result."""

MAX_TABLES = 256
"""Tables that are kept; a further one takes the place of the one that was used least recently."""
MAX_ANSWER = 10_000
"""Characters: tables keep their answers."""
WORD_BYTES = 9
"""Of a table's word: too many to guess."""
SEED_BITS = 53
"""Of a seed that is drawn: too many to try whether they deal a hand, and numbers of JSON are exact."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")
STOP_SECONDS = 2
"""How long open connections delay the end of the server."""

Word = Annotated[str, Field(description="The word that start_round returned.")]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]


class Result(TypedDict):
    """What a finished round was worth, in the game's unit."""

    chips: float
    """Won, less what was paid."""
    edge: float
    """The chips beyond what the field's agent wins in this seat with this deal."""
    regret: float | None
    """Minus the chips lost at the decisions, by the adviser; None where it was not asked for."""
    regret_error: float | None
    """Its standard error."""
    regret_exact: bool | None
    decisions: int
    refused: int
    """Answers that meant no legal move."""
    forfeits: int
    """Decisions that were made for the player, after too many such answers."""
    seed: int | None
    """Of the deal; None for a task, which may be played again: with its seed another seat would show its cards."""


@dataclass
class Table:
    """A round, and what was asked at it."""

    round: TextRound
    seed: int | None
    """As in :class:`Result`."""
    regret: Reward | None = None
    """None before it was asked for."""
    is_recorded: bool = False
    """Whether its record is in the file."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """One call at a time."""


class Tables:
    """The tables of a server. Threads may share an object.

    Public methods are tools, with docstrings for models. They raise ``NainJauneError`` with the sentence that a model reads.
    """

    def __init__(self, settings: TextEnvSettings, *, record: Path | None = None) -> None:
        """Records of finished rounds are added to the file ``record``.

        Raises :class:`RecordError` and ``OSError`` where nothing can be added to that.
        """
        if record is not None:
            check_appendable(record)
            record.parent.mkdir(parents=True, exist_ok=True)
        # a round can be played where there is no regret
        self.settings = TextEnvSettings.from_dict({**settings.to_dict(), "reward": EDGE})
        self._with_regret = TextEnvSettings.from_dict({**settings.to_dict(), "reward": REGRET})
        self._record = record
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def start_round(
        self,
        game: Annotated[str, Field(description="Its name.")],
        preset: Annotated[str | None, Field(description="Of the rules; null: the game's default.")] = None,
        players: Annotated[Whole | None, Field(description="Seats at the table; null: the game's default.")] = None,
        knobs: Annotated[dict[str, Any] | None, Field(description="House rules over the preset, by name.")] = None,
        seat: Annotated[Whole | None, Field(description="Yours, from 0 (null).")] = None,
        seed: Annotated[Whole | None, Field(description="Of the deal; null: drawn.")] = None,
        split: Annotated[str | None, Field(description=f"Play task number index of {' or '.join(SPLITS)} instead.")] = None,
        index: Annotated[Whole | None, Field(description="Of the task, from 0.")] = None,
    ) -> str:
        """Start a round."""
        if split is None and index is None:
            setup = resolve_setup(game, preset, players, knobs or {})
            seed = secrets.randbits(SEED_BITS) if seed is None else seed  # only finish tells it: hidden cards follow from it
            # its split and index are not used
            task = TextTask(TRAIN, 0, setup.game.name, setup.preset, setup.players, setup.knobs, seed, seat or 0)
        elif split is None or index is None or (preset, players, seat, seed) != (None,) * 4:
            raise ConfigError("A task is named by game, split and index, and says preset, players, seat and seed itself.")
        else:
            (task,) = tasks(game, split, 1, first=index, knobs=knobs)
        table, word = Table(TextRound(task, self.settings), seed), secrets.token_urlsafe(WORD_BYTES)
        text = f"Table: {word}\n\n{_rules(table)}\n\n{self._position(table)}"
        with self._lock:
            self._tables[word] = table
            if len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return text

    def see_table(self, table: Word) -> str:
        """Say again what you may know of the position, and your legal moves."""
        with self._locked(table) as one:
            return self._position(one)

    def rules(self, table: Word) -> str:
        """Say the rules at the table."""
        with self._locked(table) as one:
            return _rules(one)

    def play(
        self,
        table: Word,
        answer: Annotated[str, Field(max_length=MAX_ANSWER, description="As in “Move: 3”: the number or name of a legal move.")],
    ) -> str:
        """Play a move; the others answer at once, so the next position is yours again."""
        with self._locked(table) as one:
            decisions = one.round.decisions
            one.round.answer(answer)
            if one.round.decisions == decisions:
                raise IllegalActionError(one.round.messages[-1]["content"])
            return self._position(one)

    def finish(
        self,
        table: Word,
        regret: Annotated[Flag, Field(description="Whether to estimate that, too, which takes seconds.")] = False,
    ) -> Result:
        """Say what the finished round was worth.

        chips: won. edge: beyond what the others' agent wins with your cards. regret: minus what your moves lost against the best.
        """
        with self._locked(table) as one:
            played = one.round
            if not played.done:
                raise AgentError("The round is not over: see_table has the position to play on from.")
            self._add_record(one)
            if regret and one.regret is None:
                (one.regret,) = rewarded([played], self._with_regret)
            lost = one.regret if regret else None
            return {
                "chips": chips(played).value,
                "edge": edge(played).value,
                "regret": lost and lost.value,
                "regret_error": lost and lost.error,
                "regret_exact": lost and lost.exact,
                "decisions": played.decisions,
                "refused": played.refused,
                "forfeits": played.forfeits,
                "seed": one.seed,
            }

    @contextmanager
    def _locked(self, word: str) -> Iterator[Table]:
        with self._lock:
            if word not in self._tables:
                raise ConfigError(f"There is no table {quoted(word)}: start_round makes one, and the oldest are removed.")
            self._tables.move_to_end(word)
            table = self._tables[word]
        with table.lock:
            yield table

    def _position(self, table: Table) -> str:
        prompt = table.round.prompt
        if prompt is not None:
            return prompt.situation
        self._add_record(table)
        return "The round is over. Call finish for what it was worth."

    def _add_record(self, table: Table) -> None:
        """Adds the record of a finished round to the file, once."""
        if self._record is not None and not table.is_recorded:
            append_record(self._record, table.round.record())
            table.is_recorded = True


def _rules(table: Table) -> str:
    return table.round.messages[0]["content"]


class TableServer(MCPServer[Any]):
    """The server of some tables. Its tools fail with one sentence."""

    def __init__(self, tables: Tables) -> None:
        super().__init__("nainjaune", instructions=INSTRUCTIONS, version=version("nainjaune-env"), log_level="WARNING")
        changes = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
        reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        games = "; ".join(f"{game.name} (presets {', '.join(game.presets)})" for game in map(get_game, game_names()))
        start = f"{tables.start_round.__doc__} Games: {games}."
        self.add_tool(tables.start_round, description=start, annotations=changes, structured_output=False)
        self.add_tool(tables.see_table, annotations=reads, structured_output=False)
        self.add_tool(tables.rules, annotations=reads, structured_output=False)
        self.add_tool(tables.play, annotations=changes, structured_output=False)
        self.add_tool(tables.finish, annotations=reads)

        @self.resource("nainjaune://rules/{table}", name="rules", mime_type="text/plain")
        def rules_of(table: str) -> str:
            """The rules at a table."""
            try:
                return tables.rules(table)
            except NainJauneError as error:
                raise ResourceNotFoundError(str(error)) from None

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Calls a tool; raises :class:`ToolError` with one sentence for a call that cannot be answered."""
        tools = {tool.name: tool for tool in await self.list_tools()}
        try:
            check_name("tool", name, tools)
            for argument in arguments:  # the SDK would ignore one that the tool does not have
                check_name(f"argument of {name}", argument, tools[name].input_schema["properties"])
            return await super().call_tool(name, arguments, context)
        except NainJauneError as error:
            raise ToolError(str(error)) from error
        except ToolError as error:
            if isinstance(error.__cause__, NainJauneError):
                raise ToolError(str(error.__cause__)) from error
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_sentence(name, error.__cause__)) from error
            raise


def _sentence(tool: str, error: ValidationError) -> str:
    """Returns what was expected of the first argument that does not fit, and what came."""
    first, *_ = error.errors(include_url=False, include_context=False)
    name = first["loc"][0]
    if first["type"] == "missing":
        return f"{tool} needs the argument {name!r}."
    expected = first["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    return f"The argument {name!r} of {tool}: expected {expected[:1].lower()}{expected[1:]}, not {quoted(first['input'])}."


def serve_http(server: TableServer, host: str, port: int) -> None:
    """Serves ``http://host:port/mcp`` until Ctrl-C; port 0 is any that is free. Prints the address.

    Requests that a browser sends for another site, whose name leads here, are refused. Raises ``OSError`` where it cannot listen.
    """
    with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each answer waits 40 ms for an acknowledgement
        name = f"[{host}]" if ":" in host else host
        names = {name, socket.gethostname(), *LOCAL}
        hosts = [*names, *(f"{one}:*" for one in names)]
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{one}" for one in hosts])
        app = server.streamable_http_app(transport_security=security, host=host)
        print(f"http://{name}:{listening.getsockname()[1]}/mcp", flush=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=STOP_SECONDS)
        uvicorn.Server(config).run(sockets=[listening])
