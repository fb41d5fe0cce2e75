import { nodeFs } from "./nodeModules.js";

/** The version of this package, sent to servers and clients. */
export function readVersion(): string {
  return JSON.parse(nodeFs.readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

/** The client's name and version, sent to servers. */
export function clientInfo(): { readonly name: string; readonly version: string } {
  return { name: "agent", version: readVersion() };
}
