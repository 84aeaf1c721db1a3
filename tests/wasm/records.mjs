// node records.mjs MODULE DESCRIPTION < SETTINGS: plays an episode for each line and prints its plies and its record; a line that
// is a record is replayed, and said to be as it was read, or why it is refused
import fs from "node:fs";
import readline from "node:readline";
import { formatRecord, Game, parseRecord } from "../../wasm/index.js";

const [module, file] = process.argv.slice(2);
const game = await Game.load(fs.readFileSync(module), JSON.parse(fs.readFileSync(file, "utf8")));

function play({ settings, agents, seed, state }) {
  const session = game.session(settings);
  let random = BigInt(state);
  for (session.begin(random); !session.done; random += 1n) session.step(session.decide("random", random));
  const { plies } = session;
  const record = formatRecord(session.record({ agents, seed }));
  session.free();
  return { plies, record };
}

function replay(text) {
  try {
    const replayed = game.replay(parseRecord(text));
    let moves = 0;
    for (let number = 1; number <= replayed.rounds; number += 1) {
      for (const move of replayed.round(number)) moves += move !== null;
    }
    replayed.free();
    return { moves, record: formatRecord(replayed.record) };
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  try {
    console.log(JSON.stringify(typeof given === "string" ? replay(given) : play(given)));
  } catch (error) {
    console.log(JSON.stringify(`${error.name}: ${error.message}`));
  }
}
