// Unpacks the browser of @sparticuz/chromium here, as `chromium`, with the libraries that it needs where the system has none.
import { existsSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs22.x"; // then the package unpacks its libraries, too
const { default: chromium } = await import("@sparticuz/chromium");
const path = await chromium.executablePath();
if (path !== join(tmpdir(), "chromium") || !existsSync(path)) throw new Error(`The browser is at ${path}.`);
if (path !== join(process.cwd(), "chromium")) renameSync(path, join(process.cwd(), "chromium"));
