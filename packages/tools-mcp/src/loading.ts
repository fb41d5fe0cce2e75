import { nodeFs, nodeOs } from "./nodeModules.js";

// More than the number of files of this package.
const OWN_FILES = 16;
// More than the number of files of the SDK and its dependencies.
const SDK_FILES = 128;

/**
 * The code that communicates with servers. Loaded with the first use: importing and registering the pack must be cheap.
 */
export async function loadConnections(): Promise<typeof import("./connections.js")> {
  assertDescriptors(OWN_FILES);
  return await import("./connections.js");
}

/**
 * The official SDK, only for servers on HTTP: event streams, resumption and logins. Loaded with their first call,
 * because that takes longer than everything else.
 */
export async function loadSdk(): Promise<typeof import("@modelcontextprotocol/client")> {
  assertDescriptors(SDK_FILES);
  return await import("@modelcontextprotocol/client");
}

/**
 * Throws the system's error unless that many files can be opened at the same time. Node caches a failed import, so that
 * the module could never be loaded in this process.
 */
function assertDescriptors(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(nodeFs.openSync(nodeOs.devNull, "r"));
  } finally {
    for (const descriptor of opened) nodeFs.closeSync(descriptor);
  }
}
