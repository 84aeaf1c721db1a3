"""Players behind a C interface, beside ``nainjaune_env.engine.interface``: what is said there holds here.

A network is the address of a block of memory: :data:`HEADER` ``int32`` (the number of layers, the number of inputs, the outputs
of each layer), the weights as ``float32`` (of each layer the rows of its inputs, then the biases), and as much scratch as
:func:`forward` says.
"""

# ruff: noqa: F821  (the names bound at instantiation)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import view_at
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.engine.interface import DONE, REFUSED
from nainjaune_env.engine.learner_loops import UNIFORM, uniform_action
from nainjaune_env.engine.log_arrays import ACTION, COUNT, DEALT, FIRST

from ...base.sampling import greedy_row

base: Any
"""``engine.interface`` of the game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` of the game."""
rollouts: Any
"""``search.rollout_loops`` of the game."""
game: Any
"""The kernel of the game."""
unpack: Any
"""Returns the rules and the options of the packed numbers."""
table_dtype: Any
"""The dtype of a table."""
at: Any
"""Where each field of a session begins, a named tuple of bytes."""
size: Any
"""The lengths of fields (``wasm.Sizes``)."""
heuristic_decide: Any
"""``decide`` of the game's heuristics."""
remembers: Any
"""Returns whether the heuristics remember under some rules."""
heuristics: Any
"""The number of heuristics, :data:`UNIFORM` aside."""
memory: Any
"""Bytes of a heuristic's recurrent state."""

HEADER = 16
"""The ``int32`` before a network's weights; it has at most two layers fewer."""


@jit
def no_heuristic(which: Any, table: Any, rules: Any, legal_bits: Any, hidden_state: Any) -> Any:
    """Takes the place of the heuristics of a game that has none; it is never called."""
    return -1


@inlined
def remembers_nothing(rules: Any) -> Any:
    """Takes the place of ``remembers`` of heuristics that have no memory."""
    return False


@inlined
def _rules(session: Any) -> Any:
    rules, _ = unpack(view_at(session, at.numbers, (size.numbers,), np.int64))
    return rules


@jit
def _recall(session: Any, agent: Any) -> None:
    """Writes to ``hidden_state`` what the seat to act remembers if ``agent`` has made its decisions of this round."""
    rules = _rules(session)
    seat = np.int64(view_at(session, at.tables, (1,), table_dtype)[0].seat)
    hidden_state = view_at(session, at.hidden_state, (memory,), np.uint8)
    playing = view_at(session, at.playing, (1,), table_dtype)
    marks = view_at(session, at.log_marks, (2, 3), np.int64)
    plies = view_at(session, at.log_plies, (1, size.plies, 2), np.int8)
    for i in range(memory):
        hidden_state[i] = 0
    playing[0] = view_at(session, at.log_tables, (1, 2), table_dtype)[0, DEALT]
    for place in range(marks[0, FIRST], marks[0, COUNT]):
        legal_bits = np.int64(game.legal(playing[0], rules))
        if playing[0].seat == seat and game.needs_decision(playing[0], rules, legal_bits):
            heuristic_decide(agent, playing[0], rules, legal_bits, hidden_state)
        game.step(playing[0], rules, np.int64(plies[0, place, ACTION]))


def decide(session: Any, agent: Any, state: Any) -> Any:
    """Returns the action of the heuristic ``agent`` for the seat to act; a random one is drawn from a generator with ``state``.

    Heuristics that remember get the state that they would have had they made all decisions of this seat in the round.
    """
    legal_bits = view_at(session, at.legal, (1,), np.int64)[0]
    full = view_at(session, at.log_marks, (2, 3), np.int64)[1, COUNT]
    if agent < UNIFORM or agent >= heuristics or legal_bits == 0 or full:
        return REFUSED
    rng = view_at(session, at.rng, (1,), np.uint64)
    rng[0] = np.uint64(state)
    if agent == UNIFORM:
        return uniform_action(legal_bits, rng, 0)
    if memory > 0:
        _recall(session, np.int64(agent))
    table = view_at(session, at.tables, (1,), table_dtype)[0]
    hidden_state = view_at(session, at.hidden_state, (memory,), np.uint8)
    return heuristic_decide(np.int64(agent), table, _rules(session), legal_bits, hidden_state)


