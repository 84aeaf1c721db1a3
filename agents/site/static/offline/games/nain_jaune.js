// A match of Nain Jaune as people see it: real cards, sentences, scenes, records. Figures are the kernel's: tables of the module.

import { NumpyRng } from "../../wasm/random.js";
import { counted, format, SeatNames } from "../text.js";

const RANKS = "A23456789TJQK";
const SUITS = "shdc";
const SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const DECK = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
const POT_CARDS = ["Td", "Jc", "Qs", "Kh", "7d"];
const POT = 13; // the actions: plain ranks, then pot cards, a pass, and silent plays of pot cards
const PASS = 18;
const SILENT = 19;
const PASS_MOVE = "-";
const SILENT_MARK = "~";
const POT_LIMIT = 2 ** 28;
const DRAWN = "direction"; // the knob that changes no play

const rankOf = (card) => RANKS.indexOf(card[0]) + 1;
const byRank = (cards) => [...cards].sort((one, other) => rankOf(one) - rankOf(other) || SUITS.indexOf(one[1]) - SUITS.indexOf(other[1]));
const cardsIn = (bits) => DECK.filter((_, number) => (BigInt(bits) >> BigInt(number)) & 1n);
const cardOf = (move) => move.replace(SILENT_MARK, "");

/** Returns the moves that play a card: a pot card also silently. */
const movesOf = (card) => (POT_CARDS.includes(card) ? [card, card + SILENT_MARK] : [card]);

/** Returns the action of a move. */
function actionOf(move) {
  if (move === PASS_MOVE) return PASS;
  const pot = POT_CARDS.indexOf(cardOf(move));
  if (pot < 0) return rankOf(move) - 1;
  return (move.endsWith(SILENT_MARK) ? SILENT : POT) + pot;
}

/** A match, followed ply by ply. `rules` are `Rules` of live_table.js. */
export class Match {
  constructor(rules, table) {
    this.rules = rules;
    this.deal(table);
  }

