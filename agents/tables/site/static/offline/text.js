// Sentences from the games' own texts, as `nainjaune_env.core.texts` makes them.

const THOUSANDS = { en: ",", fr: "\u202f" };
const FIELD = /\{(\w+)(?::([^}]*))?\}/g;

/** Returns a text with what stands in braces filled in; a seat may have two forms there, see `Called`. */
export function format(text, values) {
  return text.replace(FIELD, (_, name, forms) => {
    const value = values[name];
    return value instanceof Called ? value.inForm(forms) : String(value);
  });
}

/** Seats as a sentence calls them. `{seat:pays|pay}` has the forms for others and for "you"; `*` in a form stands for the seats. */
export class Called {
  constructor(text, isYou = false) {
    this.text = text;
    this.isYou = isYou;
  }

  inForm(forms) {
    if (!forms) return this.text;
    const [others, you] = forms.split("|");
    return (this.isYou ? you : others).replaceAll("*", this.text);
  }

  toString() {
    return this.text;
  }
}

/** How sentences call the seats of a table: by the players' names; the reader, if they sit there, is "you". */
export class SeatNames {
  constructor(words, names, you) {
    this.words = words;
    this.you = you;
    const isShared = (name) => names.indexOf(name) !== names.lastIndexOf(name);
    this.names = names.map((name, seat) => (isShared(name) ? format(words.seat_named, { seat, name }) : name));
    this.labels = this.names.map((name, seat) => (seat === you ? words.you : name)); // where a name stands alone
    this.called = this.labels.map((label, seat) => new Called(label, seat === you));
  }

  /** Returns several seats in words, the reader first. */
  listed(seats) {
    const ordered = [...seats].sort((one, other) => (one !== this.you) - (other !== this.you));
    return new Called(listed(this.words, ordered.map((seat) => this.called[seat].text)), ordered.includes(this.you));
  }

  /** Returns a value for each seat, on one line. */
  bySeat(values) {
    return this.labels.map((label, seat) => `${label} ${minus(values[seat])}`).join(" · ");
  }

  /** Returns a text with a capital, unless a player's name stands first. */
  sentence(text) {
    return this.names.some((name) => text.startsWith(`${name} `)) ? text : text[0].toUpperCase() + text.slice(1);
  }
}

/** Returns a number with its noun: "1 card", "12 cards". */
export function counted(words, number, noun) {
  const grouped = String(number).replace(/\B(?=(\d{3})+$)/g, THOUSANDS[words.language]);
  return `${grouped} ${noun[words.singular.includes(Math.abs(number)) ? 0 : 1]}`;
}

/** Returns a list in words: "a", "a and b", "a, b and c". */
export function listed(words, texts) {
  const others = texts.slice(0, -1);
  return others.length ? `${others.join(", ")}${words.joiner}${texts.at(-1)}` : texts.at(-1);
}

/** Returns a value as text, with a true minus sign. */
export const minus = (value) => String(value).replaceAll("-", "−");
