// Plays the tables of the page: the only part of the site that knows all cards.

import { Host } from "./host.js";
import { openStore } from "./store.js";

const root = new URL("..", import.meta.url);

async function get(path) {
  const response = await fetch(new URL(path, root));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

const host = openStore().then((store) => new Host({
  post: (message) => postMessage(message),
  read: async (path) => (await get(path)).json(),
  load: async (path) => (await get(path)).arrayBuffer(),
  wait: (seconds) => new Promise((wake) => setTimeout(wake, 1000 * seconds)),
  store,
}));

addEventListener("message", async ({ data }) => (await host).receive(data));
