"""Policies as ONNX files: the names, types and shapes of inputs and outputs. The first axis is the decisions, K.

Inputs:

- ``observation (K, size)``, ``uint8`` or ``float32``: the bytes as they are, not scaled, as environments give them to learners.
- ``mask (K, A) bool``: the legal actions; all True in the rollouts of a search. A file may be without it.
- ``state (K, units) float32``: zeros at a seat's first decision of a round, then ``next_state`` of the one before. Only a policy
  with memory has it.

Outputs:

- ``logits (K, A)``, floats, of which those of legal actions are read.
- ``value (K,)``: what the seat nets in the rest of the round, in the game's unit. Ours have it; it is not read.
- ``next_state (K, units)``, floats, where there is a ``state``.

The files that ``onnx_export`` writes take ``uint8`` and a mask, and are for one setup: ``KEY`` of their metadata has a JSON
object that says for which.
"""

from __future__ import annotations

KEY = "nainjaune"
INPUTS = {"observation": ("tensor(uint8)", "tensor(float)"), "mask": ("tensor(bool)",), "state": ("tensor(float)",)}
"""The inputs by name, with the types that they may have."""
FLOATS = ("tensor(float)", "tensor(double)", "tensor(float16)")
"""The types that outputs may have."""
