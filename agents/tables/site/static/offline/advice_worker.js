// Computes advice and reviews beside the worker that plays: a message { settings, plies, language, reviewed } begins, and null stops.

import { adviceSteps } from "./advice.js";
import { load, read } from "./files.js";
import { loadGame } from "./games.js";
import { reviewSteps } from "./review.js";

const SHOWN = 100; // milliseconds between two messages
const kinds = new Map();
let jobs = 0;

addEventListener("message", async ({ data }) => {
  const job = (jobs += 1);
  if (data === null) return;
  const { settings, plies, language, reviewed } = data; // reviewed: a seat, or null for advice on the position
  try {
    if (!kinds.has(settings.game)) kinds.set(settings.game, await loadGame(settings.game, read, load));
    let shown = -Infinity;
    const kind = kinds.get(settings.game);
    const steps = reviewed === null ? adviceSteps(kind, settings, plies, language) : reviewSteps(kind, settings, plies, reviewed, language);
    for (const message of steps) {
      if (message.done === true || message.type === "review" || performance.now() - shown > SHOWN) {
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
