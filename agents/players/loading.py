"""Agents by name: heuristics, solutions, zoo agents, runs of trainers, and players from elsewhere."""

from __future__ import annotations

import copy
import importlib
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from importlib.metadata import entry_points
from os.path import exists  # Path.exists raises an error for too long a name
from pathlib import Path
from typing import Any

from nainjaune_env.agent import AGENT_GROUP, Agent, StochasticPolicy
from nainjaune_env.agent_adapters import SampledAgent, as_agent
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, FallbackWarning, MissingLibraryError, quoted, unknown_name_message
from nainjaune_env.core.hooks import described
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.validation import MAX_THREADS, check_whole

from .exact import exact_agents
from .foreign import is_external, load_external, loader_of
from .heuristics import heuristics, modifiers
from .mixed import is_mixed, member_names, mixed_agent
from .program.settings import BotSettings
from .zoo import PREFIX, is_zoo_name, player_registry

SAMPLED = "@sample"
"""Suffix of an agent's name to draw actions from its probabilities, instead of taking the likeliest."""
TRANSFERRED = "@transfer"
"""Suffix of a run's name to play also under other rules than those it was trained under."""
SEARCHES = ("search", "adaptive")
"""The modifiers of searches over an agent, in any game (``search.SEARCHES``)."""
SEARCH_SETTINGS = {"objective", "inference", "rollouts"}
"""What may follow the number of a search: ``zoo:strong@search=50,inference=policy``."""
CHECKPOINT = "checkpoint.safetensors"
"""The file of a run's folder that plays (``networks.checkpoint.FILE_NAME``, whose module imports safetensors)."""
BEST = "best"
"""The checkpoint of a run with the highest edge in its evaluations, as ``runs/a@best`` names it."""
_ENDING = re.compile(r"(.+)@([a-z]+)=([^@/]*)")
_ASKED: ContextVar[frozenset[str]] = ContextVar("_ASKED", default=frozenset())
"""The names that packages are being asked for: they may ask :func:`load_agent` for other ones."""


def _is_path(name: str) -> bool:
    """Returns whether ``name`` is the path of a file or folder, as it is or after the algorithm before a colon."""
    prefix, _, rest = name.partition(":")
    return exists(name) or (prefix.isidentifier() and bool(rest) and exists(rest))


def _ending(name: str) -> re.Match[str] | None:
    """Returns the last modifier ``@word=number`` of an agent's name; None if it has none or is the path of a run."""
    return None if _is_path(name) else _ENDING.fullmatch(name)


def _without_modifiers(name: str) -> str:
    """Returns an agent's name without its modifiers ``@word=number``. What stands at the end of an existing path is none."""
    while ending := _ending(name):
        name = ending[1]
    return name


def split_name(name: str) -> tuple[str, set[str]]:
    """Returns an agent's name without its modifiers and suffixes, and its suffixes: :data:`SAMPLED`, :data:`TRANSFERRED`.

    What stands at the end of an existing path is none.
    """
    name, suffixes = _without_modifiers(name), set()
    while not _is_path(name) and (suffix := next(filter(name.endswith, (SAMPLED, TRANSFERRED)), None)):
        suffixes.add(suffix)
        name = name.removesuffix(suffix)
    return name, suffixes


def base_name(name: str) -> str:
    """Returns an agent's name without its modifiers and suffixes."""
    return split_name(name)[0]


def run_named(name: str) -> tuple[str | None, Path]:
    """Returns the algorithm before the colon in the name of a run, and the path of the run, or of a checkpoint that it keeps.

    The algorithm is None if the name has none; a colon in an existing path separates nothing.
    """
    text = base_name(name)
    prefix, _, rest = text.partition(":")
    named = rest and prefix.isidentifier() and not exists(text)
    algorithm, path = (prefix, rest) if named else (None, text)
    folder, _, which = path.rpartition("@")
    is_kept = folder and not exists(path) and (which == BEST or which.isdecimal())
    return algorithm, kept_path(Path(folder), which) if is_kept else Path(path)


def kept_path(folder: Path, which: str | int) -> Path:
    """Returns the file of a checkpoint that a run keeps beside its latest: :data:`BEST`, or that after an iteration."""
    return folder / (f"{BEST}.safetensors" if which == BEST else f"iteration-{int(which):06d}.safetensors")


def kept_checkpoints(folder: Path) -> dict[str, Path]:
    """Returns the files of the checkpoints that the run in ``folder`` keeps, by the names of their agents, in order."""
    paths = {
        str(int(path.stem.removeprefix("iteration-"))): path
        for path in sorted(folder.glob(f"iteration-{'[0-9]' * 6}.safetensors"))
    }
    if kept_path(folder, BEST).exists():
        paths[BEST] = kept_path(folder, BEST)
    return {f"{folder}@{name}": path for name, path in paths.items()}


