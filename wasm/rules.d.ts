import type { Description, Knob, KnobValue, Rules } from "./index.js";

/** The rules of a preset with some knobs changed. Throws a `RangeError` for an unknown knob and a value not allowed. */
export function rulesOf(description: Description, preset: string, knobs: Partial<Rules>): Rules;
/** Why a knob cannot have a value, as a sentence; null if it can. */
export function refusalOf(knob: Knob, value: unknown): string | null;
/** Rules as the module takes them. */
export function numbersOf(knobs: Knob[], rules: Rules): bigint[];
/** Rules as records have them: without extensions at their default. */
export function writtenRules(description: Description, rules: Rules): Rules;
