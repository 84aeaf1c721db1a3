// What `stored.py` runs in a page: it stores what it is given in place of all that is there, and says what is stored.
({
  async put(given) {
    const huge = "x".repeat(3e6);
    const specials = { nan: NaN, infinity: Infinity, date: new Date(0), map: new Map([[1, 2]]), bigint: 10n, huge, bytes: new Uint8Array(9) };
    const { items, entries, database } = JSON.parse(given, (_, value) => (value && value.$ ? specials[value.$] : value));
    const answered = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: resolve, onerror: reject }));
    localStorage.clear();
    for (const [name, text] of Object.entries(items)) localStorage.setItem(`nainjaune-${name}`, text);
    await answered(indexedDB.deleteDatabase("nainjaune"));
    const request = indexedDB.open("nainjaune", database.version);
    request.onupgradeneeded = () => {
      for (const [name, options] of Object.entries(database.stores)) request.result.createObjectStore(name, options);
    };
    await answered(request);
    for (const [store, entry] of entries) {
      const transaction = request.result.transaction(store, "readwrite");
      transaction.objectStore(store).put(entry);
      await new Promise((resolve, reject) => Object.assign(transaction, { oncomplete: resolve, onabort: reject }));
    }
    request.result.close();
  },

  async get() {
    const names = Object.keys(localStorage);
    const items = Object.fromEntries(names.map((name) => [name.replace("nainjaune-", ""), localStorage.getItem(name)]));
    const answered = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: resolve, onerror: reject }));
    const request = indexedDB.open("nainjaune");
    await answered(request);
    const entries = {};
    for (const store of request.result.objectStoreNames) {
      const count = request.result.transaction(store).objectStore(store).count();
      await answered(count);
      entries[store] = count.result;
    }
    request.result.close();
    return { items, entries };
  },
})
