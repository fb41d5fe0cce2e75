import { describeValue, errorMessage, isRecord, quote } from "@agent/core/toolkit";
import type { LockedEra } from "../lock/lock.js";
import { untilAborted } from "../untilAborted.js";
import { clientInfo } from "../version.js";
import type { JsonRpcPeer } from "./jsonRpc.js";

/** The revision without a handshake: each request says who asks and what the client can do. */
const MODERN_VERSION = "2026-07-28";
/** The revisions with a handshake, newest first: that one is offered. */
const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
// A program that does not know the probe may not answer it at all, so it has a time limit.
const PROBE_MS = 5000;
const META = "io.modelcontextprotocol";

/** What is known about a server once it is spoken to. */
export interface OpenedEra {
  readonly era: LockedEra;
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** What the server says about its use, unchecked. */
  readonly instructions: unknown;
}

/** What each request of the new era carries about the client. */
export function requestMeta(capabilities: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    [`${META}/protocolVersion`]: MODERN_VERSION,
    [`${META}/clientInfo`]: clientInfo(),
    [`${META}/clientCapabilities`]: capabilities,
  };
}

/** Opens the conversation in the era that is known, or finds out which one it is. */
export async function openEra(
  peer: JsonRpcPeer,
  known: LockedEra | undefined,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<OpenedEra> {
  const discover = known === undefined ? await probe(peer, capabilities, signal) : discoveredBefore(known);
  if (discover) return modern(discover);
  try {
    return await handshake(peer, capabilities, signal);
  } catch (error) {
    if (known === undefined || signal.aborted) throw error;
    throw new Error(
      `the handshake that its revision ${quote(known.version)} wants failed: ${errorMessage(error)}. If it speaks another revision by now, "agent mcp update" finds out which.`,
    );
  }
}

function discoveredBefore(era: LockedEra): Readonly<Record<string, unknown>> | undefined {
  return era.kind === "modern" ? era.discover : undefined;
}

/** What a server of the new era says about itself; undefined for any other. */
async function probe(
  peer: JsonRpcPeer,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const result = await peer.request(
      "server/discover",
      { _meta: requestMeta(capabilities) },
      { signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]) },
    );
    const versions = isRecord(result) ? result.supportedVersions : undefined;
    return isRecord(result) && Array.isArray(versions) && versions.includes(MODERN_VERSION)
      ? result
      : undefined;
  } catch {
    // An error or no answer means that the server does not know the probe. The handshake shows whether it is alive.
    return undefined;
  }
}

function modern(discover: Readonly<Record<string, unknown>>): OpenedEra {
  const { capabilities, instructions, _meta: meta } = discover;
  return {
    era: { kind: "modern", version: MODERN_VERSION, discover },
    info: serverInfo(isRecord(meta) ? meta[`${META}/serverInfo`] : undefined),
    capabilities: isRecord(capabilities) ? capabilities : {},
    instructions,
  };
}

async function handshake(
  peer: JsonRpcPeer,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<OpenedEra> {
  const params = { protocolVersion: HANDSHAKE_VERSIONS[0], capabilities, clientInfo: clientInfo() };
  // Not given the signal: the protocol forbids to cancel this request.
  const result = await untilAborted(peer.request("initialize", params, {}), signal);
  if (!isRecord(result)) throw new Error(`its answer to the handshake is ${describeValue(result)}`);
  const version = String(result.protocolVersion);
  if (!HANDSHAKE_VERSIONS.includes(version)) {
    throw new Error(`it speaks the revision ${quote(version)}, which is not known`);
  }
  peer.notify("notifications/initialized");
  return {
    era: { kind: "legacy", version },
    info: serverInfo(result.serverInfo),
    capabilities: isRecord(result.capabilities) ? result.capabilities : {},
    instructions: result.instructions,
  };
}

function serverInfo(info: unknown): OpenedEra["info"] {
  if (!isRecord(info) || typeof info.name !== "string" || typeof info.version !== "string") return undefined;
  return { name: info.name, version: info.version };
}
