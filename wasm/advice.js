// Action values by playouts: the sums are the module's, in the session.

const SUMS = ["count", "sum", "squares", "difference", "difference_squares"];
const NORMAL_95 = 1.959963984540054;
/** An action is dropped when it is more than this many standard errors behind the best one. */
const HOPELESS = 4;

/** The values of the actions of one decision, which sharpen with every `add`; `Session.advise` makes one. */
export class Advice {
  #access;
  #agent;
  #state;

  /** `access` reads and calls the session, and knows whether it is still at this decision. */
  constructor(access, agent, state) {
    this.#access = access;
    this.#agent = agent;
    this.#state = state;
    this.actions = access.legal();
    for (const name of SUMS) access.view(name).fill(name === "count" ? 0n : 0);
  }

  add(count, actions = this.actions) {
    if (!this.#access.isCurrent())
      throw new RangeError("Since this advice was begun, the table has changed or other advice was.");
    const tried = actions.reduce((bits, action) => bits | (1n << BigInt(action)), 0n);
    const expected = "legal actions, a number of determinizations above 0, and rules under which players need not remember";
    const given = `actions ${actions.join(", ") || "none"}, ${count} determinizations`;
    this.#access.call("playouts", expected, given, this.#agent, BigInt.asIntN(64, this.#state), tried, count);
    this.#state = this.#access.view("rng")[0];
  }

  get values() {
    const [counts, sums, squares, differences, differenceSquares] = SUMS.map((name) => this.#access.view(name));
    const tried = this.actions.filter((action) => counts[action] > 0n);
    const mean = (action) => sums[action] / Number(counts[action]);
    const best = tried.reduce((most, action) => (mean(action) > mean(most) ? action : most), tried[0]);
    const values = tried.map((action) => {
      const count = Number(counts[action]);
      const pair = best * counts.length + action;
      const shared = Math.min(count, Number(counts[best]));
      return {
        action,
        count,
        mean: mean(action),
        error: standardError(sums[action], squares[action], count),
        behind: differences[pair] / shared,
        behindError: standardError(differences[pair], differenceSquares[pair], shared),
      };
    });
    return values.sort((a, b) => (b.action === best) - (a.action === best) || b.mean - a.mean);
  }

  get halfWidth() {
    const values = this.values;
    if (!values.length) return Infinity;
    const errors = promising(values).map(({ behindError }) => behindError);
    return NORMAL_95 * Math.max(values[0].error, ...errors);
  }

  *sharpen({ error = 0.2, most = 50000, step = 128 } = {}) {
    let actions = this.actions;
    for (let count = 0; count < most && !(this.halfWidth <= error); count += step) {
      this.add(Math.min(step, most - count), actions);
      const values = this.values;
      yield values;
      actions = promising(values).map(({ action }) => action);
    }
  }
}

function promising(values) {
  return values.filter(({ behind, behindError }) => !(behind > HOPELESS * behindError));
}

function standardError(sum, squares, count) {
  return count < 2 ? NaN : Math.sqrt(Math.max(0, squares - sum * (sum / count)) / (count * (count - 1)));
}
