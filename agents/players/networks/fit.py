"""Whether a network plays at a table: it was trained at one with equal observations, actions and rules."""

from __future__ import annotations

from typing import Protocol

from nainjaune_env.core.errors import CheckpointError, quoted
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from .common_layout import common_layout


class Trained(Protocol):
    """What a file says about the tables that its network was trained at; ``checkpoint.Checkpoint`` says what each is."""

    game: str
    players: int
    layout: str
    actions: int
    common: bool

    @property
    def setup(self) -> Setup:
        """The game and its rules."""
        ...


def layout_of(trained: Trained, setup: Setup) -> Layout:
    """Returns the layout of the network's observations at tables with this ``setup``."""
    return common_layout(setup.game) if trained.common else setup.layout


def check_fits(trained: Trained, setup: Setup, where: str) -> None:
    """Raises :class:`CheckpointError` if the network cannot play at a table with this ``setup``."""
    if trained.game != setup.game.name:
        raise CheckpointError(f"{where} plays {quoted(trained.game)}, and this table is for {setup.game.name!r}.")
    if not trained.common and trained.players != setup.players:
        raise CheckpointError(f"{where} was trained with {trained.players} players, and here there are {setup.players}.")
    layout = layout_of(trained, setup)
    if trained.layout != layout.fingerprint:
        raise CheckpointError(
            f"{where} was trained on another observation layout "
            f"({quoted(trained.layout)}, and here it is {layout.fingerprint}): "
            "train it again, or play it with the commit that wrote it."
        )
    if trained.actions != len(setup.game.actions):
        raise CheckpointError(f"{where} chooses among {trained.actions} actions, and here there are {len(setup.game.actions)}.")


def other_rules(trained: Trained, setup: Setup) -> str | None:
    """Returns how the rules of a round at which a network was trained differ from those of ``setup``; None if they do not.

    A network observes no rules that were the same in all of its training, and may lose any amount under others. One for all
    tables observes the rules.
    """
    table = trained.setup
    if trained.common or table.same_round(setup):
        return None
    other = [name for name in setup.rules.names() if getattr(table.rules, name) != getattr(setup.rules, name)]
    trained_rules, table_rules = (
        ", ".join(f"{name}={getattr(rules, name)}" for name in other) for rules in (table.rules, setup.rules)
    )
    return (
        f"was trained under {trained_rules}, and this table has {table_rules}: "
        "it does not observe these rules, and may lose any amount."
    )


def check_rules(trained: Trained, setup: Setup, where: str) -> None:
    """Raises :class:`CheckpointError` for :func:`other_rules`."""
    if other := other_rules(trained, setup):
        raise CheckpointError(
            f"{where} {other} "
            "Train it under them, take a network for all tables, or add @transfer to its name to play it nevertheless."
        )
