// The generators of the Python package, in 64-bit whole numbers: SplitMix64, which deals, and NumPy's default one.

const MASK_32 = 0xffffffffn;
const MASK_64 = (1n << 64n) - 1n;
const MASK_128 = (1n << 128n) - 1n;
const GAMMA = 0x9e3779b97f4a7c15n;

/** Returns SplitMix64's output for a state (`core.prng.mix`). */
export function mix(word) {
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
  return word ^ (word >> 31n);
}

/** Returns the generator state of a table with `seed`, as `core.prng.streams(seed, 1)` does. */
export const stateOfSeed = (seed) => mix((mix(mix(seed)) + GAMMA) & MASK_64);

/** Returns the generator state number `number` of a seed and a purpose, for draws that no deal depends on. */
export const stateOf = (seed, purpose, number) => mix((mix((mix(seed) + purpose * GAMMA) & MASK_64) + BigInt(number) * GAMMA) & MASK_64);

/** NumPy's `default_rng(seed)` for a seed of 64 bits, as far as `integers(n)` goes: PCG64 (O'Neill 2014), seeded by a SeedSequence. */
export class NumpyGenerator {
  #state = 0n;
  #increment;
  #kept = null; // the upper half of the last word, which NumPy uses next

  constructor(seed) {
    const [high, low, otherHigh, otherLow] = wordsOf(seed);
    this.#increment = (((otherHigh << 64n) | otherLow) << 1n | 1n) & MASK_128;
    this.#advance();
    this.#state = (this.#state + ((high << 64n) | low)) & MASK_128;
    this.#advance();
  }

  /** Returns a uniform whole number from 0 to `bound` - 1, by Lemire's method (2019); `bound` is below 2**32. */
  integers(bound) {
    if (bound === 1) return 0;
    const size = BigInt(bound);
    const least = ((1n << 32n) - size) % size;
    let product;
    do product = this.#next32() * size;
    while ((product & MASK_32) < least);
    return Number(product >> 32n);
  }

  #advance() {
    this.#state = (this.#state * 0x2360ed051fc65da44385df649fccf645n + this.#increment) & MASK_128;
  }

  #next32() {
    if (this.#kept !== null) {
      const kept = this.#kept;
      this.#kept = null;
      return kept;
    }
    this.#advance();
    const word = (this.#state >> 64n) ^ (this.#state & MASK_64);
    const turned = this.#state >> 122n;
    const next = ((word >> turned) | (word << (64n - turned))) & MASK_64;
    this.#kept = next >> 32n;
    return next & MASK_32;
  }
}

/** Returns the first four words of NumPy's `SeedSequence(seed)`, as `generate_state(4, numpy.uint64)` gives them. */
function wordsOf(seed) {
  const multiply = (one, other) => Math.imul(one, other) >>> 0;
  let constant = 0x43b0d7e5;
  const hashed = (value, factor) => {
    value = (value ^ constant) >>> 0;
    constant = multiply(constant, factor);
    value = multiply(value, constant);
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mixed = (one, other) => {
    const value = (multiply(0xca01f9dd, one) - multiply(0x4973f715, other)) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const pool = [Number(seed & MASK_32), Number(seed >> 32n), 0, 0].map((value) => hashed(value, 0x931e8875));
  for (let from = 0; from < 4; from += 1) {
    for (let to = 0; to < 4; to += 1) {
      if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from], 0x931e8875));
    }
  }
  constant = 0x8b51f9dd;
  const halves = Array.from({ length: 8 }, (_, place) => BigInt(hashed(pool[place % 4], 0x58f38ded)));
  return Array.from({ length: 4 }, (_, place) => halves[2 * place] | (halves[2 * place + 1] << 32n));
}
