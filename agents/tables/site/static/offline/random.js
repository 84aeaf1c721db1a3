// SplitMix64, the generator of a table, in 64-bit whole numbers (`nainjaune_env.core.prng`).

const MASK_64 = (1n << 64n) - 1n;
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
