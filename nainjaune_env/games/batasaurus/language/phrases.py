"""What only a person at the table is told, in French and in English; what accounts and pictures say too is in ``words``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nainjaune_env.games.batasaurus.language.words import WORDS


@dataclass(frozen=True)
class Phrases:
    """One language. Texts in braces are filled in by ``str.format``."""

    topics: Mapping[str, tuple[str, str]]
    """By name: the word to type, and what it tells."""
    rules: tuple[str, ...]
    memory: Mapping[str, str]
    exhausted: Mapping[str, str]
    """What the knobs' values mean."""
    typing: Mapping[str, str]
    """How one says which card, by memory."""
    begun: str
    looks: str
    plays_own: str
    commits: str
    commits_own: str
    commits_known: str
    slot: str
    which: str
    no_slot: str
    empty_slot: str
    not_understood: str
    gone: str
    many: str
    look_first: str
    no_looking: str
    unshown: str


ENGLISH = Phrases(
    topics={
        "piles": ("piles", "the cards that each seat has won"),
        "unshown": ("unshown", "the dinosaurs that each seat has not shown yet"),
    },
    rules=(
        "Each seat has the same {dinosaurs} dinosaurs, from 1 (Compsognathus) up, in as many slots.",
        "The leader of a trick puts a card face up, then each seat in turn; the highest takes them all and leads the next.",
        "Battle: seats that tie for the highest put one more card face down, and all are turned up at once; the highest of these "
        "takes everything, and another tie battles on.",
        "It ends when, before a trick, some seat has no card. Cards left over count for their owner. Most cards win.",
    ),
    memory={
        "glimpse": "You see your cards once, before the first trick; then they lie face down and you must remember them.",
        "perfect": "You always see your own cards.",
    },
    exhausted={
        "split": "Where those who tie have no card to battle with, they share the trick.",
        "void": "Where those who tie have no card to battle with, the trick is nobody's.",
    },
    typing={
        "glimpse": "To play a card, type the number of its slot.",
        "perfect": "To play a card, type the number of its slot, or the dinosaur's name or its beginning.",
    },
    begun="{seat} leads the first trick.",
    looks="memorises its cards",
    plays_own="{card}, slot {slot}",
    commits="a card face down",
    commits_own="a card face down, slot {slot}",
    commits_known="{card} face down, slot {slot}",
    slot="the card in slot {slot}",
    which="Your cards, by slot:",
    no_slot="Slots are numbered from 0 to {last}, and {text} is none of them.",
    empty_slot="Slot {slot} is empty.",
    not_understood="I take the number of a slot, and {text!r} is none.",
    gone="You have no {card} any more.",
    many="{text!r} may be {cards}.",
    look_first="You are to memorise your cards first: press Enter when you have.",
    no_looking="There is nothing to memorise now: play a card.",
    unshown="Not shown",
)

FRENCH = Phrases(
    topics={
        "piles": ("piles", "les cartes gagnées par chaque place"),
        "unshown": ("restantes", "les dinosaures que chaque place n'a pas encore montrés"),
    },
    rules=(
        "Chaque place a les mêmes {dinosaurs} dinosaures, à partir de 1 (Compsognathus), dans autant d'emplacements.",
        "Qui entame le pli pose une carte face visible, puis chacun à son tour ; la plus forte prend toutes les cartes et entame "
        "le pli suivant.",
        "Bataille : les places à égalité au plus haut posent une carte de plus face cachée, puis on les retourne ensemble ; la "
        "plus forte prend tout, une nouvelle égalité relance la bataille.",
        "La partie finit quand, avant un pli, une place n'a plus de carte. Les cartes restantes comptent pour leur propriétaire. "
        "Qui a le plus de cartes gagne.",
    ),
    memory={
        "glimpse": "Vous voyez vos cartes une fois, avant le premier pli ; puis elles sont face cachée : souvenez-vous-en.",
        "perfect": "Vous voyez toujours vos cartes.",
    },
    exhausted={
        "split": "Si les places à égalité n'ont plus de carte pour la bataille, elles se partagent le pli.",
        "void": "Si les places à égalité n'ont plus de carte pour la bataille, le pli n'est à personne.",
    },
    typing={
        "glimpse": "Pour jouer une carte, tapez le numéro de son emplacement.",
        "perfect": "Pour jouer une carte, tapez le numéro de son emplacement, ou le nom du dinosaure ou son début.",
    },
    begun="La {seat} entame le premier pli.",
    looks="mémorise ses cartes",
    plays_own="{card}, emplacement {slot}",
    commits="une carte face cachée",
    commits_own="une carte face cachée, emplacement {slot}",
    commits_known="{card} face cachée, emplacement {slot}",
    slot="la carte de l'emplacement {slot}",
    which="Vos cartes, par emplacement :",
    no_slot="Les emplacements sont numérotés de 0 à {last}, et {text} n'en est pas un.",
    empty_slot="L'emplacement {slot} est vide.",
    not_understood="Il me faut le numéro d'un emplacement, et {text!r} n'en est pas un.",
    gone="Vous n'avez plus la carte {card}.",
    many="{text!r} peut être {cards}.",
    look_first="Mémorisez d'abord vos cartes : Entrée quand c'est fait.",
    no_looking="Il n'y a rien à mémoriser maintenant : jouez une carte.",
    unshown="Non montrés",
)

PHRASES: Mapping[str, Phrases] = {"en": ENGLISH, "fr": FRENCH}
assert PHRASES.keys() == WORDS.keys()
