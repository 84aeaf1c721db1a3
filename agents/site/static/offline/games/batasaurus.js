// A match of Batasaurus as people see it: tricks, sentences, scenes, records. Figures are the kernel's: tables of the module.

import { counted, format, SeatNames } from "../text.js";

const SLOTS = 12;
const MEMORISE = SLOTS; // the action; 0 to 11 play the card in that slot
const MEMORISING = 0; // phases
const BATTLE = 2;
const FACE_DOWN = 0; // in place of a value: a card that the viewer does not see

const isPlaying = (table) => table.stage === 0;
const seatsIn = (bits, players) => Array.from({ length: players }, (_, seat) => seat).filter((seat) => (bits >> seat) & 1);
const valuesIn = (bits) => Array.from({ length: SLOTS }, (_, place) => place + 1).filter((value) => (bits >> (value - 1)) & 1);

/** Returns the value in each slot of a seat, as dealt. */
const layoutOf = (table, seat, dinosaurs) => table.layout.slice(seat * SLOTS, seat * SLOTS + dinosaurs);

/** Returns those with the highest number of a list, by their index. */
const highest = (numbers) => numbers.flatMap((number, place) => (number === Math.max(...numbers) ? [place] : []));

class Trick {
  constructor(leader) {
    this.leader = leader;
    this.rounds = [[]]; // first the cards played face up (B2.1), then those of each battle (B2.3): { seat, slot, value }
    this.dropped = []; // after each complete round: the seats that tied for the highest card and had no card left (B2.4)
    this.gains = null; // by seat: the cards it took
    this.piles = null; // by seat: the cards won up to this trick
  }

  get cards() {
    return this.rounds.flat().length;
  }

  get takers() {
    return (this.gains ?? []).flatMap((cards, seat) => (cards ? [seat] : []));
  }

  tied(plays) {
    return highest(plays.map((play) => play.value)).map((place) => plays[place].seat);
  }

  /** Returns the values that a seat has shown. A battle's cards are shown when it is complete (B2.3). */
  shownBy(seat) {
    const complete = this.gains || this.rounds.length === 1 ? this.rounds : this.rounds.slice(0, -1);
    return complete.flat().filter((play) => play.seat === seat).map((play) => play.value);
  }
}

/** A match, followed ply by ply; see the `Match` of Nain Jaune. */
export class Match {
  constructor(rules, table) {
    this.rules = rules;
    this.opening = table;
    this.tricks = [new Trick(table.leader)];
    this.plies = []; // the events of each ply: the seat, and what makes the sentence for a speaker
  }

  /** Returns true: a match is one round (B3). */
  static hasEnd() {
    return true;
  }

  /** Returns whether cards have to be remembered, so that there is no advice (B4.2). */
  static mustRemember({ memory }) {
    return memory === "glimpse";
  }

  /** Returns the kind of a decision, by its number among the texts of advice: a lead, a card that follows, a battle's card. */
  kindOf(table) {
    if (table.phase === BATTLE) return 2;
    return table.at_stake ? 1 : 0;
  }

  /** Returns whether the seat to act has a choice, or cards to memorise: what it sees now it will not see again (B4.2). */
  needsDecision(table, legal) {
    return legal.length > 1 || table.phase === MEMORISING;
  }

  /** Returns the seat that made a ply of the round. */
  actor(place) {
    return this.plies[place][0][0];
  }

  get isPerfect() {
    return this.rules.knobs.memory === "perfect";
  }

