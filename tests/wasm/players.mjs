// node players.mjs MODULE DESCRIPTION NETWORK: advice, a network and a worker; prints what Python checks, a JSON line each
import fs from "node:fs";
import { GameWorker } from "../../wasm/client.js";
import { Game } from "../../wasm/index.js";
import { serve } from "../../wasm/worker.js";

const [module, file, weights] = process.argv.slice(2);
const description = JSON.parse(fs.readFileSync(file, "utf8"));
const bytes = fs.readFileSync(weights);
const game = await Game.load(fs.readFileSync(module), description);
const network = game.network(bytes);
const settings = { preset: network.header.preset, players: network.header.players };
const print = (value) => console.log(JSON.stringify(value));

const session = game.session(settings);
session.begin(11n);
const advice = session.advise({ state: 3n });
advice.add(100);
advice.add(28);
const { values, halfWidth } = advice;
print({ legal: session.legal, values, halfWidth });

const refused = (ask) => {
  try {
    ask();
    return "not refused";
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
const cut = bytes.subarray(0, bytes.length - 4);
const line = bytes.subarray(0, bytes.indexOf(10) + 1).toString();
const headed = (header) => Buffer.concat([Buffer.from(`${header}\n`), bytes.subarray(line.length)]);
print([
  refused(() => session.decide("nobody")),
  refused(() => session.advise({ player: "nobody" })),
  refused(() => advice.add(0)),
  refused(() => advice.add(1, [-1])),
  refused(() => game.session().decide("random")),
  refused(() => game.session({ ...settings, players: settings.players - 1 }).decide(network)),
  refused(() => game.network(cut)),
  refused(() => game.network(bytes.subarray(1))),
  refused(() => game.network(headed(line.trim().replace('"version": 1', '"version": 2')))),
  refused(() => game.network(headed(line.trim().replace(network.header.layout, "0")))),
  refused(() => game.session({ knobs: { colour: 1 } })),
  refused(() => game.session({ knobs: { stake: 0 } })),
  refused(() => game.session({ knobs: { stake: "1" } })),
  refused(() => game.session({ knobs: { decline: "often" } })),
  refused(() => game.session({ knobs: { end_on_default: 1 } })),
  refused(() => game.session({ knobs: { starting_stack: 14 } })),
  refused(() => game.session({ knobs: { starting_stack: null, max_rounds: null } })),
  refused(() => game.session({ preset: "skip", players: 8, knobs: { hand: 7 } })),
]);
session.step(values[0].action);
print(refused(() => advice.add(1)));

const plies = [];
while (!session.done) {
  const action = session.decide(network);
  plies.push([session.seat, action, session.evaluate(network).action]);
  session.step(action);
}
print({ plies, equal: plies.every(([, one, other]) => one === other) });

const free = game.free;
for (let count = 0; count < 50; count += 1) game.session(settings).free();
const { port1, port2 } = new MessageChannel();
serve(port1);
const worker = await GameWorker.connect(port2, { module: fs.readFileSync(module), description, networks: { strong: bytes } });
const remote = await worker.session(settings);
await remote.begin(11n);
const { table: seen, ...state } = await remote.state(0);
const steps = [];
await worker.advise(await remote.snapshot(), { state: 3n, error: 1 }, (sharper) => steps.push(sharper));
const given = new AbortController();
let shown = 0;
const stopped = worker.advise(await remote.snapshot(), { error: 1e-9, most: 1e9, signal: given.signal }, () => {
  shown += 1;
  if (shown === 2) given.abort();
});
await stopped;
await remote.step(await remote.decide("strong"));
const error = await remote.step(-1).catch(({ name, message }) => `${name}: ${message}`);
const after = await remote.state();
await remote.free();
print({
  state,
  hidden: seen.hand.slice(1, 4).map(String),
  steps: steps.length,
  last: steps.at(-1),
  shown,
  error,
  plies: after.plies,
  leaked: game.free - free,
});
port1.close();
port2.close();
