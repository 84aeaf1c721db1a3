// A match of Nain Jaune as people see it: real cards, sentences, scenes. Figures are the kernel's: tables and rows of the module.

import { cardsIn, DECK, rankOf, TOP_RANK } from "../../wasm/cards.js";
import * as match from "../match.js";
import { format } from "../text.js";

const SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const POT_CARDS = ["Td", "Jc", "Qs", "Kh", "7d"];
const POT = 13; // the actions: plain ranks, then pot cards, a pass, and silent plays of pot cards
const PASS = 18;
const SILENT = 19;
const DRAWN = "direction"; // the knob that changes no play

const isPlaying = (table) => table.stage === 0;

/** Returns the action that plays a card, and captures its pot. */
function actionOf(card) {
  const pot = POT_CARDS.indexOf(card);
  return pot < 0 ? rankOf(card) - 1 : POT + pot;
}

export class Match extends match.Match {
  /** By seat: the cards in hand, whose suits the table does not show. */
  get hands() {
    return this.rules.seats(this.rules.session.memory).map(cardsIn);
  }

  /** Returns whether the seat to act has a choice. */
  needsDecision(table, legal) {
    return legal.length > 1;
  }

  /** Returns false: nothing has to be remembered, so there is advice. */
  static mustRemember() {
    return false;
  }

  /** Returns the kind of a decision, by its name among the texts of advice. */
  kindOf(table, legal) {
    if (table.required_rank === 0) return "lead";
    if (legal.includes(PASS)) return "decline";
    return legal.some((action) => action < POT) ? "pot_or_plain" : "announce";
  }

  /** Returns whether an action plays a pot card. */
  isPotCard(action) {
    return action >= POT && action !== PASS;
  }

  /** Returns a scene for `seat`, null a spectator; `table` is redacted for them. */
  scene(table, seat) {
    const { hands, rules } = this;
    const { preset, players, knobs } = rules;
    const seats = Array.from({ length: players }, (_, each) => each);
    return {
      preset,
      players,
      direction: knobs.direction,
      viewer: seat,
      round: table.rounds,
      dealer: table.dealer,
      at_turn: isPlaying(table) ? table.seat : null,
      required: table.required_rank,
      pots: table.pot,
      captors: table.captor.map((who) => (who < 0 ? null : who)),
      stacks: seats.map((each) => Number(table.stack[each])),
      sizes: seats.map((each) => table.cards[each]),
      hands: seats.map((each) => (seat === null || seat === each ? hands[each] : null)),
      ...runAndCall(this.plies.flat()),
      winner: table.winner < 0 ? null : table.winner,
      grand_opera: table.opera !== 0,
      payoffs: this.payoffs(table),
    };
  }

  /** Returns the scene of a seat without what that seat alone knows. */
  static publicScene(scene) {
    return { ...scene, viewer: null, hands: scene.hands.map(() => null) };
  }

  /** Returns the legal actions that play a card of the viewer, each with the card. */
  static playable({ viewer, hands }, legal) {
    return hands[viewer].map((card) => [actionOf(card), card]).filter(([action]) => legal.includes(action));
  }

  payoffs(table) {
    return Array.from({ length: this.rules.players }, (_, seat) => Number(table.stack[seat] - table.before[seat]));
  }
}

/**
 * Returns the current run as seats and cards, or the last one before a lead, and the last call: the seat; "stop", "capture" or
 * "king"; the missing rank, the captured pot, or 0.
 */
function runAndCall(rows) {
  let run = [];
  let call = null;
  for (const { kind, seat, card, pile } of rows) {
    if (kind === "play") run = [...(pile ? [] : run), [seat, DECK[card]]];
    if (kind === "play" && rankOf(DECK[card]) === TOP_RANK) call = [seat, "king", 0];
    if (kind === "capture") call = [seat, "capture", pile];
    if (kind === "stop") call = [seat, "stop", card];
  }
  return { run, call };
}

export class Speaker extends match.Speaker {
  get spellings() {
    const { words } = this;
    return {
      card: (number) => this.sign(DECK[number]),
      cards: (bits) => cardsIn(bits).map((card) => this.sign(card)).join(" "),
      rank: (rank) => words.rank_names[rank - 1],
      takes: (pot) => this.called(words.takes[pot]),
      king: () => this.called(words.king),
      without: (rank) => this.without(rank),
    };
  }

  get explicit() {
    return this.match.rules.knobs.announce === "explicit";
  }

  sign(card) {
    return this.words.rank_signs[rankOf(card) - 1] + SIGNS[card[1]];
  }

  called(call) {
    return format(this.words.call, { call });
  }

  without(rank) {
    return format(this.words.without, { rank: this.words.rank_names[rank - 1] });
  }

  begun() {
    const { words, phrases, seats } = this;
    const [{ pile: number, seat, other: dealer }, { due: antes }] = this.match.opening;
    const deals = format(words.round, { number, dealer: seats.labels[dealer] });
    const leads = format(phrases.leads, { seat: seats.called[seat], antes: this.amount(antes) });
    return [deals, seats.sentence(leads), ...(this.explicit && number === 1 ? [phrases.knobs.announce.explicit] : [])];
  }

  /** Returns the card with its call; a call that was forgotten is not pointed out. */
  echo(action, table) {
    if (action === PASS) return this.called(this.without(table.required_rank));
    const played = action >= SILENT ? action - SILENT + POT : action;
    const cards = this.match.hands[table.seat].filter((card) => actionOf(card) === played).map((card) => this.sign(card));
    const call = action >= POT && action < PASS ? ` ${this.called(this.words.takes[action - POT])}` : "";
    return cards.join(this.phrases.or_) + call;
  }

  settled(table) {
    const chips = POT_CARDS.map((card, pot) => `${this.sign(card)} ${table.pot[pot]}`).join(" · ");
    return [...this.settlement, `${this.words.pots_after}${this.words.colon}${chips}`];
  }

  /** Returns the rules in short: what the knobs that are words say, and those that are set over the preset. */
  rules() {
    const { knobs, changed, kinds } = this.match.rules;
    const isShown = (name) =>
      (kinds[name] === "word" && name !== DRAWN) || changed.includes(name) || (name === "unannounced" && this.explicit && knobs.unannounced);
    return [...this.phrases.rules, ...Object.keys(knobs).filter(isShown).map((name) => this.knob(name, knobs[name]))].join("\n");
  }

  knob(name, value) {
    const texts = this.phrases.knobs[name];
    return format(texts[value === null ? "none" : String(value)] ?? texts.number, { value: value === null ? "None" : value });
  }
}
