import type { Port } from "./client.js";

/** Answers the messages of a `GameWorker` at the other end of `port`; in a Worker the module does so by itself. */
export function serve(port: Port): void;