@jit
def _add(session: Any, seat: Any, tried: Any, worlds: Any) -> None:
    """Adds the outcomes of the actions ``tried`` in ``worlds``, which ``value`` has; an outcome counts from now on."""
    rules = _rules(session)
    payoff = view_at(session, at.scratch, (size.seats,), np.int32)
    value = view_at(session, at.value, (size.worlds, size.actions), np.float64)
    total = view_at(session, at.sum, (size.actions,), np.float64)
    squares = view_at(session, at.squares, (size.actions,), np.float64)
    difference = view_at(session, at.difference, (size.actions, size.actions), np.float64)
    difference_squares = view_at(session, at.difference_squares, (size.actions, size.actions), np.float64)
    count = view_at(session, at.count, (size.actions,), np.int64)
    game.payoffs(view_at(session, at.tables, (1,), table_dtype)[0], rules, payoff)
    before = payoff[seat]
    for w in range(worlds):
        left = tried
        while left:
            action = lowest(left)
            left &= left - 1
            outcome = value[w, action] - before
            count[action] += 1
            total[action] += outcome
            squares[action] += outcome * outcome
            others = tried
            while others:
                other = lowest(others)
                others &= others - 1
                ahead = value[w, action] - value[w, other]
                difference[action, other] += ahead
                difference_squares[action, other] += ahead * ahead


def playouts(session: Any, agent: Any, state: Any, tried: Any, count: Any) -> Any:
    """Plays each action of the set ``tried`` on in ``count`` determinizations, to the end of the round, all seats by ``agent``.

    Adds what the seat to act gets from now on to the fields ``count``, ``sum``, ``squares``, and for each pair of actions
    ``difference`` and ``difference_squares``. All actions are tried in the same determinizations, drawn from a generator with
    ``state``; ``rng`` is its state after that. Refused where the heuristics remember, as no table shows what.
    """
    rules = _rules(session)
    legal_bits = view_at(session, at.legal, (1,), np.int64)[0]
    if agent < UNIFORM or agent >= heuristics or count < 1 or tried <= 0 or tried & ~legal_bits:
        return REFUSED
    if agent != UNIFORM and remembers(rules):
        return REFUSED
    view_at(session, at.rng, (1,), np.uint64)[0] = np.uint64(state)
    worlds = view_at(session, at.worlds, (size.worlds,), table_dtype)
    actions = view_at(session, at.tried, (size.worlds,), np.int64)
    value = view_at(session, at.value, (size.worlds, size.actions), np.float64)
    playing = view_at(session, at.playing, (1,), table_dtype)
    payoff = view_at(session, at.scratch, (np.int64(rules.players),), np.int32)
    seat = np.int64(view_at(session, at.tables, (1,), table_dtype)[0].seat)
    for w in range(size.worlds):
        actions[w] = tried
    done = np.int64(0)
    while done < count:
        now = min(count - done, size.worlds)
        base.draw_worlds(session, now)
        if agent == UNIFORM:
            rollouts.evaluate_actions(worlds[:now], rules, None, actions, False, playing, payoff, value)
        else:
            rollouts.evaluate_actions(worlds[:now], rules, np.int64(agent), actions, False, playing, payoff, value)
        _add(session, seat, np.int64(tried), now)
        done += now
    return DONE


@inlined
def _add_row(outputs: Any, weights: Any, factor: Any) -> None:
    for j in range(np.int32(outputs.size)):
        outputs[j] += factor * weights[j]


@inlined
def _add_4_rows(outputs: Any, a: Any, b: Any, c: Any, d: Any, by_a: Any, by_b: Any, by_c: Any, by_d: Any) -> None:
    """Four rows at once: the outputs are read and written once, in vectors, as an index of 32 bits does not wrap around."""
    for j in range(np.int32(outputs.size)):
        outputs[j] += by_a * a[j] + by_b * b[j] + by_c * c[j] + by_d * d[j]


