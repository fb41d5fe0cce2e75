import { nodeFs, nodeOs } from "./nodeModules.js";

// More than the files of this package.
const OWN_FILES = 16;
// More than the files of the SDK and of what it needs.
const SDK_FILES = 128;

/** What talks to servers. Loaded with the first use of one: importing the pack and registering it must cost little. */
export async function loadConnections(): Promise<typeof import("./connections.js")> {
  assertDescriptors(OWN_FILES);
  return await import("./connections.js");
}

/**
 * The official SDK, for servers on HTTP alone: event streams, resumption and logins. Loaded with the first of their calls,
 * because that takes longer than all else.
 */
export async function loadSdk(): Promise<typeof import("@modelcontextprotocol/client")> {
  assertDescriptors(SDK_FILES);
  return await import("@modelcontextprotocol/client");
}

/**
 * Throws the error of the system unless that many files can be opened at the same time, as Node does for an import: it never repeats
 * one that failed, and what was to be loaded would be lost to the process.
 */
function assertDescriptors(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(nodeFs.openSync(nodeOs.devNull, "r"));
  } finally {
    for (const descriptor of opened) nodeFs.closeSync(descriptor);
  }
}
