// Records of finished matches: text that anyone can replay, as `nainjaune` writes and verifies it. One match a line of JSON.

import { cardsIn, DECK, rankOf, SET_OF, TOP_RANK } from "./cards.js";
import { writtenRules } from "./rules.js";

const FORMAT = "nainjaune-record";
const VERSION = 1;
const HEAD = ["format", "version", "game", "preset", "rules", "players", "seed", "agents"];
const LONGEST_NAME = 4096;
const HIGHEST_SEED = (1n << 64n) - 1n;
const PLAYING = 0;
const MATCH_OVER = 2;

const PASS = "-";
const SILENT = "~";
const POTS = 5;
const POT_LIMIT = 1 << 28;

/** Says why a record is refused. */
function refuse(sentence) {
  throw new RangeError(sentence);
}

// ---- any game ----------------------------------------------------------------------------------------------------------

/** Returns the record of the finished episode of a session, which began with a match's first deal. */
export function recordOf(session, { agents, seed }) {
  const { description } = session.game;
  if (!session.done) refuse("A record is of a finished episode, and this one is not.");
  const single = session.options.whole_match ? {} : description.single_round; // a round by itself is a match of one round
  const rules = { ...session.rules, ...single };
  const { preset, players } = session;
  const head = {
    format: FORMAT,
    version: VERSION,
    game: description.game,
    preset,
    rules: writtenRules(description, rules),
    players,
    seed,
    agents,
  };
  checkNames(head);
  const transcriber = transcriberOf(description);
  const replayed = session.game.session({ preset, players, knobs: rules });
  try {
    replayed.place(session.opening);
    const actions = session.plies.map(([, action]) => action);
    return { ...head, ...transcriber.write(replayed, actions) };
  } finally {
    replayed.free();
  }
}

/** Returns a record as a line of text, without its end. */
export function formatRecord(record) {
  const values = Object.entries(record).map(([key, value]) => {
    const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
    return `${JSON.stringify(key)}:${text}`;
  });
  return `{${values.join(",")}}`;
}

/** Returns the record in a line of text; `Game.replay` checks it. A seed that no JavaScript number holds is a `bigint`. */
export function parseRecord(text) {
  let record;
  try {
    record = JSON.parse(text);
  } catch (error) {
    refuse(`Expected a record as JSON: ${error.message}.`);
  }
  if (Number.isInteger(record?.seed) && !Number.isSafeInteger(record.seed)) {
    record.seed = BigInt(/"seed"\s*:\s*(\d+)/.exec(text)?.[1] ?? -1);
  }
  return record;
}

/** A record that has been verified, and is played back move by move; `Game.replay` makes one. */
export class Replay {
  #transcriber;

