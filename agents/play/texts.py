"""What the table says to the person whatever the game, in English and in French; a game's own words are its ``Speaker``'s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Texts:
    """One language. Texts in braces are filled in by ``str.format``."""

    you: str
    seat: str
    welcome: str
    seed: str
    help_hint: str
    since: str
    so_far: str
    nothing_since: str
    prompt: str
    confirm: str
    taken_back: str
    confirming: str
    not_confirming: str
    undone: str
    no_undo: str
    leave: str
    yes: tuple[str, ...]
    stay: str
    look: str
    look_until: str
    looked: str
    narrow: str
    round_over: str
    this_round: str
    in_all: str
    next_round: str
    standings: str
    wins: str
    share: str
    joiner: str
    """Between the last two of a list."""
    recorded: str
    left: str
    unfinished: str
    again: str
    keys: str
    help_words: tuple[str, ...]
    """What may be typed for each command, the first of which help shows; likewise below."""
    quit_words: tuple[str, ...]
    undo_words: tuple[str, ...]
    last_words: tuple[str, ...]
    table_words: tuple[str, ...]
    confirm_words: tuple[str, ...]
    help_does: str
    quit_does: str
    undo_does: str
    last_does: str
    table_does: str
    confirm_does: str


ENGLISH = Texts(
    you="you",
    seat="seat {seat} ({name})",
    welcome="{title}, the {preset!r} sheet. At the table: {seats}.",
    seed="Seed {seed}: the same cards come again with --seed {seed}.",
    help_hint="? is for help, q leaves the table.",
    since="Since your last move:",
    so_far="Until now:",
    nothing_since="Nothing has happened since your last move.",
    prompt="Your move: ",
    confirm="{move}   Enter plays it, anything else takes it back: ",
    taken_back="Taken back.",
    confirming="From now on each move is to be confirmed.",
    not_confirming="From now on moves are played at once.",
    undone="Your last move is taken back.",
    no_undo="It is too late to take a move back: others have played since, or you have seen something new.",
    leave="Leave the table? y leaves, anything else stays: ",
    yes=("y", "yes", "q"),
    stay="You stay.",
    look="Look well: you will not see this again. {seconds} s, or Enter when you are ready. ",
    look_until="Look well: you will not see this again. Enter when you are ready. ",
    looked="What you have seen is face down now.",
    narrow="The table's picture is {wide} columns wide and this terminal {columns}, so it is told in words.",
    round_over="The round is over.",
    this_round="this round",
    in_all="in all",
    next_round="Enter for the next round, q to leave: ",
    standings="Standings",
    wins="{names} wins.",
    share="{names} share the win.",
    joiner=" and ",
    recorded="Recorded in {path}.",
    left="You have left the table.",
    unfinished="What was not finished is not recorded; what was finished before is kept.",
    again="Play the same cards again with --seed {seed}.",
    keys="Words and keys",
    help_words=("?", "help", "h"),
    quit_words=("q", "quit", "exit"),
    undo_words=("u", "undo"),
    last_words=("last",),
    table_words=("table", "t"),
    confirm_words=("confirm",),
    help_does="this help",
    quit_does="leave the table",
    undo_does="take your last move back, as long as nobody has played and you have seen nothing new since",
    last_does="what was played and said since your last move",
    table_does="draw the table again",
    confirm_does="ask, or stop asking, whether each move is meant",
)

FRENCH = Texts(
    you="vous",
    seat="place {seat} ({name})",
    welcome="{title}, feuille « {preset} ». À la table : {seats}.",
    seed="Graine {seed} : les mêmes cartes reviennent avec --seed {seed}.",
    help_hint="? pour l'aide, q pour quitter la table.",
    since="Depuis votre dernier coup :",
    so_far="Jusqu'ici :",
    nothing_since="Rien ne s'est passé depuis votre dernier coup.",
    prompt="À vous : ",
    confirm="{move}   Entrée pour jouer, autre chose pour reprendre : ",
    taken_back="Coup repris.",
    confirming="Désormais chaque coup est à confirmer.",
    not_confirming="Désormais les coups sont joués tout de suite.",
    undone="Votre dernier coup est repris.",
    no_undo="Trop tard pour reprendre un coup : d'autres ont joué depuis, ou vous avez vu du nouveau.",
    leave="Quitter la table ? o pour quitter, autre chose pour rester : ",
    yes=("o", "oui", "q"),
    stay="Vous restez.",
    look="Regardez bien : vous ne reverrez plus cela. {seconds} s, ou Entrée quand vous êtes prêt. ",
    look_until="Regardez bien : vous ne reverrez plus cela. Entrée quand vous êtes prêt. ",
    looked="Ce que vous avez vu est maintenant face cachée.",
    narrow="L'image de la table a {wide} colonnes et ce terminal {columns} : la voici en mots.",
    round_over="La manche est finie.",
    this_round="cette manche",
    in_all="en tout",
    next_round="Entrée pour la manche suivante, q pour quitter : ",
    standings="Classement",
    wins="{names} gagne.",
    share="{names} gagnent à égalité.",
    joiner=" et ",
    recorded="Noté dans {path}.",
    left="Vous avez quitté la table.",
    unfinished="Ce qui n'était pas fini n'est pas noté ; ce qui l'était avant est gardé.",
    again="Rejouez les mêmes cartes avec --seed {seed}.",
    keys="Mots et touches",
    help_words=("?", "aide"),
    quit_words=("q", "quitter"),
    undo_words=("u", "reprendre"),
    last_words=("dernier", "derniers"),
    table_words=("table",),
    confirm_words=("confirmer",),
    help_does="cette aide",
    quit_does="quitter la table",
    undo_does="reprendre votre dernier coup, tant que personne n'a joué et que vous n'avez rien vu de nouveau",
    last_does="ce qui a été joué et dit depuis votre dernier coup",
    table_does="dessiner la table à nouveau",
    confirm_does="demander, ou ne plus demander, si chaque coup est voulu",
)

TEXTS: Mapping[str, Texts] = {"en": ENGLISH, "fr": FRENCH}


def any_language(command: str) -> frozenset[str]:
    """What may be typed for a command (``help``, ``quit`` …) in any language."""
    return frozenset(word for texts in TEXTS.values() for word in getattr(texts, f"{command}_words"))
