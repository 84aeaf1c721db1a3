// Files of the page that are loaded while it is shown: the server may be away for a moment.

const RETRY = 1000; // milliseconds

/** Returns the answer with a file, as soon as there is one; null where `signal` comes first. */
export async function fetchUntilThere(address, signal) {
  while (!signal.aborted) {
    try {
      const answer = await fetch(address, { signal });
      if (answer.ok) return answer;
    } catch (error) {
      if (!(error instanceof TypeError) && error.name !== "AbortError") throw error; // a TypeError: the network
    }
    await new Promise((wake) => setTimeout(wake, RETRY));
  }
  return null;
}
