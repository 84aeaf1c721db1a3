"""The server: ``python server/app.py --port 8000``, or ``uvicorn server.app:app``. Another game or reward is set here.

Its imports are absolute, because OpenEnv runs this module as ``server.app`` and as a script too.
"""

from __future__ import annotations

import argparse
from functools import partial

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from nain_jaune_env.models import NainJauneAction, NainJauneObservation, NainJauneState
from nain_jaune_env.server.environment import NainJauneEnvironment
from openenv.core.env_server.http_server import create_app

from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_env.core.errors import NainJauneError

MAX_SESSIONS = 64
"""Sessions at the same time, each with a thread of its own."""
DEFAULT_PORT = 8000


def make_app(game: str, settings: TextEnvSettings | None = None) -> FastAPI:
    """Returns the server of rounds of ``game``, for uvicorn; raises :class:`RulesError` for an unknown game."""
    environment = partial(NainJauneEnvironment, game, settings or TextEnvSettings())
    name = f"{environment().get_metadata().name}_env"
    app = create_app(
        environment,
        NainJauneAction,
        NainJauneObservation,
        env_name=name,
        max_concurrent_envs=MAX_SESSIONS,
        state_cls=NainJauneState,
    )
    app.add_exception_handler(NainJauneError, _sentence)  # a WebSocket gets the sentence anyhow
    return app


def serve(app: FastAPI) -> None:
    """Serves until it is stopped, at the address that the command line says."""
    parser = argparse.ArgumentParser(description="Serve rounds for language models to clients of OpenEnv.")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="the port; 0 takes a free one (%(default)s)")
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port)


async def _sentence(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=400)


app = make_app("nain_jaune", TextEnvSettings(reward="regret"))


def main() -> None:
    """Serves what this module sets."""
    serve(app)


if __name__ == "__main__":
    main()
