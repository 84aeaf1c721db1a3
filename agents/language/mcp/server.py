"""The MCP server: its tools, and its errors as sentences."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

from nainjaune_env.core.errors import NainJauneError, unknown_name_message
from nainjaune_env.registry import game_names, get_game

from ..tasks import SPLITS
from .arguments import check_names, sentence_on
from .tables import Result, Tables

INSTRUCTIONS = """\
Rounds of card games in which you play one seat. Call start_round: it returns the rules, your position, and the word by which all
other tools know the table. Answer each position with play until the round is over, then call finish for the result."""

MAX_ANSWER = 10_000
"""Characters: tables keep their answers."""
Table = Annotated[str, Field(description="The word that start_round returned.")]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]


class TableServer(MCPServer[Any]):
    """An ``MCPServer`` whose tools fail with one sentence."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Calls a tool; raises :class:`ToolError` with one sentence for a call that cannot be answered."""
        tools = {tool.name: tool for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(unknown_name_message("tool", name, tools))
        try:
            check_names(name, arguments, tools[name].input_schema["properties"])
            return await super().call_tool(name, arguments, context)
        except NainJauneError as error:
            raise ToolError(str(error)) from error
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, NainJauneError):
                raise ToolError(str(error.__cause__)) from error
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(sentence_on(name, error.__cause__)) from error
            raise


def make_server(tables: Tables) -> TableServer:
    """Returns the server of ``tables``. It has the tool ``advice`` where they allow it."""
    server = TableServer("nainjaune", instructions=INSTRUCTIONS, version=version("nainjaune-env"), log_level="WARNING")
    changes = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=changes, structured_output=False, description=f"Start a round. Games: {_games()}.")
    def start_round(
        game: Annotated[str, Field(description="Its name.")],
        preset: Annotated[str | None, Field(description="Of the rules; null: the game's default.")] = None,
        players: Annotated[Whole | None, Field(description="Seats at the table; null: the game's default.")] = None,
        knobs: Annotated[dict[str, Any] | None, Field(description="House rules over the preset, by name.")] = None,
        seat: Annotated[Whole | None, Field(description="Yours, from 0 (null).")] = None,
        seed: Annotated[Whole | None, Field(description="Of the deal; null: drawn.")] = None,
        split: Annotated[str | None, Field(description=f"Play task number index of {' or '.join(SPLITS)} instead.")] = None,
        index: Annotated[Whole | None, Field(description="Of the task, from 0.")] = None,
    ) -> str:
        return tables.start(game, preset=preset, players=players, knobs=knobs, seat=seat, seed=seed, split=split, index=index)

    @server.tool(annotations=reads, structured_output=False)
    def see_table(table: Table) -> str:
        """Say again what you may know of the position, and your legal moves."""
        return tables.see(table)

    @server.tool(annotations=reads, structured_output=False)
    def rules(table: Table) -> str:
        """Say the rules at the table."""
        return tables.rules(table)

    @server.tool(annotations=changes, structured_output=False)
    def play(
        table: Table,
        answer: Annotated[str, Field(max_length=MAX_ANSWER, description="As in “Move: 3”: the number or name of a legal move.")],
    ) -> str:
        """Play a move; the others answer at once, so the next position is yours again."""
        return tables.play(table, answer)

    @server.tool(annotations=reads)
    def finish(
        table: Table,
        regret: Annotated[Flag, Field(description="Whether to estimate that, too, which takes seconds.")] = False,
    ) -> Result:
        """Say what the finished round was worth.

        chips: won. edge: beyond what the others' agent wins with your cards. regret: minus what your moves lost against the best.
        """
        return tables.finish(table, regret=regret)

    @server.resource("nainjaune://rules/{table}", name="rules", mime_type="text/plain")
    def rules_of(table: str) -> str:
        """The rules at a table."""
        try:
            return tables.rules(table)
        except NainJauneError as error:
            raise ResourceNotFoundError(str(error)) from None

    if tables.advice_allowed:

        @server.tool(annotations=reads, structured_output=False)
        def advice(table: Table) -> str:
            """Say what each legal move is worth, and why the best is best, by an adviser who knows what you may know."""
            return tables.advice(table)

    return server


def _games() -> str:
    games = map(get_game, game_names())
    return "; ".join(f"{game.name} (presets {', '.join(game.presets)})" for game in games)
