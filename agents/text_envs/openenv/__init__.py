"""The rounds of ``text_envs`` as an environment for OpenEnv: its server and its client.

OpenEnv takes an older MCP SDK and Pillow than the other extras, so it needs a virtual environment of its own: the pip extra
``openenv``, or ``make openenv``. ``examples/openenv`` is the folder that its hub asks for.
"""

from __future__ import annotations

from nainjaune_env.core.errors import MissingLibraryError

try:
    import openenv.core  # noqa: F401
except ImportError as error:
    raise MissingLibraryError("The environment for OpenEnv", "openenv", "openenv") from error
