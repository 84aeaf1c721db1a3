// node play.mjs MODULE DESCRIPTION: plays random matches through wasm/index.js and prints what Python compares, a JSON line each
import fs from "node:fs";
import { Game } from "../../wasm/index.js";

const [module, file] = process.argv.slice(2);
const description = JSON.parse(fs.readFileSync(file, "utf8"));
const game = await Game.load(fs.readFileSync(module), description);
const numbers = (_, value) => (typeof value === "bigint" ? value.toString() : value);
let random = 1;
for (const [preset, seats] of Object.entries(description.presets)) {
  for (const players of Object.keys(seats).map(Number)) {
    const session = game.session({ preset, players });
    session.begin(BigInt(players) << 60n);
    const observations = [];
    while (!session.done) {
      observations.push([...session.observation(session.seat)]);
      random = (random * 48271) % 2147483647;
      session.step(session.legal[random % session.legal.length]);
    }
    const { plies, table, reward } = session;
    session.undo(3);
    console.log(JSON.stringify({ preset, players, plies, table, reward, observations, third: session.plies }, numbers));
  }
}
const refusals = [
  () => game.session({ preset: "none" }),
  () => game.session({ players: 99 }),
  () => game.session({ players: "2" }),
  () => game.session({ options: { speed: 1 } }),
  () => game.session({ options: { whole_match: true } }),
  () => game.session().begin(1n, [1]),
  () => { const s = game.session(); s.free(); s.begin(1n); },
  () => game.session().step(0),
  () => { const s = game.session(); s.begin(1n); s.step(62); },
  () => { const s = game.session(); s.begin(1n); s.step("0"); },
  () => { const s = game.session(); s.begin(1n); s.view(8); },
  () => { const s = game.session(); s.begin(1n); s.undo(1000); },
  () => { const s = game.session(); s.begin(1n); s.resample(1n, 0); },
];
for (const refused of refusals) {
  try {
    refused();
    console.log(JSON.stringify("not refused"));
  } catch (error) {
    console.log(JSON.stringify(`${error.name}: ${error.message}`));
  }
}
try {
  await Game.load(fs.readFileSync(module), { ...description, version: "0.0.0" });
} catch (error) {
  console.log(JSON.stringify(error.message));
}
