"""How much better one player is than another, in one call: ``edge(my_agent, "zoo:strong", deals=3000)``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import Player, as_agent
from nainjaune_env.core.errors import AgentError, RulesError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_flag, check_seed, check_whole
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import make_setup

from ..players.loading import load_agent, setup_of_runs
from ..players.program.settings import BotSettings
from .any_game.game_table import game_table
from .compare import cross_table
from .distributed.units import Executor
from .edge_table import EdgeTable
from .edges import Edge
from .report.edge_picture import edge_svg, plot_edge
from .report.format_ci import mean_of_deals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PlayerEdge:
    """The edge of a player in a field of another one. It prints as sentences, and Jupyter shows it with a picture."""

    result: EdgeTable
    """All numbers: edges, advantages, notes on intervals."""

    @property
    def edge(self) -> Edge:
        """The edge itself, with that by the distance of the seat from the one that acts first (``by_seat``)."""
        return self.result.edges[0]

    @property
    def mean(self) -> float:
        """In the game's unit (chips, cards) a round."""
        return self.edge.mean

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval; nan without one."""
        return self.edge.ci95

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the edge with its interval, for all seats and by the distance from the one that acts first, by matplotlib.

        Returns ``axes``; None: those of a new figure.
        """
        return plot_edge(self.edge, f"{self.result.unit} a {self.result.per}", axes)

    def _sentences(self) -> list[str]:
        result, lines = self.result, []
        for one in result.edges:
            lines.append(
                f"{one.hero} in a field of {one.field_name}: {mean_of_deals(one.moments)} {result.unit} a {result.per} beyond "
                "that field."
            )
        for (a, b), stats in result.advantages.items():
            who = {
                1: f"{result.agents[a]} is stronger",
                -1: f"{result.agents[b]} is stronger",
                0: "Neither is significantly stronger",
            }
            lines.append(f"{who[stats.estimate.sign]}: the advantage, half the difference, is {mean_of_deals(stats)}.")
        return [*lines, f"95 % interval; {result.heading}.", *result.notes, *result.bots.lines()]

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        first, *others = map(escape, self._sentences())
        return f"<p><b>{first}</b><br>{'<br>'.join(others)}</p>{edge_svg(self.edge, self._sentences()[0])}"


def edge(
    player: Player,
    field: Player,
    deals: int = 3000,
    *,
    env: Any = None,
    seed: int = 0,
    both_ways: bool = False,
    workers: int = 1,
    progress: bool = True,
    bots: BotSettings | None = None,
    **table: Any,
) -> PlayerEdge:
    """Returns the edge of ``player`` in a field of ``field``, over duplicate ``deals`` (docs/evaluation.md).

    Both are anything that ``nainjaune_env.as_agent`` takes: a name, an agent, a function, a model, a torch module. ``table`` are
    the keywords of ``make_setup``: ``preset``, ``players``, ``game`` and knobs; without them the rules are those of the run that
    is named, else the usual ones. ``both_ways`` also plays ``field`` in a field of ``player``, and says who is stronger.
    ``workers`` processes load the players by their names. ``progress`` is shown in a notebook and in a terminal. ``bots`` says
    how players that are other programs are asked (None: as by default).

    ``env``: a game of another library, as ``any_game.game_table`` takes it with its players; then ``table``, ``workers`` and
    ``bots`` are left out (docs/any_game.md).

    Raises :class:`AgentError` for what is no player, :class:`~nainjaune_env.core.errors.RulesError` for another table or flag,
    and :class:`~nainjaune_env.core.errors.DealError` for fewer than 2 deals, no worker, or no seed.
    """
    both_ways, progress = check_flag("both_ways", both_ways), check_flag("progress", progress)
    seed = check_seed(seed)
    deals, workers = check_whole("The number of deals", deals, 2), check_whole("The number of workers", workers, 1)
    if env is None:
        setup = _setup_for([one for one in (player, field) if isinstance(one, str)], table)
        agents = [_player(one, setup, bots) for one in (player, field)]
        if agents[0].name == agents[1].name:
            agents[1] = as_agent(agents[1], setup, f"{agents[1].name} (the field)")
        play: Callable[..., EdgeTable] = partial(
            cross_table, setup, agents, executor=_workers((player, field), agents, workers, bots)
        )
    elif given := [*table, *["workers"] * (workers > 1), *["bots"] * (bots is not None)]:
        raise RulesError(f"Expected a game of another library, 'env', alone: {quoted(given[0])} is for games of this package.")
    else:
        names = [_name_of(one) for one in (player, field)]
        names[1] += " (the field)" * (names[0] == names[1])
        play = partial(game_table, env, {names[0]: player, names[1]: field})
    with _bar(total=deals, unit="deal", leave=False, disabled=not progress) as bar:
        result = play(
            deals=deals, seed=seed, one_way=not both_ways, progress=lambda so_far: bar.update(so_far.deals - bar.n)
        )  # fmt: skip
    return PlayerEdge(result)


def _name_of(policy: object) -> str:
    """Returns the name that a policy has, or that of its function or class."""
    given = getattr(policy, "name", None)
    return given if isinstance(given, str) else str(getattr(policy, "__name__", type(policy).__name__))


def _player(player: object, setup: Setup, bots: BotSettings | None) -> Agent:
    return load_agent(player, setup, bots=bots) if isinstance(player, str) else as_agent(player, setup)


def _setup_for(names: Sequence[str], table: dict[str, Any]) -> Setup:
    """Returns the setup of the keywords, else that of the runs among ``names``, else the default one."""
    if table:
        return make_setup(**table)
    return setup_of_runs(names, DEFAULT_GAME) or make_setup()


def _workers(players: Sequence[object], agents: Sequence[Agent], workers: int, bots: BotSettings | None) -> Executor | None:
    if workers == 1:
        return None
    for player, agent in zip(players, agents, strict=True):
        if player != agent.name:
            raise AgentError(
                f"Other processes load players by their names, such as 'bot.py:make_agent', and {quoted(player)} is "
                f"{'there twice' if isinstance(player, str) else 'no name'}: leave out workers."
            )
    from .distributed.processes import Processes

    return Processes(workers, bots=bots)


def _bar(*, disabled: bool, **options: Any) -> Any:
    """Returns a progress bar for a notebook, or for a terminal; without either, nothing is shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the widgets of notebooks are not installed: a line of text is as good
        from tqdm.auto import tqdm

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if disabled or getattr(shell, "kernel", None) is None:
        options["disable"] = True if disabled else None
    return tqdm(**options)
