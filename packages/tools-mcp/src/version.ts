import { nodeFs } from "./nodeModules.js";

/** The version of this package, which servers and clients are told. */
export function readVersion(): string {
  return JSON.parse(nodeFs.readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

/** The client's name and version, as servers are told. */
export function clientInfo(): { readonly name: string; readonly version: string } {
  return { name: "agent", version: readVersion() };
}
