// A trained network as `nainjaune network` writes it: a line of JSON and spaces, then float32 numbers, lowest byte first.

const FORMAT = "nainjaune-network";
const VERSION = 1;
/** The int32 numbers before the weights in a module's memory (`HEADER` in agents/players/wasm/interface.py). */
const HEADER = 16;
const NEWLINE = 10;

/** A network in the memory of a game, for tables of one number of seats; `Game.network` loads one. */
export class Network {
  constructor(game, bytes) {
    const { header, weights } = parse(bytes);
    const { description } = game;
    const seats = description.observation[header.players];
    if (header.game !== description.game || header.layout !== seats?.fingerprint) {
      throw new RangeError(
        `The network ${header.name} is of ${header.game} as another version has it, not of this ${description.game}.`,
      );
    }
    const { sizes } = header;
    if (sizes.length > HEADER - 1 || sizes[0] !== seats.size || sizes.at(-1) !== description.actions.length + 1) {
      throw new RangeError(
        `Expected a network of ${seats.size} inputs and ${description.actions.length + 1} outputs, not ${sizes}.`,
      );
    }
    this.game = game;
    this.header = header;
    this.at = game.allocate(4 * (HEADER + weights.length + 3 * Math.max(...sizes)));
    const { buffer } = game.exports.memory;
    new Int32Array(buffer, this.at, HEADER).set([sizes.length - 1, ...sizes]);
    new Float32Array(buffer, this.at + 4 * HEADER, weights.length).set(weights);
  }
}

/** Returns the header and the weights of a file, which has exactly those that the header says. */
function parse(given) {
  const bytes = ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : new Uint8Array(given);
  const start = bytes.indexOf(NEWLINE) + 1;
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, start)));
  } catch {
    header = null;
  }
  if (header?.format !== FORMAT) throw new RangeError("Expected the file of a network, as `nainjaune network` writes it.");
  if (header.version !== VERSION) throw new RangeError(`Expected a network of version ${VERSION}, not ${header.version}.`);
  const { sizes } = header;
  if (!Array.isArray(sizes) || sizes.length < 2 || !sizes.every((size) => Number.isInteger(size) && size > 0)) {
    throw new RangeError(`Expected a network's sizes to be whole numbers above 0, not ${JSON.stringify(sizes)}.`);
  }
  const count = sizes.slice(1).reduce((sum, outputs, layer) => sum + (sizes[layer] + 1) * outputs, 0);
  if (bytes.length - start !== 4 * count) {
    throw new RangeError(
      `Expected ${4 * count} bytes of weights after the header, not ${bytes.length - start}: the file is damaged.`,
    );
  }
  return { header, weights: new Float32Array(bytes.slice(start).buffer) };
}
