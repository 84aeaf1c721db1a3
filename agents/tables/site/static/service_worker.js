// Keeps the site in the browser, so that it works without a network. A new version waits until no page of the old one is open.

const { version, paths } = self.SITE;
const FIRST = new URL("./", self.registration.scope).href;
const PREFIX = `nainjaune ${FIRST} `; // another site of this host keeps its own
const CACHE = PREFIX + version;

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(forget().then(() => self.clients.claim())));
self.addEventListener("fetch", (event) => {
  const { method, url, mode } = event.request;
  if (method !== "GET" || !url.startsWith(FIRST)) return;
  event.respondWith(answer(mode === "navigate" ? FIRST : url, event.request));
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll(paths.map((path) => new Request(new URL(path, FIRST), { cache: "no-cache" })));
}

async function forget() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
}

async function answer(url, request) {
  return (await stored(url)) ?? fetch(request);
}

async function stored(url) {
  try {
    return await (await caches.open(CACHE)).match(url);
  } catch {
    return undefined; // the browser refuses its storage
  }
}
