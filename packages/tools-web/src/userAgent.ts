import { readFileSync } from "node:fs";

/** The user agent of requests. */
export function userAgent(): string {
  return `agent-tools-web${version()} (+https://github.com/agent/agent)`;
}

function version(): string {
  try {
    const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    return `/${(manifest as { version: string }).version}`;
  } catch {
    // A bundle has no manifest next to it.
    return "";
  }
}
