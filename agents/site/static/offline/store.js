// What this browser keeps: tables with their plies, rounds that count for the edge, records, puzzles that were solved, and what was damaged. In IndexedDB.

const NAME = "nainjaune";
const STORES = ["tables", "rounds", "damaged", "records", "puzzles"];

const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Returns the store of this browser; where the browser refuses one, one that lasts as long as the page (`lasts` is false). */
export async function openStore() {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => STORES.forEach((store) => request.result.createObjectStore(store, { keyPath: "id" }));
    return new Store(await answer(request));
  } catch {
    return new MemoryStore();
  }
}

class Store {
  constructor(database) {
    this.database = database;
    this.lasts = true;
  }

  get(store, id) {
    return answer(this.database.transaction(store).objectStore(store).get(id));
  }

  all(store) {
    return answer(this.database.transaction(store).objectStore(store).getAll());
  }

  put(store, value) {
    return answer(this.database.transaction(store, "readwrite").objectStore(store).put(value));
  }

  delete(store, id) {
    return answer(this.database.transaction(store, "readwrite").objectStore(store).delete(id));
  }
}

/** The same for as long as the page is open. */
export class MemoryStore {
  constructor() {
    this.lasts = false;
    this.stores = Object.fromEntries(STORES.map((store) => [store, new Map()]));
  }

  async get(store, id) {
    return structuredClone(this.stores[store].get(id));
  }

  async all(store) {
    return structuredClone([...this.stores[store].values()]);
  }

  async put(store, value) {
    this.stores[store].set(value.id, structuredClone(value));
  }

  async delete(store, id) {
    this.stores[store].delete(id);
  }
}
