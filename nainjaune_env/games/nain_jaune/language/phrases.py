"""What only a person at the table is told, in French and in English; what accounts and pictures say too is in ``words``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nainjaune_env.games.nain_jaune.language.words import WORDS


@dataclass(frozen=True)
class Phrases:
    """One language. Texts in braces are filled in by ``str.format``."""

    topics: Mapping[str, tuple[str, str]]
    """By name: the word to type, and what it tells."""
    chips: tuple[str, str]
    """One chip, several chips."""
    cards: tuple[str, str]
    singular: tuple[int, ...]
    """Numbers that take the singular."""
    rules: tuple[str, ...]
    decline: Mapping[str, str]
    blocked: Mapping[str, str]
    payment: Mapping[str, str]
    stranded: Mapping[str, str]
    grand_opera: Mapping[str, str]
    announce: Mapping[str, str]
    """What the knobs' values mean."""
    unannounced: str
    typing: tuple[str, ...]
    """How one says what one plays."""
    announcing: str
    """Behind a pot card, to take its pot where that must be said (N2.7)."""
    leads: str
    lead: str
    wanted: str
    takes: str
    holds: str
    again: str
    passes: str
    or_: str
    not_understood: str
    lacks: str
    not_wanted: str
    which: str
    takes_nothing: str
    must_lead: str
    must_play: str
    hand: str
    stack: str
    played: str
    nothing_played: str


ENGLISH = Phrases(
    topics={
        "hand": ("hand", "your cards"),
        "pots": ("pots", "the chips in each pot"),
        "chips": ("chips", "everybody's chips, and how many cards they hold"),
        "played": ("played", "the cards that have been played in this round"),
    },
    chips=("chip", "chips"),
    cards=("card", "cards"),
    singular=(1,),
    rules=(
        "Be the first without cards. Who has the lead plays any card, and goes on with the next rank up as long as he can; when "
        "he cannot, he says so, and the others in turn may take over. Suits matter on the five pot cards only: 10♦ J♣ Q♠ K♥ and "
        "7♦, the nain jaune. Playing one takes what lies in its pot. After a King one leads again.",
    ),
    decline={
        "never": "Who holds the card that is wanted must play it.",
        "entry": "Who has begun a run must go on with it; who would take over may pass instead.",
        "always": "Who holds the card that is wanted may pass all the same.",
    },
    blocked={
        "restart": "Where nobody has it, who played last leads again, with any card.",
        "skip": "Where nobody has it, who played last goes on to the rank above.",
    },
    payment={
        "cards": "The others pay the winner a chip for every card they are left with.",
        "points": "The others pay the winner for every card they are left with: its number, at most 10.",
    },
    stranded={
        "none": "A pot card that one is left with costs nothing more.",
        "match_pot": "Who is left with a pot card adds to its pot as much as it holds.",
        "twice_pot": "Who is left with a pot card adds to its pot twice what it holds.",
        "twice_ante": "Who is left with a pot card adds twice its ante to its pot.",
    },
    grand_opera={
        "first_turn": "Going out in one's first turn is a grand opéra and takes every pot.",
        "single_turn": "Playing all one's cards in a single turn is a grand opéra and takes every pot.",
        "no_rival_card": "Going out before anybody else has played a card is a grand opéra and takes every pot.",
    },
    announce={
        "automatic": "A pot is taken by its card, whatever is said.",
        "explicit": "A pot is taken by who says so as he plays its card: type “7d takes”. Who plays it silently gets nothing.",
    },
    unannounced="A silent play pays {times} times its pot into it.",
    typing=(
        "To play, type what stands in front of the card: 5, J, Q, K, or with the suit: 7d or 7♦ (s=♠ h=♥ d=♦ c=♣). To pass: -",
        "A number is a rank (1 the ace, 11 jack, 12 queen, 13 king). French names do too: V, D, R, valet de trèfle.",
    ),
    announcing="takes",
    leads="{seat} has the lead. Everybody has paid {antes} into the pots.",
    lead="You have the lead: play any card.",
    wanted="Wanted: {rank}.",
    takes="takes its pot: {chips}",
    holds="in its pot: {chips}",
    again="and you lead again",
    passes="you pass",
    or_=" or ",
    not_understood="I do not understand {text!r}: type what stands in front of a card, or ? for help.",
    lacks="You do not hold {card}.",
    not_wanted="{card} is not wanted now: the rank is {rank}.",
    which="You hold {cards}: say which.",
    takes_nothing="Nothing can be taken with {card}: that is for the cards of the pots.",
    must_lead="You have the lead, and must play a card.",
    must_play="You hold {cards}, and must play.",
    hand="Your hand",
    stack="{seat}: {chips}, {cards}",
    played="Played",
    nothing_played="No card has been played yet.",
)

