// node host.mjs SITE: drives the tables of a browser by messages, and prints what came of it as JSON.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const site = process.argv[2];
const imported = (name) => import(pathToFileURL(path.join(site, "offline", name)));
const { Host } = await imported("host.js");
const { adviceSteps } = await imported("advice.js");
const { reviewSteps } = await imported("review.js");
const { Database } = await imported("../storage.js");
const { studentQuantile, summary } = await imported("edge.js");
const bytes = async (name) => fs.readFileSync(path.join(site, name));
const result = { quantiles: [9, 19, 99].map(studentQuantile), summary: summary([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), few: summary([1, 2]) };

class Page {
  constructor(store, day = "2026-01-02") {
    this.sent = [];
    const wait = () => new Promise((wake) => setTimeout(wake));
    const read = async (name) => JSON.parse(await bytes(name));
    this.host = new Host({ post: (message) => this.sent.push(structuredClone(message)), read, load: bytes, store, wait, adviser: (heard) => ({ start: (job) => this.study(job, heard), stop() {} }), now: () => new Date(`${day}T23:59:00Z`) });
  }

  /** Computes at once what another worker does in a browser. */
  study({ settings, plies, language, reviewed }, heard) {
    const kind = this.host.kinds.get(settings.game);
    const steps = reviewed === null ? adviceSteps(kind, settings, plies, language) : reviewSteps(kind, settings, plies, reviewed, language);
    for (const message of steps) heard(message);
  }

  async ask(type, values = {}) {
    this.sent = [];
    await this.host.receive({ type, ...values });
    return this.sent;
  }

  hello(token, language = "en") {
    return this.ask("hello", { token, language, greeting: 1 });
  }

  last(type) {
    return this.sent.findLast((message) => message.type === type);
  }

  /** Waits for the person's turn or the end of the round; returns the view. */
  async settled() {
    for (;;) {
      const view = this.last("view");
      if (view && (view.round_over || view.moves.length)) {
        await this.host.last;
        return this.last("view");
      }
      await new Promise((wake) => setTimeout(wake));
    }
  }

  /** Plays the first move always, or that of another `place`, `plies` times at most; returns the last view. */
  async play(plies = Infinity, place = 0) {
    let view = await this.settled();
    for (; plies > 0 && !view.over; plies -= 1) {
      if (view.round_over) await this.ask("deal", { number: view.number });
      else await this.ask("play", { number: view.number, action: view.moves.at(place)[0] });
      view = await this.settled();
    }
    return view;
  }
}

const table = (changes = {}) => ({
  game: "nain_jaune", preset: "djeco", players: 4, knobs: {}, rounds: 12, seed: "11", pace: 0, every_ply: null, advice: null,
  seats: [{ person: "Zoé" }, { agent: "closer" }, { agent: "zoo:strong" }, { agent: "random" }], ...changes,
});
const names = (messages) => messages.map(({ type }) => type);

const store = new Database();
const page = new Page(store);
await page.hello("-");
result.home = names(page.sent);
await page.ask("catalogue");
result.agents = page.last("catalogue").games.map(({ agents }) => agents);
await page.ask("new", { table: table() });
const [{ token, seat }] = page.last("made").links;
result.seat = seat;
await page.hello(token);
const middle = await page.play(9);
const reloaded = new Page(store);
await reloaded.hello(token, "fr");
result.resumed = (await reloaded.settled()).number === middle.number;
result.french = reloaded.last("view").begun;
const over = await reloaded.play();
result.over = over;
result.round = reloaded.last("round");
await reloaded.ask("record");
result.record = reloaded.last("record").text;
// its last round as a replay
await reloaded.ask("replay", { record: result.record.trim().split("\n").at(-1) });
await reloaded.hello(reloaded.last("opened").token, "fr");
const { data } = reloaded.last("replay");
const picture = data.views[0].pictures.at(-1);
result.replay = { rounds: data.rounds, scene: Object.fromEntries(data.fields.map((field, k) => [field, data.parts[picture[k]]])), text: data.texts[0], decisions: data.decisions };
await reloaded.ask("replay", { record: result.record.trim().split("\n")[0].replace('"winner":', '"winner":9') });
result.wrong_record = reloaded.last("refused").text;
await reloaded.hello("-", "en");
result.edges = reloaded.last("edges").edges;

// the same moves give the same match, and one that is taken back goes on
await page.ask("new", { table: table({ rounds: 2 }) });
await page.hello(page.last("made").links[0].token);
const before = await page.settled();
const after = await page.play(1);
await page.ask("undo", { number: after.number });
result.undone = (await page.settled()).number === before.number;
const again = await page.play();
result.helped = page.last("round").counts;
await page.ask("review", { seat: 0 });
result.review = page.last("review");
const [costliest] = result.review.decisions;
await page.ask("position", { number: costliest.number });
result.position = page.last("position");
await page.ask("advise", { number: costliest.number });
result.advice = page.last("advice");
await page.ask("play_on", { number: 0, seat: 0 });
await page.hello(page.last("opened").token);
result.same_cards = JSON.stringify((await page.settled()).scene.hands) === JSON.stringify(before.scene.hands);

// advice counts, though the page is loaded again before the next ply
await page.ask("new", { table: table({ rounds: 1 }) });
const advised = page.last("made").links[0].token;
await page.hello(advised);
await page.ask("advise", { number: (await page.settled()).number });
await page.hello(advised, "fr");
await page.play();
result.advised = page.last("round").counts;

// another tab plays on at the same table
await page.ask("new", { table: table({ rounds: 1 }) });
const other = new Page(store);
const shared = page.last("made").links[0].token;
for (const tab of [page, other]) await tab.hello(shared);
await page.settled();
const old = await other.settled();
const moved = await page.play(2);
await other.ask("play", { number: old.number, action: old.moves[0][0] });
result.tabs = { refused: other.last("refused").text, follows: (await other.settled()).number === moved.number, kept: (await store.get("tables", shared)).plies.length === moved.number };

// the deal of the day
const days = [];
for (const [kept, day] of [[new Database(), "2026-01-02"], [new Database(), "2026-01-02"], [new Database(), "2026-01-03"]]) {
  const reader = new Page(kept, day);
  await reader.hello("day");
  const begun = await reader.settled();
  await reader.play();
  days.push({ begun: begun.scene.hands, round: reader.last("round"), link: reader.last("view").link });
}
result.days = days;

// rounds under other rules, and a deal that is known, change no edge
const kept = new Database();
const reader = new Page(kept);
await reader.hello("day");
await reader.play();
const { entries: rounds } = await kept.all("rounds");
await reader.ask("delete", { table: "day-2026-01-02" });
await reader.hello("day");
await reader.play(Infinity, -1);
result.again = { first: rounds, then: (await kept.all("rounds")).entries, yours: reader.last("round").yours };
await reader.ask("new", { table: table({ rounds: 1, knobs: { stake: 2 }, seats: [{ person: "Zoé" }, ...Array(3).fill({ agent: "closer" })] }) });
await reader.hello(reader.last("made").links[0].token);
await reader.play();
await reader.hello("-");
result.keys = reader.last("edges").edges.map(({ key, rounds: number }) => [key, number]);

// the guided round
await page.hello("learn");
await page.settled();
const { lines } = page.last("guide");
result.learner = page.last("view").names[0];
await page.play();
result.lesson = [lines, page.last("guide").lines];

// puzzles
const answers = [];
await page.ask("hello", { token: "puzzles", language: "en", greeting: 1, name: "Zoé" });
answers.push(page.last("puzzle"));
result.at_puzzle = page.last("view").names;
const [best] = (await page.host.read("offline/puzzles.json"))[0].values[0];
const { moves } = page.last("view");
for (const action of [moves.find(([each]) => each !== best)[0], best]) {
  await page.ask("play", { number: 0, action });
  answers.push(page.last("puzzle"));
}
await page.hello("puzzles");
answers.push(page.last("puzzle"));
result.puzzles = answers;

// what is refused, and a match that is damaged
await page.hello("day");
const refusals = [];
for (const [type, values] of [
  ["new", { table: table({ preset: "none" }) }], ["new", { table: table({ seats: [{ person: "a" }, { person: "b" }, { agent: "closer" }, { agent: "closer" }] }) }],
  ["new", { table: table({ knobs: { stake: 0 } }) }], ["new", { table: table({ knobs: { starting_stack: null, max_rounds: null }, rounds: null }) }],
  ["new", { table: table({ seed: "-1" }) }], ["play", { number: 10000, action: 0 }], ["film", {}],
]) {
  await page.ask(type, values);
  refusals.push(page.last("refused").text);
}
result.refusals = refusals;
const entry = await store.get("tables", token);
await store.put("tables", { ...entry, plies: [23, ...entry.plies] });
await page.hello("-");
await page.hello(token);
const [{ problems, ids }] = page.last("stored").unreadable;
result.damaged = { text: page.last("refused").text, problems, isNamed: ids[0] === token, kept: (await store.get("tables", token)).plies.length - entry.plies.length };
await page.ask("forget", { store: "tables", ids });
result.forgotten = await store.has("tables", token);
console.log(JSON.stringify(result));
