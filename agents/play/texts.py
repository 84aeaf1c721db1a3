"""The texts of the dialogue that every game shares, in English and French; a game's own texts come from its ``Speaker``."""

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
    """Joins the last two items of a list."""
    recorded: str
    left: str
    unfinished: str
    again: str
    kept: str
    waiting: str
    goes_on: str
    hint: str
    no_hint: str
    keys: str
    help_words: tuple[str, ...]
    """What may be typed for a command; help shows the first. Likewise below."""
    quit_words: tuple[str, ...]
    hint_words: tuple[str, ...]
    undo_words: tuple[str, ...]
    last_words: tuple[str, ...]
    table_words: tuple[str, ...]
    confirm_words: tuple[str, ...]
    help_does: str
    quit_does: str
    hint_does: str
    undo_does: str
    last_does: str
    table_does: str
    confirm_does: str


ENGLISH = Texts(
    you="you",
    seat="seat {seat} ({name})",
    welcome="{title}, the {preset!r} sheet. At the table: {seats}.",
    seed="Seed {seed}: --seed {seed} deals the same cards again.",
    help_hint="Type ? for help, q to leave the table.",
    since="Since your last move:",
    so_far="So far:",
    nothing_since="Nothing has happened since your last move.",
    prompt="Your move: ",
    confirm="{move}   Press Enter to play it, or type anything to choose again: ",
    taken_back="Not played.",
    confirming="From now on you confirm each move.",
    not_confirming="From now on moves are played at once.",
    undone="Your last move has been taken back.",
    no_undo="Your last move cannot be taken back: others have played since, or it has shown you something new.",
    leave="Leave the table? Type y to leave, anything else to stay: ",
    yes=("y", "yes", "q"),
    stay="You stay at the table.",
    look="Memorise this: you will not see it again. It is shown for {seconds} s, or until you press Enter. ",
    look_until="Memorise this: you will not see it again. Press Enter when you are ready. ",
    looked="The cards are face down now.",
    narrow="The picture is {wide} columns wide and this terminal only {columns}, so the table is described in words.",
    round_over="The round is over.",
    this_round="this round",
    in_all="total",
    next_round="Press Enter for the next round, or type q to leave: ",
    standings="Standings",
    wins="{names} wins.",
    share="{names} share the win.",
    joiner=" and ",
    recorded="Record added to {path}.",
    left="You have left the table.",
    unfinished="An unfinished match is not recorded; records of finished matches are kept.",
    again="To play the same cards again, use --seed {seed}.",
    kept="It is kept: nainjaune play --resume goes on with it.",
    waiting="A match that you left is kept: nainjaune play --resume goes on with it. To leave this one replaces it.",
    goes_on="The match that you left goes on.",
    hint="Hint: {move}. Type {typed}.",
    no_hint="There are no hints here.",
    keys="Commands",
    help_words=("?", "help", "h"),
    quit_words=("q", "quit", "exit"),
    hint_words=("hint",),
    undo_words=("u", "undo"),
    last_words=("last",),
    table_words=("table", "t"),
    confirm_words=("confirm",),
    help_does="show this help",
    quit_does="leave the table",
    hint_does="show a good move, found by playing the round to its end many times",
    undo_does="take your last move back, if nobody has played since and it has shown you nothing new",
    last_does="repeat what was played and said since your last move",
    table_does="draw the table again",
    confirm_does="turn the confirmation of moves on or off",
)

FRENCH = Texts(
    you="vous",
    seat="place {seat} ({name})",
    welcome="{title}, feuille « {preset} ». À la table : {seats}.",
    seed="Graine {seed} : --seed {seed} redonne les mêmes cartes.",
    help_hint="Tapez ? pour l'aide, q pour quitter la table.",
    since="Depuis votre dernier coup :",
    so_far="Jusqu'ici :",
    nothing_since="Rien ne s'est passé depuis votre dernier coup.",
    prompt="À vous : ",
    confirm="{move}   Entrée pour jouer, autre chose pour choisir à nouveau : ",
    taken_back="Coup non joué.",
    confirming="Désormais, vous confirmez chaque coup.",
    not_confirming="Désormais, les coups sont joués tout de suite.",
    undone="Votre dernier coup a été repris.",
    no_undo="Votre dernier coup ne peut être repris : d'autres ont joué depuis, ou il vous a montré du nouveau.",
    leave="Quitter la table ? Tapez o pour quitter, autre chose pour rester : ",
    yes=("o", "oui", "q"),
    stay="Vous restez à la table.",
    look="Mémorisez ceci : vous ne le reverrez plus. Affiché {seconds} s, ou jusqu'à Entrée. ",
    look_until="Mémorisez ceci : vous ne le reverrez plus. Appuyez sur Entrée pour continuer. ",
    looked="Les cartes sont maintenant face cachée.",
    narrow="L'image a {wide} colonnes et ce terminal seulement {columns} : voici la table en mots.",
    round_over="La manche est finie.",
    this_round="cette manche",
    in_all="total",
    next_round="Entrée pour la manche suivante, q pour quitter : ",
    standings="Classement",
    wins="{names} gagne.",
    share="{names} gagnent à égalité.",
    joiner=" et ",
    recorded="Partie ajoutée à {path}.",
    left="Vous avez quitté la table.",
    unfinished="Une partie inachevée n'est pas enregistrée ; les parties finies le restent.",
    again="Pour rejouer les mêmes cartes : --seed {seed}.",
    kept="Elle est gardée : nainjaune play --resume la reprend.",
    waiting="Une partie que vous avez quittée est gardée : nainjaune play --resume la reprend. Quitter celle-ci la remplace.",
    goes_on="La partie que vous avez quittée continue.",
    hint="Conseil : {move}. Tapez {typed}.",
    no_hint="Il n'y a pas de conseils ici.",
    keys="Commandes",
    help_words=("?", "aide"),
    quit_words=("q", "quitter"),
    hint_words=("conseil", "hint"),
    undo_words=("u", "reprendre"),
    last_words=("dernier", "derniers"),
    table_words=("table",),
    confirm_words=("confirmer",),
    help_does="afficher cette aide",
    quit_does="quitter la table",
    hint_does="montrer un bon coup, trouvé en jouant la manche jusqu'au bout de nombreuses fois",
    undo_does="reprendre votre dernier coup, si personne n'a joué depuis et s'il ne vous a rien montré de nouveau",
    last_does="répéter ce qui a été joué et dit depuis votre dernier coup",
    table_does="dessiner la table à nouveau",
    confirm_does="activer ou désactiver la confirmation des coups",
)

TEXTS: Mapping[str, Texts] = {"en": ENGLISH, "fr": FRENCH}


def any_language(command: str) -> frozenset[str]:
    """Returns what may be typed for a command (``help``, ``quit`` …) in any language."""
    return frozenset(word for texts in TEXTS.values() for word in getattr(texts, f"{command}_words"))
