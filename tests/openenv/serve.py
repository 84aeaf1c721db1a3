"""The server in a process of its own: ``python -m tests.openenv.serve GAME SETTINGS --port 0``."""

from __future__ import annotations

import json
import sys

from nain_jaune_env.server.app import make_app, serve

from nainjaune_agents.language.settings import TextEnvSettings

if __name__ == "__main__":
    game, settings = sys.argv.pop(1), sys.argv.pop(1)
    serve(make_app(game, TextEnvSettings.from_dict(json.loads(settings))))
