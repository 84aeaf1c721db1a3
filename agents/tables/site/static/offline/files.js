// The files of the site, for a worker.

const root = new URL("..", import.meta.url);

async function get(path) {
  const response = await fetch(new URL(path, root));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** Returns the JSON value of a file. */
export const read = async (path) => (await get(path)).json();

/** Returns the bytes of a file. */
export const load = async (path) => (await get(path)).arrayBuffer();
