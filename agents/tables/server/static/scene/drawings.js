// The games that the page draws, by name.

import { Drawing as Batasaurus } from "./games/batasaurus.js";
import { Drawing as NainJaune } from "./games/nain_jaune.js";

export const DRAWINGS = { batasaurus: Batasaurus, nain_jaune: NainJaune };
