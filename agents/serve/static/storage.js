// What this browser keeps for the page. Where it keeps nothing, the page keeps it as long as it is open.

/** Under which the reader's name is kept. */
export const NAME = "nainjaune-name";

const here = new Map();

export const storage = {
  /** Whether the browser has kept all that it was given. */
  works: true,

  get(name) {
    try {
      return localStorage.getItem(name) ?? here.get(name) ?? null;
    } catch {
      this.works = false; // storage is switched off
      return here.get(name) ?? null;
    }
  },

  set(name, value) {
    here.set(name, value);
    try {
      localStorage.setItem(name, value);
    } catch {
      this.works = false; // switched off, or full
    }
  },
};