  /** Returns whether a match under these rules has an end (N4.3). */
  static hasEnd({ starting_stack, max_rounds }) {
    return starting_stack !== null || max_rounds !== null;
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

  /** Returns the seat that made a ply of the round. */
  actor(place) {
    return this.round.plies[place][0][0];
  }

  /** Begins the next round, dealt as `table`. */
  deal(table) {
    this.round = new Round(this.rules, table);
  }

  /** Notes a ply: the tables before and after it. */
  ply(action, before, after) {
    this.round.ply(action, before, after);
  }

  /** Notes a recorded move, which names the card. */
  move([, move], before, after) {
    this.round.move(move, before, after);
  }

  speaker(texts, seat, names, you) {
    return new Speaker(this, texts, names, you);
  }

  /** Returns a scene for `seat`, null a spectator; `table` is redacted for them. */
  scene(table, seat) {
    const { preset, players, knobs } = this.rules;
    const { round } = this;
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
      hands: seats.map((each) => (seat === null || seat === each ? [...round.hands[each]] : null)),
      run: [...round.run],
      call: round.call,
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

const isPlaying = (table) => table.stage === 0;

class Round {
  constructor(rules, table) {
    this.rules = rules;
    this.table = table; // just dealt
    this.hands = rules.seats(table.hand).map((bits) => byRank(cardsIn(bits)));
    this.run = []; // the current run as seats and cards, or the last one before a lead
    this.call = null; // the last call: the seat; "stop", "capture" or "king"; the missing rank, the captured pot, or 0
    this.plies = []; // the events of each ply: the seat, and what makes the sentence for a speaker
    this.settlement = [];
    this.inTurn = false; // whether the seat at turn has played a card since it got the turn
    this.rng = new NumpyRng(table.rng); // draws which of several plain cards of a rank is shown
  }

  /** Returns the real moves of a seat for the actions `legal`: cards by rank, and a pass last. */
  legalMoves(seat, legal) {
    const moves = this.hands[seat].flatMap((card) => movesOf(card).filter((move) => legal.includes(actionOf(move))));
    return legal.includes(PASS) ? [...moves, PASS_MOVE] : moves;
  }

  ply(action, before, after) {
    const moves = this.legalMoves(before.seat, [action]);
    this.move(moves[this.rng.below(moves.length)], before, after);
  }

  move(move, before, after) {
    this.plies.push(move === PASS_MOVE ? this.pass(before, after) : this.card(move, before, after));
  }

  pass(before, after) {
    const { seat, required_rank: required } = before;
    if (seat === before.last) this.call = [seat, "stop", required];
    const called = this.endOfTurn(({ words }) => format(words.without, { rank: words.rank_names[required - 1] }));
    if (after.seat !== after.last) return [[seat, called]];
    const { seat: leads, required_rank: next } = after; // the circle is blocked (N2.6)
    const blocked = ({ words, seats }) =>
      format(next ? words.nobody_skip : words.nobody_restart, {
        rank: words.rank_names[required - 1], seat: seats.called[leads], next: words.rank_names[next - 1],
      });
    return [[seat, called], [null, blocked]];
  }

  card(move, before, after) {
    const { seat } = before;
    const card = cardOf(move);
    const pot = POT_CARDS.indexOf(card);
    const silent = card !== move;
    const isLast = before.cards[seat] === 1;
    const isKing = rankOf(card) === RANKS.length;
    const hand = this.hands[seat];
    hand.splice(hand.indexOf(card), 1);
    if (before.required_rank === 0) this.run = [];
    this.run.push([seat, card]);
    if (pot >= 0 && !silent) this.call = [seat, "capture", pot];
    else if (isKing) this.call = [seat, "king", 0];
    this.inTurn = true;
    const put = isLast ? this.putDown(before, pot, silent) : null;
    const change = pot < 0 ? 0 : (put ?? after).pot[pot] - before.pot[pot];
    const events = [[seat, (say) => [say.sign(card), ...(pot < 0 ? [] : [say.potCard(pot, change, silent)]), ...(isKing && !isLast ? [say.king()] : [])].join(" ")]];
    if (!isLast) return events;
    this.settlement = this.transfers(put, after);
    return [...events, [seat, this.endOfTurn(({ words }) => words.out)]];
  }

  endOfTurn(called) {
    const dash = this.inTurn ? "— " : "";
    this.inTurn = false;
    return (say) => dash + called(say);
  }

  /** Returns the chips once the last card is on the table, with nothing settled yet (N2.7). */
  putDown(before, pot, silent) {
    const chips = { stacks: this.rules.seats(before.stack).map(Number), pot: [...before.pot] };
    if (pot >= 0 && silent) this.addToPot(chips, before.seat, pot, this.rules.knobs.unannounced * chips.pot[pot]);
    else if (pot >= 0) this.capture(chips, before.seat, pot);
    return chips;
  }

  capture(chips, seat, pot) {
    chips.stacks[seat] += chips.pot[pot];
    chips.pot[pot] = 0;
  }

  /** Takes what a seat can pay of `due` (N4.2). */
  take(chips, seat, due) {
    const paid = this.rules.knobs.starting_stack === null ? due : Math.min(due, chips.stacks[seat]);
    chips.stacks[seat] -= paid;
    return paid;
  }

  addToPot(chips, seat, pot, due) {
    const paid = this.take(chips, seat, Math.min(due, POT_LIMIT - chips.pot[pot]));
    chips.pot[pot] += paid;
    return paid;
  }

  /** Returns the transfers of the settlement (N3) in order; makes them on `chips`. */
  transfers(chips, after) {
    const { players } = this.rules;
    const { winner } = after;
    const found = [];
    if (after.opera) {
      const paid = chips.pot.reduce((sum, one) => sum + one, 0);
      chips.pot.forEach((_, pot) => this.capture(chips, winner, pot));
      found.push({ text: "grand_opera", seat: winner, paid, due: paid, pot: 0 });
    }
    const losers = Array.from({ length: players - 1 }, (_, k) => (winner + k + 1) % players);
    for (const seat of losers) {
      const due = this.paymentDue(seat);
      const paid = this.take(chips, seat, due);
      chips.stacks[winner] += paid;
      found.push({ text: "pays", seat, paid, due, pot: 0 });
    }
    for (const seat of losers) {
      for (const [pot, card] of POT_CARDS.entries()) {
        if (this.rules.knobs.stranded === "none" || !this.hands[seat].includes(card)) continue;
        const due = this.strandedDue(chips, pot);
        found.push({ text: "stranded", seat, paid: this.addToPot(chips, seat, pot, due), due, pot });
      }
    }
    return found.map((transfer) => ({ ...transfer, winner, hand: [...this.hands[transfer.seat]] }));
  }

  paymentDue(seat) {
    const hand = this.hands[seat];
    return this.rules.knobs.payment === "points" ? hand.reduce((sum, card) => sum + Math.min(rankOf(card), 10), 0) : hand.length;
  }

  strandedDue(chips, pot) {
    const { stranded, stake } = this.rules.knobs;
    if (stranded === "twice_ante") return 2 * this.rules.number(`antes.${pot}`) * stake;
    return (stranded === "twice_pot" ? 2 : 1) * chips.pot[pot];
  }
}

/** What is said to the reader `you` in one language. */
class Speaker {
  constructor(match, { words, phrases }, names, you) {
    this.match = match;
    this.words = words;
    this.phrases = phrases;
    this.seats = new SeatNames(words, names, you);
  }

  get explicit() {
    return this.match.rules.knobs.announce === "explicit";
  }

  get round() {
    return this.match.round;
  }

  sign(card) {
    return this.words.rank_signs[rankOf(card) - 1] + SIGNS[card[1]];
  }

  signs(cards) {
    return cards.map((card) => this.sign(card)).join(" ");
  }

  called(call) {
    return format(this.words.call, { call });
  }

  king() {
    return this.called(this.words.king);
  }

  /** Returns what is said with a pot card that changes the chips of its pot (N2.7). */
  potCard(pot, change, silent) {
    if (!silent) return `${this.called(this.words.takes[pot])} (+${-change})`;
    return change ? `(${format(this.words.silent_paid, { chips: change })})` : `(${this.words.silent})`;
  }

  begun() {
    const { words, phrases, seats } = this;
    const { table } = this.round;
    const deals = format(words.round, { number: table.rounds, dealer: seats.labels[table.dealer] });
    const leads = format(phrases.leads, { seat: seats.called[table.seat], antes: this.amount(this.match.rules.number("round_antes")) });
    return [deals, seats.sentence(leads), ...(this.explicit && table.rounds === 1 ? [phrases.knobs.announce.explicit] : [])];
  }

  /** Returns the events of each ply of the round, as [seat or null, text]. */
  events() {
    return this.round.plies.map((events) => events.map(([seat, text]) => [seat, text(this)]));
  }

  /** Returns the card with its call; a call that was forgotten is not pointed out. */
  echo(action, table) {
    const { words } = this;
    if (action === PASS) return this.called(format(words.without, { rank: words.rank_names[table.required_rank - 1] }));
    const cards = this.round.legalMoves(table.seat, [action]).map((move) => this.sign(cardOf(move))).join(this.phrases.or_);
    return action >= POT && action < PASS ? `${cards} ${this.called(words.takes[action - POT])}` : cards;
  }

  settled(table) {
    return [...this.round.settlement.map((transfer) => this.transfer(transfer)), this.pots(table)];
  }

  transfer({ text, seat, paid, due, pot, winner, hand }) {
    const { words, seats } = this;
    return seats.sentence(format(words[paid === due ? text : `${text}_short`], {
      seat: seats.called[seat], winner: seats.called[winner], paid, due, card: this.sign(POT_CARDS[pot]), cards: this.signs(hand),
    }));
  }

  pots(table) {
    const chips = POT_CARDS.map((card, pot) => `${this.sign(card)} ${table.pot[pot]}`).join(" · ");
    return `${this.words.pots_after}${this.words.colon}${chips}`;
  }

  get unit() {
    return this.words.chips[1];
  }

  amount(number) {
    return counted(this.words, number, this.words.chips);
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