def checkpoint_path(name: str, setup: Setup, *, anywhere: bool = False, any_rules: bool = False) -> Path | None:
    """Returns the checkpoint, a file or the folder of a run, of the agent called ``name`` for tables with ``setup``.

    With ``anywhere`` that of a zoo agent is the one for all tables of the game; with ``any_rules`` it may be one that does not
    play under the rules of ``setup`` (``PlayerRegistry.find``). None if it has no checkpoint. Raises :class:`AgentError` for a
    zoo agent that is not for such tables, and for a suffix after a modifier.
    """
    text, suffixes = _checked_name(name)
    if not is_zoo_name(text):
        return _run_at(text, setup.game.name)
    if TRANSFERRED in suffixes:
        raise AgentError(f"{quoted(name)}: a zoo agent chooses its file by the rules; {TRANSFERRED} is for a run or a file.")
    return player_registry().find(text, setup, anywhere=anywhere, any_rules=any_rules).path


def weights_path(name: str, setup: Setup) -> Path | None:
    """Returns the file with the weights of the agent called ``name`` at tables with ``setup``; None if it has none."""
    path = checkpoint_path(name, setup)
    return path / CHECKPOINT if path is not None and path.is_dir() else path


def _checked_name(name: str) -> tuple[str, set[str]]:
    """Returns :func:`split_name`; raises :class:`AgentError` for a suffix after a modifier."""
    text, suffixes = split_name(name)
    if suffixes and _ending(text):
        raise AgentError(f"{quoted(name)}: {' and '.join(sorted(suffixes))} stands before modifiers such as @search=50.")
    return text, suffixes


def _run_at(name: str, game: str) -> Path | None:
    """Returns the path of the run called ``name``; None if it does not exist or the name is that of another agent.

    Raises :class:`AgentError` for a file whose players have other names.
    """
    path = run_named(name)[1]
    text = base_name(name)
    is_other = not text or is_zoo_name(name) or is_mixed(name) or is_external(text) or text in named_agents(game)
    if is_other or not exists(path):
        return None
    if named := _name_in_file(path):
        raise AgentError(f"{quoted(str(path))} is no run or checkpoint: a player in such a file is named {named!r}.")
    return path


def _name_in_file(path: Path) -> str | None:
    """Returns how a player in a file is named that is no checkpoint, by the form of the file alone; None for any other path."""
    if not path.is_file() or path.suffix == ".safetensors":
        return None
    by_suffix = {".py": f"{path}:make_agent", ".zip": f"sb3:{path}", ".onnx": f"onnx:{path}"}
    return by_suffix.get(path.suffix, f"exec:{os.path.join(os.curdir, path)}" if os.access(path, os.X_OK) else None)


def external_players(name: str) -> list[str]:
    """Returns the players from elsewhere that an agent's name contains: its own, and that of the agent of its rollouts."""
    return [one for one in (base_name(name), *_rollout_agents(name)) if is_external(one)]


def external_files(*names: str) -> dict[str, list[str]]:
    """Returns the SHA-256 of the files of each player from elsewhere that the agents' ``names`` contain, by its name.

    Raises :class:`AgentError` where a file is missing.
    """
    players = [player for name in names for player in external_players(name)]
    return {player: [digest(path) for path in loader_of(player).files(player)] for player in players}


def players_in(name: str, setup: Setup) -> list[str]:
    """Returns the names of all agents that the one called ``name`` is made of at tables with ``setup``, each once.

    These are its own or those of the members of a mixed field, and those of the agents of their rollouts. Raises
    :class:`AgentError` for a pool that is none.
    """
    members = member_names(name, setup) if is_mixed(name) else [name]
    return [*dict.fromkeys(one for member in members for one in (member, *_rollout_agents(member)))]


def playing_name(name: str, setup: Setup) -> str:
    """Returns the name under which the agent called ``name`` plays at tables with ``setup``.

    It differs where the fallback of a zoo agent plays; a warning says so, once a process. Raises :class:`AgentError` for a zoo
    agent that is not for such tables.
    """
    text = base_name(name)
    if not is_zoo_name(text) or (playing := player_registry().find(text, setup).name) == text:
        return name
    warnings.warn(f"{text} plays as {playing} under rules that no card of {text} lists.", FallbackWarning, stacklevel=2)
    return playing + name.removeprefix(text)


