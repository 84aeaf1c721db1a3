"""The dinosaurs and what is said of a game, in French and in English: the one place for wording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nainjaune_env.errors import RulesError, choose_one


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
    share="Plus de carte pour continuer : {seats} se partagent le pli, {cards} chacune.",
    share_rest="Plus de carte pour continuer : {seats} se partagent le pli, {cards} chacune ; le reste, {rest}, n'est à personne.",
    nobody="Plus de carte pour continuer : le pli, {cards}, n'est à personne.",
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
    share="No card left to go on with: {seats} share the trick, {cards} each.",
    share_rest="No card left to go on with: {seats} share the trick, {cards} each; the rest, {rest}, is nobody's.",
    nobody="No card left to go on with: the trick, {cards}, is nobody's.",
    left="Cards left over, added to the piles",
    piles="Piles",
    result="Result",
    wins="{winners} wins with {cards}.",
    shared="{winners} share the win with {cards}.",
    joiner=" and ",
    colon=": ",
)

WORDS: Mapping[str, Words] = {"fr": FRENCH, "en": ENGLISH}


def words_in(language: str) -> Words:
    """The wording in ``language``; raises :class:`RulesError` where there is none."""
    if language not in WORDS:
        raise RulesError(choose_one("language", language, WORDS))
    return WORDS[language]
