"""The dinosaurs and what is said of a game, in French and in English: the one place for wording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nainjaune_env.core.errors import RulesError, choose_one


@dataclass(frozen=True)
class Words:
    """One language. Texts in braces are filled in by ``str.format``."""

    dinosaurs: tuple[str, ...]
    """Names by value, from 1. The sheets spell some otherwise from language to language; these are the right ones."""
    card: str
    """A dinosaur with its value."""
    cards: tuple[str, str]
    """One card, several cards."""
    singular: tuple[int, ...]
    """Numbers that take the singular."""
    title: str
    seat: str
    seat_short: str
    slots: str
    sorted: str
    memorise: str
    trick: str
    plays: str
    commits: str
    battle: str
    shows: str
    drops: str
    takes: str
    share: str
    share_rest: str
    nobody: str
    left: str
    piles: str
    result: str
    wins: str
    shared: str
    joiner: str
    """Between the last two of a list."""
    colon: str

    def named(self, value: int) -> str:
        """A dinosaur as people write it: ``T. rex (12)``."""
        return self.card.format(name=self.dinosaurs[value - 1], value=value)

    def count(self, number: int) -> str:
        """``1 card``, ``2 cards``."""
        return f"{number} {self.cards[number not in self.singular]}"

    def listed(self, texts: Iterable[str]) -> str:
        """``a``, ``a and b``, ``a, b and c``."""
        *others, last = texts
        return ", ".join(others) + self.joiner + last if others else last


@dataclass(frozen=True)
class Labels:
    """What only the picture says, in one language."""

    trick: str
    pile: str
    unshown: str
    leads: str
    you: str
    under: str
    """Before the values that lie under a seat's last card."""
    no_card: str
    memorises: str
    to_lead: str
    to_play: str
    battle: str
    to_commit: str
    last: str
    took: str
    shared: str
    nobody: str
    over: str


FRENCH = Words(
    dinosaurs=(
        "Compsognathus",
        "Kentrosaure",
        "Ptéranodon",
        "Ankylosaure",
        "Stégosaure",
        "Dimétrodon",
        "Tricératops",
        "Vélociraptor",
        "Styracosaure",
        "Spinosaure",
        "Diplodocus",
        "T. rex",
    ),
    card="{name} ({value})",
    cards=("carte", "cartes"),
    singular=(0, 1),
    title="Batasaurus, feuille « {preset} », {players} joueurs, {dinosaurs} dinosaures chacun",
    seat="Place {seat} ({agent})",
    seat_short="place {seat}",
    slots="Cartes de {seat}, par emplacement",
    sorted="Cartes de chacun, triées et toujours connues de lui, par emplacement",
    memorise="Chacun mémorise ses cartes, puis les retourne face cachée.",
    trick="Pli {number} — {seat} entame",
    plays="{card}, emplacement {slot}",
    commits="une carte face cachée, emplacement {slot}",
    battle="Bataille ! {card} pour {seats}.",
    shows="On retourne",
    drops="{seat} n'a plus de carte et quitte la bataille.",
    takes="{seat} remporte {cards} ({pile} en tout).",
    share="Plus de carte à ajouter : {seats} se partagent le pli, {cards} chacune.",
    share_rest="Plus de carte à ajouter : {seats} se partagent le pli, {cards} chacune ; le reste, {rest}, n'est à personne.",
    nobody="Plus de carte à ajouter : le pli, {cards}, n'est à personne.",
    left="Cartes restantes, ajoutées aux piles",
    piles="Piles",
    result="Résultat",
    wins="{winners} gagne avec {cards}.",
    shared="{winners} gagnent à égalité avec {cards}.",
    joiner=" et ",
    colon=" : ",
)

ENGLISH = Words(
    dinosaurs=(
        "Compsognathus",
        "Kentrosaurus",
        "Pteranodon",
        "Ankylosaurus",
        "Stegosaurus",
        "Dimetrodon",
        "Triceratops",
        "Velociraptor",
        "Styracosaurus",
        "Spinosaurus",
        "Diplodocus",
        "T. rex",
    ),
    card="{name} ({value})",
    cards=("card", "cards"),
    singular=(1,),
    title="Batasaurus, the {preset!r} sheet, {players} players, {dinosaurs} dinosaurs each",
    seat="Seat {seat} ({agent})",
    seat_short="seat {seat}",
    slots="Cards of {seat}, by slot",
    sorted="Everybody's cards, sorted and always known to their owner, by slot",
    memorise="All memorise their cards and turn them face down.",
    trick="Trick {number} — {seat} leads",
    plays="{card}, slot {slot}",
    commits="a card face down, slot {slot}",
    battle="Battle! {card} from {seats}.",
    shows="They turn up",
    drops="{seat} has no card left and drops out of the battle.",
    takes="{seat} takes {cards} ({pile} in all).",
    share="No card left to add: {seats} share the trick, {cards} each.",
    share_rest="No card left to add: {seats} share the trick, {cards} each; the rest, {rest}, is nobody's.",
    nobody="No card left to add: the trick, {cards}, is nobody's.",
    left="Cards left over, added to the piles",
    piles="Piles",
    result="Result",
    wins="{winners} wins with {cards}.",
    shared="{winners} share the win with {cards}.",
    joiner=" and ",
    colon=": ",
)

LABELS: Mapping[str, Labels] = {
    "fr": Labels(
        trick="pli",
        pile="pile",
        unshown="non montrées",
        leads="entame",
        you="vous",
        under="sur",
        no_card="aucune carte jouée",
        memorises="à la {seat} de mémoriser ses cartes",
        to_lead="à la {seat} d'entamer",
        to_play="à la {seat} de jouer, {cards} en jeu",
        battle="Bataille !",
        to_commit="à la {seat} de poser une carte face cachée, {cards} en jeu",
        last="pli précédent",
        took="la {seat} a remporté {cards}",
        shared="{seats} ont pris {cards} chacune",
        nobody="à personne",
        over="la partie est finie",
    ),
    "en": Labels(
        trick="trick",
        pile="pile",
        unshown="not shown yet",
        leads="leads",
        you="you",
        under="on",
        no_card="no card played yet",
        memorises="{seat} to memorise its cards",
        to_lead="{seat} to lead",
        to_play="{seat} to play, {cards} at stake",
        battle="Battle!",
        to_commit="{seat} to put a card face down, {cards} at stake",
        last="last trick",
        took="{seat} took {cards}",
        shared="{seats} took {cards} each",
        nobody="nobody's",
        over="the game is over",
    ),
}

WORDS: Mapping[str, Words] = {"fr": FRENCH, "en": ENGLISH}


def words_in(language: str) -> Words:
    """The wording in ``language``; raises :class:`RulesError` where there is none."""
    if language not in WORDS:
        raise RulesError(choose_one("language", language, WORDS))
    return WORDS[language]
