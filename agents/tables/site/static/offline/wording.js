// Amounts with their intervals, in words.

import { minus } from "./text.js";

const NORMAL_95 = 1.959963984540054;

/** Returns a function from a mean and its standard error to a text such as "+1.2 ± 0.3". */
export function intervals(language) {
  const places = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  const signed = new Intl.NumberFormat(language, { ...places, signDisplay: "exceptZero" });
  const plain = new Intl.NumberFormat(language, places);
  return (mean, error) => `${minus(signed.format(mean))} ± ${plain.format(NORMAL_95 * error)}`;
}