@jit
def _layer(inputs: Any, weights: Any, biases: Any, nonzero: Any, outputs: Any) -> None:
    """Writes a linear layer of ``inputs (I,)`` to ``outputs (O,)``; ``weights (I * O,)``, and ``nonzero (I,)`` is scratch."""
    for j in range(np.int32(outputs.size)):
        outputs[j] = biases[j]
    number, width = 0, outputs.size
    for i in range(inputs.size):
        if inputs[i] != 0:
            nonzero[number] = i
            number += 1
    k = 0
    while k + 4 <= number:
        i0, i1, i2, i3 = (np.int64(nonzero[k]), np.int64(nonzero[k + 1]), np.int64(nonzero[k + 2]), np.int64(nonzero[k + 3]))
        _add_4_rows(
            outputs,
            weights[i0 * width : (i0 + 1) * width],
            weights[i1 * width : (i1 + 1) * width],
            weights[i2 * width : (i2 + 1) * width],
            weights[i3 * width : (i3 + 1) * width],
            inputs[i0],
            inputs[i1],
            inputs[i2],
            inputs[i3],
        )
        k += 4
    while k < number:
        i0 = np.int64(nonzero[k])
        _add_row(outputs, weights[i0 * width : (i0 + 1) * width], inputs[i0])
        k += 1


def forward(session: Any, network: Any) -> Any:
    """Writes what ``network`` computes for the seat to act to ``outputs``; returns the legal action with the largest logit.

    The scratch after the weights has three numbers for each unit of the widest layer, the inputs counted as one.
    """
    rules = _rules(session)
    table = view_at(session, at.tables, (1,), table_dtype)[0]
    legal_bits = view_at(session, at.legal, (1,), np.int64)[0]
    observation = view_at(session, at.observation, (size.observation,), np.uint8)
    shape = view_at(network, 0, (HEADER,), np.int32)
    layers = np.int64(shape[0])
    if legal_bits == 0 or layers < 1 or layers > HEADER - 2 or shape[layers + 1] != size.actions + 1:
        return REFUSED
    if game.encode(table, rules, np.int64(table.seat), observation) != shape[1]:
        return REFUSED
    widest, total = np.int64(shape[1]), np.int64(0)
    for layer in range(layers):
        widest = max(widest, np.int64(shape[layer + 2]))
        total += (np.int64(shape[layer + 1]) + 1) * shape[layer + 2]
    weights = view_at(network, 4 * HEADER, (total,), np.float32)
    units = view_at(network, 4 * (HEADER + total), (2 * widest,), np.float32)
    nonzero = view_at(network, 4 * (HEADER + total + 2 * widest), (widest,), np.int32)
    for i in range(np.int64(shape[1])):
        units[i] = np.float32(observation[i])
    source, place = np.int64(0), np.int64(0)
    for layer in range(layers):
        inputs, width = np.int64(shape[layer + 1]), np.int64(shape[layer + 2])
        goal, biases = widest - source, place + inputs * width
        outputs = units[goal : goal + width]
        _layer(units[source : source + inputs], weights[place:biases], weights[biases : biases + width], nonzero, outputs)
        if layer < layers - 1:
            for j in range(np.int32(width)):
                outputs[j] = max(outputs[j], np.float32(0))
        source, place = goal, biases + width
    results = view_at(session, at.outputs, (size.actions + 1,), np.float32)
    for j in range(size.actions + 1):
        results[j] = units[source + j]
    return greedy_row(results, legal_bits)


FUNCTIONS = {
    "decide": ("int32(voidptr, int32, int64)", decide),
    "playouts": ("int32(voidptr, int32, int64, int64, int32)", playouts),
    "forward": ("int32(voidptr, voidptr)", forward),
}
"""The exported functions by name, with numba's signatures."""
