// node views.mjs SITE: reads tables and their plies, a JSON line each, from the standard input; prints the views after each ply.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const site = process.argv[2];
const imported = (name) => import(pathToFileURL(path.join(site, "offline", name)));
const { LiveTable } = await imported("live_table.js");
const { loadGame } = await imported("games.js");
const bytes = (name) => fs.readFileSync(path.join(site, name));
const kinds = {};
for (const line of fs.readFileSync(0, "utf8").trim().split("\n")) {
  const { settings, plies, viewers } = JSON.parse(line);
  kinds[settings.game] ??= await loadGame(settings.game, (name) => JSON.parse(bytes(name)), bytes);
  const live = new LiveTable(kinds[settings.game], settings);
  const views = [];
  const look = () => {
    const [seat, language, you] = viewers[live.number];
    views.push(live.view(seat, language, you));
  };
  look();
  for (const action of plies) {
    live.replay([action]);
    look();
  }
  const rules = ["en", "fr"].map((language) => live.rulesText(0, language));
  console.log(JSON.stringify({ views, rules, records: live.over ? live.records() : [] }));
}
