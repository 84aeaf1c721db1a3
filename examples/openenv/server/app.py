"""The server: ``python server/app.py --port 8000``, or ``uvicorn server.app:app``. Another game or reward is set here."""

from nainjaune_agents.text_envs.openenv.server import make_app, serve
from nainjaune_agents.text_envs.settings import TextEnvSettings

app = make_app("nain_jaune", TextEnvSettings(reward="regret"))


def main() -> None:
    """Serves until it is stopped."""
    serve(app)


if __name__ == "__main__":
    main()
