// The 52 cards by number, as texts: "As" is 0, "Kc" 51.

const RANKS = "A23456789TJQK";
const SUITS = "shdc";

export const DECK = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
export const TOP_RANK = RANKS.length;

/** By card: the set of it alone, bit n for card n. */
export const SET_OF = Object.fromEntries(DECK.map((card, number) => [card, 1n << BigInt(number)]));

const BY_RANK = [...RANKS].flatMap((rank) => [...SUITS].map((suit) => rank + suit));

/** Returns the rank of a card, 1 for an ace. */
export const rankOf = (card) => RANKS.indexOf(card[0]) + 1;

/** Returns the cards of a set by rank, then by suit. */
export const cardsIn = (bits) => BY_RANK.filter((card) => BigInt(bits) & SET_OF[card]);