  ply(action, before, after) {
    const { seat } = before;
    if (action === MEMORISE) {
      this.plies.push([[seat, ({ phrases }) => phrases.looks]]);
      return;
    }
    const trick = this.tricks.at(-1);
    const plays = trick.rounds.at(-1);
    const play = { seat, slot: action, value: before.layout[seat * SLOTS + action] };
    plays.push(play);
    const inBattle = before.phase === BATTLE;
    const events = [[seat, (say) => say.play(play, inBattle)]];
    const piles = this.rules.seats(after.pile);
    if (after.tricks !== before.tricks) {
      const left = isPlaying(after) ? piles.map(() => 0) : this.rules.seats(after.cards);
      trick.gains = piles.map((cards, other) => cards - before.pile[other] - left[other]);
      trick.piles = piles.map((cards, other) => cards - left[other]);
      this.closeRound(trick, plays, trick.tied(plays).filter((other) => trick.takers.length !== 1 || trick.takers[0] !== other), events);
      events.push([null, (say) => say.seats.sentence(say.taken(trick))]);
      if (isPlaying(after)) this.tricks.push(new Trick(after.leader));
    } else if (after.phase === BATTLE && after.hidden.every((value) => value === 0)) {
      this.closeRound(trick, plays, trick.tied(plays).filter((other) => !((after.battling >> other) & 1)), events);
      trick.rounds.push([]);
    }
    this.plies.push(events);
  }

  /** Notes a recorded move. */
  move([, slot], before, after) {
    this.ply(slot, before, after);
  }

  closeRound(trick, plays, dropped, events) {
    const isBattle = trick.rounds.length > 1;
    trick.dropped.push(dropped);
    const tied = trick.tied(plays);
    if (isBattle) events.push([null, (say) => say.seats.sentence(say.shows(plays))]);
    if (tied.length > 1) events.push([null, (say) => say.seats.sentence(say.battle(tied, Math.max(...plays.map((play) => play.value))))]);
    if (dropped.length === tied.length) return; // all drop out, so the trick ends and `taken` says so
    for (const seat of dropped) events.push([null, (say) => say.seats.sentence(format(say.words.drops, { seat: say.seats.called[seat] }))]);
  }

  speaker(texts, seat, names, you) {
    return new Speaker(this, texts, seat, names, you);
  }

  /** Returns a scene for `seat`, null a spectator; `table` is redacted for them. */
  scene(table, seat) {
    const { preset, players, knobs } = this.rules;
    const seats = Array.from({ length: players }, (_, each) => each);
    const finished = this.tricks.filter((trick) => trick.gains);
    const ongoing = this.tricks.find((trick) => !trick.gains);
    const isOver = !isPlaying(table);
    const piles = this.rules.seats(table.pile);
    const playing = seats.filter((each) => table.shown[each]);
    const ahead = highest(playing.map((each) => table.shown[each])).map((place) => playing[place]);
    const last = finished.at(-1);
    return {
      preset,
      players,
      dinosaurs: knobs.dinosaurs,
      viewer: seat,
      phase: table.phase,
      trick: table.tricks - isOver, // the kernel opens one more, for which some seat has no card (B3.1)
      at_turn: isOver ? null : table.seat,
      leader: table.leader,
      slots: seats.map((each) => this.slots(table, each, seat)),
      cards: this.rules.seats(table.cards),
      piles,
      unshown: seats.map((each) => valuesIn(table.held[each])),
      shown: seats.map((each) => (ongoing ? ongoing.shownBy(each) : table.shown[each] ? [table.shown[each]] : [])),
      committed: seats.map((each) => (table.hidden[each] ? (this.sees(table, each, seat) ? table.hidden[each] : FACE_DOWN) : null)),
      ahead: table.battling ? seatsIn(table.battling, players) : ahead,
      at_stake: table.at_stake,
      last: last ? { leader: last.leader, shown: seats.map((each) => last.shownBy(each)), gains: last.gains } : null,
      winners: isOver ? highest(piles) : [],
    };
  }

  /** Returns whether a viewer sees the cards in front of `owner` (B4.1, B4.2). */
  sees(table, owner, viewer) {
    return viewer === null || (viewer === owner && (this.isPerfect || (table.phase === MEMORISING && table.seat === owner)));
  }

  slots(table, owner, viewer) {
    if (viewer !== null && viewer !== owner) return null;
    const isSeen = this.sees(table, owner, viewer);
    return layoutOf(table, owner, this.rules.knobs.dinosaurs).map((value, slot) =>
      (table.slots[owner] >> slot) & 1 ? (isSeen ? value : FACE_DOWN) : null);
  }

