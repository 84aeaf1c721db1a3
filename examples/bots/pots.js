#!/usr/bin/env node
// A bot in JavaScript, without packages: probabilities by the names of moves. Pot cards are three times as likely as plain ones.
const lines = require("readline").createInterface({ input: process.stdin });

// "5" is a plain card, "Td" a pot card, "Td~" the same played silently, "-" a pass.
const weight = (move) => (move === "-" ? 0.1 : move.length === 2 ? 3 : 1);

function probabilities({ moves }) {
  const weights = moves.map(weight);
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / sum);
}

function answer({ type, id, decisions }) {
  switch (type) {
    case "hello":
      return { type: "ready", protocol: 1, id, name: "pots in JavaScript", wants: ["moves"], batch: 4096,
               distribution: true, deterministic: true };
    case "turn":
      return { type: "probabilities", id, probabilities: decisions.map(probabilities) };
    case "quit":
      process.exit(0);
  }
}

lines.on("line", (line) => {
  const message = answer(JSON.parse(line));
  if (message) process.stdout.write(JSON.stringify(message) + "\n");
});