def _rollout_agents(name: str) -> list[str]:
    agents = []
    while ending := _ending(name):
        settings = dict(setting.partition("=")[::2] for setting in ending[3].split(",")[1:])
        agents += [settings["rollouts"]] if "rollouts" in settings else []
        name = ending[1]
    return agents


def named_agents(game: str) -> Mapping[str, Agent]:
    """Returns the heuristics of a game and its solutions, if it has any, by name."""
    return {**heuristics(game), **exact_agents(game)}


def load_agent(name: str, setup: Setup, *, device: str | None = None, bots: BotSettings | None = None, threads: int = 1) -> Agent:
    """Returns the agent called ``name`` for tables with ``setup``.

    ``device`` is that of its network (None: the CPU), and ``threads`` compute large batches there.

    ``bots`` says how bots and language models are asked (None: as by default).

    ``name`` is that of a heuristic, a solution (``exact``) or a zoo agent (``zoo:strong``), or the path of a run's folder or
    checkpoint (``runs/a``, also ``ppo:runs/a``; it may contain ``:`` and ``@``). ``runs/a@best`` and ``runs/a@100`` are the
    checkpoints that the run keeps of its best evaluation and of iteration 100. Or it is that of a player from elsewhere
    (``bot.py:make_agent``, ``exec:./bot``: see :mod:`.foreign`), whose code runs, or of a player that another package offers by
    an entry point. With ``@sample`` an agent draws from its probabilities; with ``@transfer`` a network plays also under other
    rules than those it was trained under.
    Modifiers may follow: ``@search=50`` for a search of 50 deals an action by rollouts of the agent, and those of the game
    (``cheapest@remember=0.7``). ``@search=50,objective=centred`` searches for another payoff than the seat's own (``task``), and
    ``@search=50,inference=policy`` draws deals by what the others have played (``search.inference``). In
    ``@search=50,rollouts=zoo:strong-1`` another agent plays the rollouts; its name has no ``/`` and no modifiers. ``mixed`` and
    ``mixed:closer+tally`` are another player in each seat (:mod:`.mixed`).

    Warns (:class:`FallbackWarning`) where the fallback of a zoo agent plays, under a name of its own (:func:`playing_name`).
    Raises :class:`AgentError` for an unknown name or a solution of other tables,
    :class:`~nainjaune_env.core.errors.CheckpointError` for a run that is incomplete or not for such tables, and
    :class:`~nainjaune_env.core.errors.DeviceError` for a device that is not available, and
    :class:`~nainjaune_env.core.errors.MissingLibraryError` for a network without safetensors, or torch where it needs that.
    """
    check_setup(setup)
    check_whole("The number of threads", threads, 1, MAX_THREADS)
    if not isinstance(name, str):
        raise AgentError(f"An agent's name is a text, not {quoted(name)}.")
    settings: Any = bots
    if not isinstance(settings, BotSettings | None):
        raise AgentError(f"bots: expected BotSettings or None, not {quoted(bots)}.")
    if is_mixed(name):
        return mixed_agent(name, setup, partial(load_agent, device=device, bots=bots, threads=threads))
    ending = _ending(name)
    if ending:
        load = partial(load_agent, setup=setup, device=device, bots=bots, threads=threads)
        return _modified(load(ending[1]), ending[2], ending[3], setup, load)
    exact = exact_agents(setup.game.name)
    known = named_agents(setup.game.name)
    if name in exact:
        exact[name].check(setup)
    if name in known:
        return known[name]
    text, suffixes = _checked_name(name)
    if is_external(text):
        return _suffixed(_external(text, setup, bots), name, suffixes)
    path = checkpoint_path(name, setup)
    name = playing_name(name, setup)
    algorithm, missing = (None, None) if is_zoo_name(name) else run_named(name)
    if path is not None:
        try:
            from .networks.net_agent import load_net_agent
        except ModuleNotFoundError as error:
            raise MissingLibraryError(f"The network of the agent {quoted(name)}", str(error.name), "players") from error

        any_rules = is_zoo_name(name) or TRANSFERRED in suffixes  # the registry has compared the rules of its players
        return load_net_agent(
            path,
            setup,
            name,
            algorithm=algorithm,
            stochastic=SAMPLED in suffixes,
            any_rules=any_rules,
            device=device,
            threads=threads,
        )
    if text not in known and (offered := _of_packages(text, setup)) is not None:
        return _suffixed(offered, name, suffixes)
    if missing is not None and ("/" in name or missing.suffix):
        typed = str(missing) if algorithm is None else text
        raise AgentError(f"There is no run or checkpoint at {quoted(typed)}.")
    zoo = [PREFIX + player for player in player_registry().names()]
    raise AgentError(unknown_name_message("agent", name, [*known, *zoo]) + " The path of a run's folder is also an agent.")


