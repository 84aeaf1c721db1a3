// node event_texts.mjs < CASES: prints what the site's texts of events say in the cases of told_cases.json, as JSON.
import fs from "node:fs";
import { EventTexts } from "../../../agents/tables/site/static/offline/event_texts.js";
import { SeatNames } from "../../../agents/tables/site/static/offline/text.js";

const EMPTY = { seat: -1, other: -1, card: 0, pile: 0, paid: 0, due: 0, cards: 0 };
const given = JSON.parse(fs.readFileSync(0, "utf8"));
const said = given.cases.map(({ language, names, you, listener, plies }) => {
  const words = given.words[language];
  const spellings = { mark: (value) => `#${value}` };
  const texts = new EventTexts({ kinds: given.kinds, told: given.told[language], words, seats: new SeatNames(words, names, you), spellings, listener });
  return { heard: plies.map((rows) => texts.tell(rows.map((row) => ({ ...EMPTY, ...row })))), settlement: texts.settlement };
});
console.log(JSON.stringify(said));
