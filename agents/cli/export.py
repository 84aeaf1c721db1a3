"""Write the network of a trained player as an ONNX file, which any language computes without this package.

  nainjaune export zoo:strong --onnx strong.onnx --preset djeco --players 4
  nainjaune evaluate --agents onnx:strong.onnx zoo:strong --deals 3000
  nainjaune export runs/a --onnx mine.onnx

With onnxruntime alone, for K decisions:

  import json, numpy, onnxruntime
  policy = onnxruntime.InferenceSession("strong.onnx")
  # game, rules, layout, names of the actions
  about = json.loads(policy.get_modelmeta().custom_metadata_map["nainjaune"])
  # (K, size): the features of the layout, one after the other
  observation = numpy.zeros((1, 160), numpy.uint8)
  mask = numpy.ones((1, 24), bool)  # (K, A): the legal actions
  given = {"observation": observation, "mask": mask}
  logits, value = policy.run(["logits", "value"], given)

The likeliest action is that with the largest logit; those of illegal actions are -3.4e38. value is what the seat nets in the rest
of the round, in the game's unit. A network with memory has an input state (K, units) float32, zeros when a round begins, and an
output next_state. A file is for one preset and number of seats; docs/players.md says more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .files import check_new
from .setups import add_setup_arguments, settle_setup

NAME = "export"
HELP = "write a player's network as an ONNX file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="a trained player, such as zoo:strong or runs/a")
    parser.add_argument("--onnx", type=Path, required=True, metavar="FILE", help="where the network is written; a new file")
    add_setup_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.core.printable import printable

    from ..players.loading import load_agent
    from ..players.networks.onnx_export import write_onnx

    check_new(args.onnx, "--onnx")
    setup = settle_setup(args, [args.agent])
    size = write_onnx(args.onnx, load_agent(args.agent, setup), setup)
    print(printable(f"{args.onnx}: {size:,} bytes"))
    return 0
