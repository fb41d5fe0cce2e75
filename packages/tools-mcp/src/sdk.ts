import { devNull } from "node:os";
import { nodeFs } from "@agent/internal";

export type McpSdk = typeof import("@modelcontextprotocol/client");

// More than the files of the SDK and of what it needs, which Node opens side by side.
const DESCRIPTORS = 128;

/**
 * The official SDK, for servers on HTTP alone: event streams, resumption and logins. Loaded with the first of their
 * calls, because that takes longer than all else.
 *
 * Rejects without trying if too few files can be opened: Node never repeats an import that failed once, and the server
 * would be lost to the process.
 */
export async function loadSdk(): Promise<McpSdk> {
  assertDescriptors(DESCRIPTORS);
  return await import("@modelcontextprotocol/client");
}

/** Throws the error of the system unless that many files can be opened at once. */
function assertDescriptors(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(nodeFs.openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) nodeFs.closeSync(descriptor);
  }
}
