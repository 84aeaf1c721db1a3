// Computes advice beside the worker that plays: a message { kind, settings, plies, language } begins, and null stops.

import { adviceSteps } from "./advice.js";
import { load, read } from "./files.js";
import { loadGame } from "./games.js";

const SHOWN = 100; // milliseconds between two messages
const kinds = new Map();
let jobs = 0;

addEventListener("message", async ({ data }) => {
  const job = (jobs += 1);
  if (data === null) return;
  const { settings, plies, language } = data;
  try {
    if (!kinds.has(settings.game)) kinds.set(settings.game, await loadGame(settings.game, read, load));
    let shown = -Infinity;
    for (const message of adviceSteps(kinds.get(settings.game), settings, plies, language)) {
      if (message.done || performance.now() - shown > SHOWN) {
        await new Promise((wake) => setTimeout(wake)); // a message that stops this is heard
        if (job !== jobs) return;
        postMessage(message);
        shown = performance.now();
      }
    }
  } catch (error) {
    postMessage({ type: "failed", reason: String(error.message) });
  }
});
