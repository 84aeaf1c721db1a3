// A match of Batasaurus as people see it: tricks, sentences, scenes. Figures are the kernel's: tables and rows of the module.

import { seatsIn } from "../event_texts.js";
import * as match from "../match.js";
import { format } from "../text.js";

const SLOTS = 12;
const MEMORISE = SLOTS; // the action; 0 to 11 play the card in that slot
const MEMORISING = 0; // phases
const BATTLE = 2;
const FACE_DOWN = 0; // in place of a value: a card that the viewer does not see
const ENDS = ["take", "share", "nobody"]; // the events that end a trick

const isPlaying = (table) => table.stage === 0;
const valuesIn = (bits) => Array.from({ length: SLOTS }, (_, place) => place + 1).filter((value) => (bits >> (value - 1)) & 1);

/** Returns the value that a set of cards, one a seat, has for a seat; 0 for none. */
const valueOf = (cards, seat) => (cards >> (4 * seat)) & 15;

/** Returns the value in each slot of a seat, as dealt. */
const layoutOf = (table, seat, dinosaurs) => table.layout.slice(seat * SLOTS, seat * SLOTS + dinosaurs);

/** Returns those with the highest number of a list, by their index. */
const highest = (numbers) => numbers.flatMap((number, place) => (number === Math.max(...numbers) ? [place] : []));

/** A match, which is one round (B3). */
export class Match extends match.Match {
  constructor(rules, table, opening) {
    super(rules, table, opening);
    this.leader = table.leader;
  }

  /** Returns whether cards have to be remembered, so that there is no advice (B4.2). */
  static mustRemember(knobs) {
    return knobs.memory === "glimpse";
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

  get isPerfect() {
    return !Match.mustRemember(this.rules.knobs);
  }

  /** Returns a scene for `seat`, null a spectator; `table` is redacted for them. */
  scene(table, seat) {
    const { preset, players, knobs } = this.rules;
    const seats = Array.from({ length: players }, (_, each) => each);
    const isOver = !isPlaying(table);
    const piles = this.rules.seats(table.pile);
    const playing = seats.filter((each) => table.shown[each]);
    const { shown, last } = this.tricks();
    const ahead = highest(playing.map((each) => table.shown[each])).map((place) => playing[place]);
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
      shown,
      committed: seats.map((each) => (table.hidden[each] ? (this.sees(table, each, seat) ? table.hidden[each] : FACE_DOWN) : null)),
      ahead: table.battling ? seatsIn(table.battling, 0, players) : ahead,
      at_stake: table.at_stake,
      last,
      winners: isOver ? highest(piles) : [],
    };
  }

  /** Returns what each seat has shown in this trick, first to last, and the last trick. */
  tricks() {
    const nothing = () => Array.from({ length: this.rules.players }, () => []);
    let leader = null;
    let shown = nothing();
    let last = null;
    for (const { kind, seat, card, cards, paid } of this.plies.flat()) {
      if (kind === "play") {
        leader ??= seat;
        shown[seat].push(card);
      } else if (kind === "show") {
        shown = shown.map((values, each) => [...values, valueOf(cards, each)].filter(Boolean));
      } else if (ENDS.includes(kind)) {
        const takes = (each) => (kind === "take" ? each === seat : (cards >> each) & 1);
        last = { leader, shown, gains: shown.map((_, each) => (takes(each) ? paid : 0)) };
        [leader, shown] = [null, nothing()];
      }
    }
    return { shown, last };
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

export class Speaker extends match.Speaker {
  get spellings() {
    const { players } = this.match.rules;
    return {
      card: (value) => this.named(value),
      values: (cards, { other }) =>
        seatsIn(2 ** players - 1, other, players).filter((seat) => valueOf(cards, seat))
          .map((seat) => `${this.seats.labels[seat]} ${this.named(valueOf(cards, seat))}`).join(" · "),
    };
  }

  named(value) {
    return format(this.words.card, { name: this.words.dinosaurs[value - 1], value });
  }

  titled(title, text) {
    return `${title}${this.words.colon}${text}`;
  }

  begun() {
    return [this.seats.sentence(format(this.phrases.begun, { seat: this.seats.called[this.match.leader] }))];
  }

  /** Returns the slot, and the dinosaur where the listener sees it. */
  echo(action, table) {
    if (action === MEMORISE) return this.phrases.look;
    if (!this.match.isPerfect) return format(this.phrases.slot, { slot: action });
    return format(this.told.play, { card: this.named(table.layout[table.seat * SLOTS + action]), pile: action });
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

  /** Returns a summary of the rules, with the value of every knob. */
  rules() {
    const { knobs } = this.match.rules;
    const { rules, exhausted, memory } = this.phrases;
    return format([...rules, exhausted[knobs.exhausted], memory[knobs.memory]].join("\n"), { dinosaurs: knobs.dinosaurs });
  }
}
