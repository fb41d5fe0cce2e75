import { quote } from "@agent/core/toolkit";
import type { McpServer } from "@agentclientprotocol/sdk";
import type { EditorServer } from "./host.js";

export interface EditorServers {
  readonly servers: Readonly<Record<string, EditorServer>>;
  /** What is wrong with those that cannot be used. */
  readonly problems: readonly string[];
}

/** The editor's MCP servers as options of `@agent/tools-mcp`. Names are changed to what a tool name may contain. */
export function toServers(servers: readonly McpServer[]): EditorServers {
  const found: Record<string, EditorServer> = {};
  const problems: string[] = [];
  for (const server of servers) {
    const name = freeName(server.name, found);
    if ("command" in server) {
      const { command, args, env } = server;
      found[name] = { command, args, env: toRecord(env) };
    } else if (server.type === "http") {
      found[name] = { url: server.url, headers: toRecord(server.headers) };
    } else {
      const type = quote(String(server.type));
      problems.push(`MCP server ${name}: it is left out, because its type ${type} is not spoken here.`);
    }
  }
  return { servers: found, problems };
}

/** A name that no other server has: two names may differ only in characters that a tool name cannot contain. */
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