FRENCH = Phrases(
    topics={
        "hand": ("main", "vos cartes"),
        "pots": ("pots", "les jetons de chaque pot"),
        "chips": ("jetons", "les jetons de chacun, et combien de cartes il lui reste"),
        "played": ("jouées", "les cartes jouées dans cette manche"),
    },
    chips=("jeton", "jetons"),
    cards=("carte", "cartes"),
    singular=(0, 1),
    rules=(
        "Soyez le premier sans cartes. Qui a la main pose une carte quelconque, puis continue au rang suivant tant qu'il peut ; "
        "sinon il le dit, et les autres, à leur tour, peuvent prendre la suite. La couleur ne compte que pour les cinq cartes "
        "des pots : 10♦ V♣ D♠ R♥ et 7♦, le nain jaune. Qui en pose une prend ce qu'il y a dans son pot. Après un roi, on "
        "recommence.",
    ),
    decline={
        "never": "Qui a la carte demandée doit la poser.",
        "entry": "Qui a commencé une suite doit la continuer ; qui pourrait la prendre peut passer.",
        "always": "Qui a la carte demandée peut passer quand même.",
    },
    blocked={
        "restart": "Si personne ne l'a, le dernier qui a posé relance avec une carte quelconque.",
        "skip": "Si personne ne l'a, le dernier qui a posé continue au rang au-dessus.",
    },
    payment={
        "cards": "Les autres paient au gagnant un jeton par carte qui leur reste.",
        "points": "Les autres paient au gagnant chaque carte qui leur reste : son nombre, 10 au plus.",
    },
    stranded={
        "none": "Une carte de pot qui reste en main ne coûte rien de plus.",
        "match_pot": "Qui garde une carte de pot ajoute au pot autant qu'il contient.",
        "twice_pot": "Qui garde une carte de pot ajoute au pot le double de ce qu'il contient.",
        "twice_ante": "Qui garde une carte de pot ajoute au pot le double de sa mise.",
    },
    grand_opera={
        "first_turn": "Finir à son premier tour est un grand opéra, et prend tous les pots.",
        "single_turn": "Poser toutes ses cartes en un seul tour est un grand opéra, et prend tous les pots.",
        "no_rival_card": "Finir avant qu'un autre ait posé une carte est un grand opéra, et prend tous les pots.",
    },
    announce={
        "automatic": "La carte d'un pot le prend, quoi qu'on dise.",
        "explicit": "Pour prendre un pot il faut le dire en posant sa carte : tapez « 7d qui prend ». Qui ne dit rien n'a rien.",
    },
    unannounced="Une carte de pot posée sans rien dire coûte {times} fois son pot.",
    typing=(
        "Pour jouer, tapez ce qui est devant la carte : 5, V, D, R, ou avec la couleur : 7d ou 7♦ (s=♠ h=♥ d=♦ c=♣). "
        "Pour passer : -",
        "Un nombre est un rang (1 l'as, 11 valet, 12 dame, 13 roi). Les noms aussi : valet de trèfle, nain jaune.",
    ),
    announcing="qui prend",
    leads="La {seat} a la main. Chacun a payé {antes} aux pots.",
    lead="Vous avez la main : posez une carte quelconque.",
    wanted="Rang demandé : {rank}.",
    takes="prend son pot : {chips}",
    holds="dans son pot : {chips}",
    again="et vous recommencez",
    passes="vous passez",
    or_=" ou ",
    not_understood="Je ne comprends pas {text!r} : tapez ce qui est devant une carte, ou ? pour de l'aide.",
    lacks="Vous n'avez pas de carte {card}.",
    not_wanted="Pas de {card} maintenant : le rang demandé est {rank}.",
    which="Vous avez {cards} : dites laquelle.",
    takes_nothing="On ne prend rien avec {card} : seules les cartes des pots prennent.",
    must_lead="Vous avez la main, et devez poser une carte.",
    must_play="Vous avez {cards}, et devez jouer.",
    hand="Votre main",
    stack="{seat} : {chips}, {cards}",
    played="Jouées",
    nothing_played="Aucune carte n'a été posée.",
)

PHRASES: Mapping[str, Phrases] = {"en": ENGLISH, "fr": FRENCH}
assert PHRASES.keys() == WORDS.keys()