def _external(name: str, setup: Setup, bots: BotSettings | None) -> Agent:
    """Returns the player from elsewhere called ``name``, without suffixes; a package may offer one with a colon in its name."""
    try:
        return load_external(name, setup, bots)
    except AgentError:
        offered = _of_packages(name, setup)
        if offered is None:
            raise
        return offered


def _of_packages(name: str, setup: Setup) -> Agent | None:
    """Returns the agent called ``name`` that another package offers by an entry point; None where none of them knows it.

    Raises :class:`AgentError` for a package that cannot be loaded, or fails otherwise than by an :class:`AgentError`.
    """
    if not name or name in _ASKED.get():
        return None
    token = _ASKED.set(_ASKED.get() | {name})
    try:
        for offer in sorted(entry_points(group=AGENT_GROUP), key=lambda offer: offer.name):
            try:
                find = offer.load()
                if find is not load_agent:
                    return as_agent(find(name, setup), setup, name)
            except AgentError:  # it does not know the name
                continue
            except Exception as error:
                what = f"The agents of the entry point {offer.name!r} ({offer.value})"
                raise AgentError(f"{what} cannot be looked at for {quoted(name)}: {described(error)}") from error
    finally:
        _ASKED.reset(token)
    return None


def _suffixed(agent: Agent, name: str, suffixes: set[str]) -> Agent:
    """Returns a player from elsewhere with what the suffixes of its ``name`` say; raises :class:`AgentError` where it cannot."""
    if TRANSFERRED in suffixes:
        raise AgentError(f"{quoted(name)}: {TRANSFERRED} is for a run or a checkpoint, and {agent.name!r} is none.")
    if SAMPLED not in suffixes:
        return agent
    if isinstance(getattr(agent, "stochastic", None), bool):  # a network: its probabilities are those of its likeliest action
        drawing: Any = copy.copy(agent)
        drawing.name, drawing.stochastic = name, True
        return drawing  # type: ignore[no-any-return]
    if isinstance(agent, StochasticPolicy):
        return SampledAgent(agent, name)
    raise AgentError(f"{quoted(name)}: {SAMPLED} draws from an agent's probabilities, and {agent.name!r} has none.")


def _modified(agent: Agent, word: str, text: str, setup: Setup, load: Callable[[str], Agent]) -> Agent:
    number, *settings = text.split(",")
    given = dict(setting.partition("=")[::2] for setting in settings)
    if given and (word not in SEARCHES or len(given) < len(settings) or not given.keys() <= SEARCH_SETTINGS):
        raise AgentError(
            f"After the number of @{word}= comes nothing, or for a search ,objective=centred, ,inference=policy or "
            f",rollouts=AGENT, not {quoted(text)}."
        )
    options: dict[str, Any] = dict(given)
    if "rollouts" in given:
        options["rollouts"] = load(given["rollouts"])
    known: dict[str, Callable[[Agent, float], Agent]] = {**modifiers(setup.game.name)}
    if word in SEARCHES:  # imported when a name asks for it: no other player needs its loops
        search = importlib.import_module(".search", __package__)
        known[word] = partial(search.searching, setup=setup, search=search.SEARCHES[word], **options)
    if word not in known:
        endings = [f"@{w}=" for w in (*known, *SEARCHES)]
        raise AgentError(unknown_name_message(f"ending of an agent's name in {setup.game.title}:", f"@{word}", endings))
    try:
        value = float(number)
    except ValueError:
        raise AgentError(f"After @{word}= comes a number, not {quoted(number)}.") from None
    return known[word](agent, value)


def setup_of_runs(names: Sequence[str], game: str) -> Setup | None:
    """Returns the setup under which the runs among the agents ``names`` were trained; None if none of them is a run.

    Runs for all tables of their game count only if there are no others. Zoo agents, which choose a file by the table, do not
    count. Raises :class:`AgentError` if two runs were trained under different setups.
    """
    one_table: dict[str, Setup] = {}
    all_tables: dict[str, Setup] = {}
    for name in names:
        path = _run_at(name, game)
        if path is not None:
            from .networks.checkpoint import load_checkpoint

            checkpoint = load_checkpoint(path)
            (all_tables if checkpoint.common else one_table)[name] = checkpoint.setup
    setups = one_table or all_tables
    if not setups:
        return None
    first, *others = setups
    for name in others:
        if setups[name].to_dict() != setups[first].to_dict():
            raise AgentError(f"{first!r} and {name!r} were trained under different rules; say by --preset which to play under.")
    return setups[first]
