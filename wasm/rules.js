// House rules: knobs by name, as a module's description lists them, and as the numbers that the module takes.

/** Returns the rules of a preset with some `knobs` changed. Throws a `RangeError` for an unknown knob and a value not allowed. */
export function rulesOf(description, preset, knobs) {
  for (const name of Object.keys(knobs)) {
    if (!description.knobs.some((knob) => knob.name === name)) {
      throw new RangeError(`Unknown knob "${name}". Valid: ${description.knobs.map((knob) => knob.name).join(", ")}.`);
    }
  }
  const entries = description.knobs.map((knob) => {
    const value = Object.hasOwn(knobs, knob.name) ? knobs[knob.name] : knob.default[preset];
    const refusal = refusalOf(knob, value);
    if (refusal) throw new RangeError(refusal);
    return [knob.name, value];
  });
  return Object.fromEntries(entries);
}

/** Returns why a knob cannot have a value, as a sentence; null if it can. */
export function refusalOf(knob, value) {
  const given = typeof value === "string" ? `"${value}"` : String(value);
  if (value === null && knob.optional) return null;
  if (knob.kind === "word") {
    return knob.choices.includes(value) ? null : `The knob "${knob.name}" is one of ${knob.choices.join(", ")}, not ${given}.`;
  }
  if (knob.kind === "flag") return typeof value === "boolean" ? null : `The knob "${knob.name}" is true or false, not ${given}.`;
  if (Number.isInteger(value) && knob.low <= value && value <= knob.high) return null;
  const none = knob.optional ? " or null" : "";
  return `The knob "${knob.name}" is a whole number from ${knob.low} to ${knob.high}${none}, not ${given}.`;
}

/** Returns rules as numbers: a word as its place among the choices, null as one less than the lowest value. */
export function numbersOf(knobs, rules) {
  return knobs.map((knob) => {
    const value = rules[knob.name];
    if (value === null) return BigInt(knob.low - 1);
    return BigInt(knob.kind === "word" ? knob.choices.indexOf(value) : value);
  });
}

/** Returns rules as records have them: without extensions at their default. */
export function writtenRules(description, rules) {
  const written = description.knobs.filter((knob) => !Object.hasOwn(knob, "omitted") || rules[knob.name] !== knob.omitted);
  return Object.fromEntries(written.map(({ name }) => [name, rules[name]]));
}
