import type { McpServer } from "@agentclientprotocol/sdk";
import type { EditorServer } from "./host.js";

/** The editor's servers in the form our pack takes. Names are made such that tools can be named after them. */
export function toServers(servers: readonly McpServer[]): Record<string, EditorServer> {
  const found: Record<string, EditorServer> = {};
  for (const server of servers) {
    const name = freeName(server.name, found);
    if ("command" in server) {
      const { command, args, env } = server;
      found[name] = { command, args, env: toRecord(env) };
    } else if (server.type === "http") {
      found[name] = { url: server.url, headers: toRecord(server.headers) };
    }
  }
  return found;
}

/** Two names that differ only in what a tool's name cannot hold still mean two servers. */
function freeName(given: string, taken: Readonly<Record<string, unknown>>): string {
  const name =
    given
      .replace(/[^A-Za-z0-9-]+/g, "-")
      .slice(0, 32)
      .replace(/^-+|-+$/g, "") || "server";
  for (let n = 1; ; n++) {
    const tried = n === 1 ? name : `${name.slice(0, 28)}-${n}`;
    if (!Object.hasOwn(taken, tried)) return tried;
  }
}

function toRecord(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
