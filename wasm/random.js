// NumPy's `default_rng(seed)`: which of several like cards a record shows is drawn by it (O'Neill, "PCG", 2014; `SeedSequence`).

const WORD = (1n << 64n) - 1n;
const STATE = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const POOL = 4;

export class NumpyRng {
  #state;
  #increment;
  /** The second half of a 64-bit output, which the next draw takes. */
  #kept = null;

  /** `seed` is an unsigned 64-bit number. */
  constructor(seed) {
    const [high, low, incrementHigh, incrementLow] = seedWords(seed);
    this.#increment = ((((incrementHigh << 64n) | incrementLow) << 1n) | 1n) & STATE;
    this.#state = this.#increment;
    this.#state = (this.#state + ((high << 64n) | low)) & STATE;
    this.#advance();
  }

  /** Returns a uniformly random whole number below `bound`, at most 2**32 (Lemire, 2019). */
  below(bound) {
    if (bound === 1) return 0;
    const threshold = 2 ** 32 % bound;
    let product;
    do product = BigInt(this.#next()) * BigInt(bound);
    while (Number(product & 0xffffffffn) < threshold);
    return Number(product >> 32n);
  }

  #advance() {
    this.#state = (this.#state * MULTIPLIER + this.#increment) & STATE;
  }

  #next() {
    if (this.#kept !== null) {
      const kept = this.#kept;
      this.#kept = null;
      return kept;
    }
    this.#advance();
    const mixed = (this.#state >> 64n) ^ (this.#state & WORD);
    const turn = this.#state >> 122n;
    const output = ((mixed >> turn) | (mixed << (64n - turn))) & WORD;
    this.#kept = Number(output >> 32n);
    return Number(output & 0xffffffffn);
  }
}

/** Returns the four 64-bit words that `SeedSequence(seed)` generates. */
function seedWords(seed) {
  const entropy = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
  let multiplier = 0x43b0d7e5;
  const hash = (value) => {
    const hashed = value ^ multiplier;
    multiplier = Math.imul(multiplier, 0x931e8875);
    const product = Math.imul(hashed, multiplier);
    return product ^ (product >>> 16);
  };
  const mix = (x, y) => {
    const mixed = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y);
    return (mixed | 0) ^ ((mixed | 0) >>> 16);
  };
  const pool = Array.from({ length: POOL }, (_, i) => hash(entropy[i] ?? 0));
  for (let from = 0; from < POOL; from += 1) {
    for (let to = 0; to < POOL; to += 1) {
      if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
    }
  }
  multiplier = 0x8b51f9dd;
  const words = Array.from({ length: 2 * POOL }, (_, i) => {
    const hashed = pool[i % POOL] ^ multiplier;
    multiplier = Math.imul(multiplier, 0x58f38ded);
    const product = Math.imul(hashed, multiplier);
    return BigInt((product ^ (product >>> 16)) >>> 0);
  });
  return Array.from({ length: POOL }, (_, i) => words[2 * i] | (words[2 * i + 1] << 32n));
}
