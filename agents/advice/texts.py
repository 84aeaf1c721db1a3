"""Texts of advice for any game, in English and French; a game's own words are in its advice hooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Texts:
    """The texts of one language; ``str.format`` fills in the braces."""

    move: str
    behind: str
    better: str
    equal: str
    because: str
    further: str
    """Between two reasons."""
    basis: str
    best_mark: str
    equal_mark: str
    decisions: str
    mistakes: str
    lost: str
    a_round: str
    all_kinds: str
    costliest: str
    none: str
    where: str
    played: str
    ask: str
    meaning: str


ENGLISH = Texts(
    move="play",
    behind="behind",
    better="{best} is worth {more} ± {ci95} {unit} more than {other}",
    equal="{best} and {other} come to the same as far as {deals} deals tell ({more} ± {ci95} {unit})",
    because=": ",
    further="; ",
    basis="{unit} from here to the end of the round ± 95 % interval; {deals} deals; rounds played out by {model}.",
    best_mark="▸",
    equal_mark="≈",
    decisions="decisions",
    mistakes="mistakes",
    lost="{unit} lost",
    a_round="a round",
    all_kinds="in all",
    costliest="The costliest mistakes",
    none="No mistake is clear of noise.",
    where="Match {match}, round {round}, move {move}: {player} ({kind})",
    played="played {played}; {best} was better",
    ask="nainjaune advise --record {file} --match {match} --round {round} --move {move}",
    meaning=(
        "Lost is what the best move found comes to beyond the one played, in {deals} deals other than those in which it was "
        "found; rounds played out by {model}. Of the mistakes at most 5 % are expected to be noise."
    ),
)

FRENCH = Texts(
    move="coup",
    behind="retard",
    better="{best} vaut {more} ± {ci95} {unit} de plus que {other}",
    equal="{best} et {other} se valent, autant que {deals} donnes le disent ({more} ± {ci95} {unit})",
    because=" : ",
    further=" ; ",
    basis="{unit} d'ici la fin de la manche ± intervalle à 95 % ; {deals} donnes ; manches jouées jusqu'au bout par {model}.",
    best_mark="▸",
    equal_mark="≈",
    decisions="décisions",
    mistakes="erreurs",
    lost="{unit} perdus",
    a_round="par manche",
    all_kinds="en tout",
    costliest="Les erreurs les plus chères",
    none="Aucune erreur ne se distingue du hasard.",
    where="Partie {match}, manche {round}, coup {move} : {player} ({kind})",
    played="a joué {played} ; {best} valait mieux",
    ask="nainjaune advise --lang fr --record {file} --match {match} --round {round} --move {move}",
    meaning=(
        "Est perdu ce que le meilleur coup trouvé rapporte de plus que le coup joué, dans {deals} donnes autres que celles où il "
        "fut trouvé ; manches jouées jusqu'au bout par {model}. Parmi les erreurs, 5 % au plus devraient être dues au hasard."
    ),
)

TEXTS: Mapping[str, Texts] = {"en": ENGLISH, "fr": FRENCH}
