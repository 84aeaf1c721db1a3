// The games that the site has: module, rules by knob, texts, and how people see a match of each.

import * as batasaurus from "./games/batasaurus.js";
import * as nainJaune from "./games/nain_jaune.js";
import { Game } from "../wasm/index.js";

const GAMES = { nain_jaune: nainJaune, batasaurus };

/** Returns a game by its name; `read(path)` gives the JSON value of a file, and `load(path)` what `Game.load` takes. */
export async function loadGame(name, read, load) {
  const [description, setup, texts] = await Promise.all(["description", "setup", "texts"].map((part) => read(`games/${name}/${part}.json`)));
  const module = await Game.load(load(`games/${name}/module.wasm`), description);
  return { name, module, setup, texts, ...GAMES[name] };
}