  constructor(game, record) {
    const { description } = game;
    checkHead(description, record);
    this.#transcriber = transcriberOf(description);
    checkKeys("The record", record, [...HEAD, ...this.#transcriber.BODY]);
    const { preset, players, rules } = record;
    const extensions = description.knobs.filter((knob) => Object.hasOwn(knob, "omitted")).map(({ name }) => name);
    const required = description.knobs.map(({ name }) => name).filter((name) => !extensions.includes(name));
    checkKeys("The record's rules", rules, required, extensions);
    const omitted = description.knobs.filter(({ name }) => extensions.includes(name)).map((knob) => [knob.name, knob.omitted]);
    this.record = record;
    this.session = game.session({ preset, players, knobs: { ...Object.fromEntries(omitted), ...rules } });
    try {
      checkNames(record);
      this.#verify();
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The number of rounds. */
  get rounds() {
    return this.#transcriber.rounds(this.record).length;
  }

  /** Plays a round, from 1: yields null when it is dealt, then each move after it is made; `session` stands there. */
  *round(number) {
    if (!Number.isInteger(number) || number < 1 || number > this.rounds) {
      refuse(`Expected one of the rounds 1 to ${this.rounds}, not ${number}.`);
    }
    yield* this.#transcriber.play(this.session, this.record, number, null);
  }

  /** Gives the memory of `session` back. */
  free() {
    this.session.free();
  }

  #verify() {
    const rounds = this.#transcriber.rounds(this.record);
    let before = { first: true };
    for (let number = 1; number <= rounds.length; number += 1) {
      if (this.#isOver() && !before.first)
        refuse(`Round ${number}: expected no more rounds, for the match was over after round ${number - 1}.`);
      for (const _ of this.#transcriber.play(this.session, this.record, number, before));
      before = this.#transcriber.after(this.session);
    }
    if (before.first || !this.#isOver()) refuse(`The record: expected a round ${rounds.length + 1}, for the match is not over.`);
    for (const [key, value] of Object.entries(this.#transcriber.end(this.session)))
      checkEqual("The end", key, this.record[key], value);
  }

  #isOver() {
    return this.session.field("stage")[0] === MATCH_OVER;
  }
}

function transcriberOf(description) {
  if (!Object.hasOwn(TRANSCRIBERS, description.game)) refuse(`There are no records of ${description.title} in JavaScript.`);
  return TRANSCRIBERS[description.game];
}

function checkHead(description, record) {
  if (record === null || typeof record !== "object" || Array.isArray(record))
    refuse(`A record is an object, not ${shown(record)}.`);
  if (record.format !== FORMAT) refuse(`Expected a record with the format "${FORMAT}", and it has ${shown(record.format)}.`);
  if (record.version !== VERSION) {
    const newer = record.version > VERSION ? ": it was written by a newer version of the game" : "";
    refuse(`Expected a record of version ${VERSION}, and it is of version ${shown(record.version)}${newer}.`);
  }
  if (record.game !== description.game) refuse(`Expected a record of ${description.game}, and it is of ${shown(record.game)}.`);
  if (!Number.isInteger(record.players))
    refuse(`The record: expected 'players' to be a whole number, not ${shown(record.players)}.`);
}

function checkNames({ agents, players, seed }) {
  checkList("The record", "agents", agents, (name) => typeof name === "string" && [...name].length <= LONGEST_NAME, players);
  const whole = typeof seed === "bigint" || Number.isSafeInteger(seed);
  if (seed !== null && !(whole && seed >= 0 && seed <= HIGHEST_SEED)) {
    refuse(`The record: expected 'seed' to be a whole number from 0 to ${HIGHEST_SEED} or null, not ${shown(seed)}.`);
  }
}

function checkKeys(where, given, names, optional = []) {
  if (given === null || typeof given !== "object" || Array.isArray(given))
    refuse(`${where}: expected an object, not ${shown(given)}.`);
  const missing = names.filter((name) => !Object.hasOwn(given, name));
  if (missing.length) refuse(`${where}: expected the keys ${missing.join(", ")}, which are missing.`);
  const unknown = Object.keys(given).filter((name) => !names.includes(name) && !optional.includes(name));
  if (unknown.length) refuse(`${where}: unknown keys ${unknown.join(", ")}.`);
}

function checkList(where, name, given, fits, length) {
  if (!Array.isArray(given) || !given.every(fits) || (length !== undefined && given.length !== length)) {
    refuse(
      `${where}: expected '${name}' to be a list${length === undefined ? "" : ` of ${length}`} that fits, not ${shown(given)}.`,
    );
  }
}

function checkEqual(where, name, given, expected) {
  if (!isEqual(given, expected)) refuse(`${where}: expected '${name}' to be ${shown(expected)}, not ${shown(given)}.`);
}

function isEqual(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function shown(value) {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

const isSeatIn = (players) => (seat) => Number.isInteger(seat) && seat >= 0 && seat < players;
const numbers = (view, count = view.length) => [...view.subarray(0, count)].map(Number);
const winners = (totals) => totals.flatMap((total, seat) => (total === Math.max(...totals) ? [seat] : []));

/** Makes recorded moves, of which each is a seat and one of what `legalMoves()` returns then; yields each after it is made. */
function* makeMoves(session, moves, where, move, legalMoves, make) {
  checkList(where, "moves", moves, () => true);
  for (const [place, given] of moves.entries()) {
    const at = `${move} ${place + 1}`;
    if (!session.legal.length) refuse(`${at}: expected no more moves, for the round is over; the record has ${shown(given)}.`);
    const { seat } = session;
    const legal = legalMoves();
    if (!Array.isArray(given) || given.length !== 2 || given[0] !== seat || !legal.includes(given[1])) {
      refuse(`${at}: expected [${seat}, one of ${legal.join(", ")}], and the move is ${shown(given)}.`);
    }
    make(given[1], place, legal, at);
    yield given;
  }
  if (session.legal.length) refuse(`${where}: expected a move ${moves.length + 1} by seat ${session.seat}, and the moves end.`);
}

// ---- Nain Jaune: real cards, whose suits the table does not show ---------------------------------------------------------

const nainJaune = {
  BODY: ["rounds", "stacks", "pots", "winners"],
  ROUND: [
    "dealer",
    "stacks",
    "pots",
    "hands",
    "talon",
    "moves",
    "winner",
    "grand_opera",
    "defaults",
    "stacks_after",
    "pots_after",
  ],

  write(session, actions) {
    const antes = potsAtOnce(session);
    const rounds = [];
    let pots = numbers(session.field("pot")).map((chips, pot) => chips - antes[pot]);
    for (let used = 0; ; session.deal()) {
      session.open();
      const hands = session.memory.slice(0, session.players).map(cardsIn);
      const round = { dealer: session.field("dealer")[0], stacks: numbers(session.field("before"), session.players), pots };
      Object.assign(round, { hands, talon: cardsLeft(session, hands), moves: [], legal: [] });
      while (session.field("stage")[0] === PLAYING) {
        const { seat } = session;
        const action = actions[used];
        used += 1;
        round.legal.push(legalMoves(session));
        const [{ card }] = session.tell(action);
        round.moves.push([seat, action < TOP_RANK ? DECK[card] : session.game.description.actions[action]]);
      }
      rounds.push({ ...round, ...outcomeOf(session) });
      if (session.field("stage")[0] === MATCH_OVER) return { rounds, ...this.end(session) };
      pots = numbers(session.field("pot"));
    }
  },

  rounds: ({ rounds }) => {
    checkList("The record", "rounds", rounds, (round) => round !== null && typeof round === "object");
    return rounds;
  },

  *play(session, { rounds }, number, before) {
    const where = `Round ${number}`;
    const written = rounds[number - 1];
    checkKeys(where, written, this.ROUND, ["legal"]);
    if (before) checkStart(session, written, before, where);
    openRound(session, written, number, where);
    yield null;
    if (written.legal !== undefined) checkList(where, "legal", written.legal, Array.isArray, written.moves?.length);
    yield* makeMoves(session, written.moves, where, `${where}, move`, () => legalMoves(session), (move, place, legal, at) => {
      if (written.legal !== undefined && !isEqual([...written.legal[place]].sort(), [...legal].sort())) {
        refuse(`${at}: expected 'legal' to hold exactly ${legal.join(", ")}, and it holds ${shown(written.legal[place])}.`);
      }
      session.tell(actionOf(session, move), { shown: DECK.indexOf(move) });
    });
    for (const [key, value] of Object.entries(outcomeOf(session))) checkEqual(where, key, written[key], value);
  },

  after: (session) => ({
    dealer: (session.field("dealer")[0] + 1) % session.players,
    stacks: numbers(session.field("stack"), session.players),
    pots: numbers(session.field("pot")),
  }),

  end(session) {
    const stacks = numbers(session.field("stack"), session.players);
    return { stacks, pots: numbers(session.field("pot")), winners: winners(stacks) };
  },
};

/** Checks dealer, stacks and pots: as a new match begins, then as the round before left them. */
function checkStart(session, written, before, where) {
  const { players } = session;
  if (!before.first) {
    for (const [key, value] of Object.entries(before)) checkEqual(where, key, written[key], value);
    return;
  }
  checkEqual(where, "stacks", written.stacks, Array(players).fill(Number(session.numbers.starting_stack)));
  checkList(where, "pots", written.pots, (chips) => Number.isInteger(chips) && chips >= 0 && chips <= POT_LIMIT, POTS);
  if (!isSeatIn(players)(written.dealer))
    refuse(`${where}: expected 'dealer' to be a seat from 0 to ${players - 1}, not ${shown(written.dealer)}.`);
}

/** Opens a recorded round in the session. */
function openRound(session, written, number, where) {
  const { players } = session;
  const size = Number(session.numbers.hand_size);
  const deck = cardsIn(session.numbers.deck);
  checkList(where, "hands", written.hands, Array.isArray, players);
  written.hands.forEach((hand, seat) => checkList(where, `hands[${seat}]`, hand, (card) => deck.includes(card), size));
  const dealt = written.hands.flat();
  const twice = dealt.filter((card, place) => dealt.indexOf(card) < place);
  if (twice.length) refuse(`${where}: the deal is no deck: ${twice.join(", ")} dealt more than once.`);
  const talon = cardsLeft(session, written.hands);
  if (!Array.isArray(written.talon) || !isEqual([...written.talon].sort(), [...talon].sort())) {
    refuse(`${where}: expected the talon to be the cards left, ${talon.join(", ")}, not ${shown(written.talon)}.`);
  }
  const others = [DECK.filter((card) => talon.includes(card)), DECK.filter((card) => !deck.includes(card))].flat();
  session.place({
    stack: written.stacks.map(BigInt),
    pot: written.pots,
    rounds: [number - 1],
    dealer: [written.dealer],
    deck: [...dealt, ...others].map((card) => DECK.indexOf(card)),
    hand: written.hands.map((hand) => hand.reduce((bits, card) => bits | SET_OF[card], 0n)),
  });
  session.open();
}

/** What all seats ante into each pot in a round. */
function potsAtOnce({ players, numbers: rules }) {
  return Array.from({ length: POTS }, (_, pot) => players * Number(rules[`antes.${pot}`]) * Number(rules.stake));
}

function outcomeOf(session) {
  const { players } = session;
  const defaults = session.field("defaults")[0];
  return {
    winner: session.field("winner")[0],
    grand_opera: session.field("opera")[0] !== 0,
    defaults: Array.from({ length: players }, (_, seat) => seat).filter((seat) => (defaults >> seat) & 1),
    stacks_after: numbers(session.field("stack"), players),
    pots_after: numbers(session.field("pot")),
  };
}

/** Returns the cards of the deck that are in none of the hands dealt. */
function cardsLeft(session, hands) {
  const dealt = hands.flat();
  return cardsIn(session.numbers.deck).filter((card) => !dealt.includes(card));
}

/** Returns the action of a move; plain cards of a rank are one action. */
function actionOf(session, move) {
  const named = session.game.description.actions.indexOf(move);
  return named >= 0 ? named : rankOf(move) - 1;
}

/** Returns the legal moves by rank, a silent play behind its card, a pass last. */
function legalMoves(session) {
  const { game, memory, seat, legal } = session;
  const silent = (card) => (game.description.actions.includes(card + SILENT) ? [card + SILENT] : []);
  const moves = cardsIn(memory[seat]).flatMap((card) => [card, ...silent(card)]);
  return [...moves, PASS].filter((move) => legal.includes(actionOf(session, move)));
}

// ---- Batasaurus: one round; memorising steps are no moves ----------------------------------------------------------------

const batasaurus = {
  BODY: ["layouts", "leader", "moves", "piles", "winners"],

  write(session, actions) {
    const width = session.field("layout").length / session.field("slots").length;
    const dinosaurs = Number(session.numbers.dinosaurs);
    const layouts = Array.from({ length: session.players }, (_, seat) => [
      ...session.field("layout").subarray(seat * width, seat * width + dinosaurs),
    ]);
    const leader = session.field("first")[0];
    const moves = [];
    for (const action of actions) {
      if (action !== memorising(session)) moves.push([session.seat, action]);
      session.ply(action);
    }
    return { layouts, leader, moves, ...this.end(session) };
  },

  rounds: (record) => [record],

  *play(session, written) {
    const where = "The record";
    const { players } = session;
    openGame(session, written, where);
    session.open();
    while (session.legal.includes(memorising(session))) session.tell(memorising(session));
    yield null;
    yield* makeMoves(session, written.moves, where, "Move", () => session.legal, (slot) => session.tell(slot));
    checkList(where, "piles", written.piles, Number.isInteger, players);
  },

  after: () => ({}),

  end(session) {
    const piles = numbers(session.field("pile"), session.players);
    return { piles, winners: winners(piles) };
  },
};

function openGame(session, { layouts, leader }, where) {
  const { players } = session;
  const width = session.field("layout").length / session.field("slots").length;
  const values = Array.from({ length: Number(session.numbers.dinosaurs) }, (_, place) => place + 1);
  const sorted = session.rules.memory === "perfect";
  checkList(where, "layouts", layouts, Array.isArray, players);
  layouts.forEach((row, seat) => {
    const given = sorted ? row : [...row].sort((one, other) => one - other);
    if (!isEqual(given, values)) {
      refuse(
        `${where}: expected layout ${seat} to hold each of the values 1 to ${values.length} once${sorted ? ", in order" : ""}, not ${shown(row)}.`,
      );
    }
  });
  if (!isSeatIn(players)(leader))
    refuse(`${where}: expected 'leader' to be a seat from 0 to ${players - 1}, not ${shown(leader)}.`);
  const layout = layouts.flatMap((row) => [...row, ...Array(width - row.length).fill(0)]);
  session.place({ first: [leader], layout });
}

function memorising(session) {
  return session.game.description.actions.length - 1;
}

const TRANSCRIBERS = { nain_jaune: nainJaune, batasaurus };
