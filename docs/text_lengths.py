"""The table of lengths of the text seat, in estimated tokens: ``python docs/text_lengths.py`` prints it."""

from __future__ import annotations

from nainjaune_env import Batch, TextSeat, game_names, get_game
from nainjaune_env.core.prng import streams
from nainjaune_env.core.rules_docs import markdown_table
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.text.seat import FORMS
from nainjaune_env.text.tokens import count_tokens

TABLES, STEPS, SEED = 8, 40, 0


def lengths(setup: Setup, language: str, form: str) -> str:
    """Returns the tokens of the rules, and of the rest of a prompt: mean and most over decisions of random play, with plies."""
    texts = TextSeat(setup, language=language, form=form)
    batch, chance = Batch(setup, TABLES, seed=SEED, log=True), streams(SEED, TABLES)
    assert batch.log is not None
    counts = []
    for _ in range(STEPS):
        counts += [count_tokens(texts.prompt(table, batch.log.round(k)).situation) for k, table in enumerate(batch.tables)]
        batch.step(batch.sample(chance))
    return f"{count_tokens(texts.rules)} + {sum(counts) / len(counts):.0f} ({max(counts)})"


def length_table() -> str:
    """Returns a row for each preset."""
    columns = [(language, form) for language in LANGUAGES for form in FORMS]
    rows = []
    for game in map(get_game, game_names()):
        for name in game.presets:
            setup = game.setup(name)
            rows.append([game.title, f"`{name}`, {setup.players}", *(lengths(setup, *column) for column in columns)])
    return markdown_table(["game", "preset, seats", *(f"{language}, {form}" for language, form in columns)], rows)


if __name__ == "__main__":
    print(length_table())