  /** Returns the scene of a seat without what that seat alone knows. */
  static publicScene(scene) {
    const committed = scene.committed.map((value) => (value === null ? null : FACE_DOWN));
    return { ...scene, viewer: null, slots: scene.slots.map(() => null), committed };
  }

  /** Returns the legal actions that play a card of the viewer, each with the card's slot. */
  static playable({ viewer, slots }, legal) {
    return slots[viewer].flatMap((value, slot) => (value !== null && legal.includes(slot) ? [[slot, slot]] : []));
  }

  payoffs(table) {
    return this.rules.seats(table.pile);
  }
}

/** What is said to the listener in `seat`, and to the reader `you`, in one language. */
class Speaker {
  constructor(match, { words, phrases }, seat, names, you) {
    this.match = match;
    this.words = words;
    this.phrases = phrases;
    this.seat = seat;
    this.seats = new SeatNames(words, names, you);
  }

  named(value) {
    return format(this.words.card, { name: this.words.dinosaurs[value - 1], value });
  }

  titled(title, text) {
    return `${title}${this.words.colon}${text}`;
  }

  begun() {
    const { opening } = this.match;
    return [this.seats.sentence(format(this.phrases.begun, { seat: this.seats.called[opening.leader] }))];
  }

  events() {
    return this.match.plies.map((events) => events.map(([seat, text]) => [seat, text(this)]));
  }

  play({ seat, slot, value }, inBattle) {
    const { phrases, match } = this;
    const isMine = seat === this.seat;
    const own = inBattle ? (match.isPerfect ? phrases.commits_known : phrases.commits_own) : phrases.plays_own;
    return format(isMine ? own : inBattle ? phrases.commits : "{card}", { card: this.named(value), slot });
  }

  shows(plays) {
    return this.titled(this.words.shows, plays.map(({ seat, value }) => `${this.seats.labels[seat]} ${this.named(value)}`).join(" · "));
  }

  battle(tied, value) {
    return format(this.words.battle, { seats: this.seats.listed(tied), card: this.named(value) });
  }

  /** Returns who takes the cards of a trick that is complete. */
  taken(trick) {
    const { words, seats } = this;
    const { takers, gains } = trick;
    if (!takers.length) return format(words.nobody, { cards: this.amount(trick.cards) });
    const [first] = takers;
    if (takers.length === 1) {
      return format(words.takes, { seat: seats.called[first], cards: this.amount(gains[first]), pile: trick.piles[first] });
    }
    const rest = trick.cards - gains.reduce((sum, cards) => sum + cards, 0);
    const values = { seats: seats.listed(takers), cards: this.amount(gains[first]), rest: this.amount(rest) };
    return format(rest ? words.share_rest : words.share, values);
  }

  /** Returns the slot, and the dinosaur where the listener sees it. */
  echo(action, table) {
    if (action === MEMORISE) return this.phrases.look;
    if (!this.match.isPerfect) return format(this.phrases.slot, { slot: action });
    return format(this.phrases.plays_own, { card: this.named(table.layout[table.seat * SLOTS + action]), slot: action });
  }

  settled(table) {
    const left = this.match.rules.seats(table.cards);
    const hasLeft = left.some((cards) => cards > 0);
    const unshown = this.seats.labels.map((label, seat) => `  ${this.titled(label, valuesIn(table.held[seat]).join(" ") || "—")}`);
    return [
      ...(hasLeft ? [`${this.phrases.unshown}${this.words.colon}`.trimEnd(), ...unshown, this.titled(this.words.left, this.seats.bySeat(left))] : []),
      this.titled(this.words.piles, this.seats.bySeat(this.match.payoffs(table))),
    ];
  }

  get unit() {
    return this.words.cards[1];
  }

  amount(number) {
    return counted(this.words, number, this.words.cards);
  }

  /** Returns a summary of the rules, with the value of every knob. */
  rules() {
    const { knobs } = this.match.rules;
    const { rules, exhausted, memory } = this.phrases;
    return format([...rules, exhausted[knobs.exhausted], memory[knobs.memory]].join("\n"), { dinosaurs: knobs.dinosaurs });
  }
}
