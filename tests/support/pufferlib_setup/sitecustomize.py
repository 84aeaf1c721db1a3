"""What PufferLib 3.0.0's `setup.py` needs to install PufferLib without its own games; `make pufferlib` puts it on the path of pip."""

import builtins
import shutil

find = shutil.which
builtins.c_extension_paths = []  # with NO_OCEAN, setup.py reads it and sets it nowhere
# with a compiler for CUDA on the path it would build for GPUs, which fails with a torch for processors alone
shutil.which = lambda name, *rest, **settings: None if name == "nvcc" else find(name, *rest, **settings)
