"""What the `setup.py` of PufferLib 3.0.0 needs to install it without its own games: `make pufferlib` has pip import this."""

import builtins
import shutil

find = shutil.which
builtins.c_extension_paths = []  # with NO_OCEAN, setup.py reads it and sets it nowhere
# with a compiler for CUDA on the path it would build for GPUs, which fails with a torch for processors alone
shutil.which = lambda name, *rest, **settings: None if name == "nvcc" else find(name, *rest, **settings)
