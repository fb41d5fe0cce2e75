import { readFileSync } from "node:fs";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENING = "0A";
// Local addresses that accept connections to 127.0.0.1, in the format of the tables in /proc/net.
const REACHED_BY_LOOPBACK = new Set([
  "0100007F",
  "00000000",
  "00000000000000000000000000000000",
  "0000000000000000FFFF00000100007F",
  "0000000000000000FFFF000000000000",
]);
const SYSTEM_ACCOUNTS_BELOW = 1000;

/** The owner of the process that listens on a port, relative to the current user. */
export type OwnerKind = "self" | "system" | "other";

/**
 * The user whose process accepts connections to this port of 127.0.0.1. `undefined` if no process listens, if several
 * users listen, or if the system is not Linux, which alone lists the owners.
 */
export function listenerOwner(port: number): number | undefined {
  const owners = new Set(TABLES.flatMap((table) => ownersIn(readTable(table), port)));
  const [owner] = owners;
  return owners.size === 1 ? owner : undefined;
}

/** The users in a `/proc/net` table that listen on a port reachable from loopback. */
export function ownersIn(table: string, port: number): number[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , uid = ""] = line.trim().split(/\s+/);
    const [address = "", hexPort = ""] = local.split(":");
    const isReached = REACHED_BY_LOOPBACK.has(address) && Number.parseInt(hexPort, 16) === port;
    return state === LISTENING && isReached && /^\d+$/.test(uid) ? [Number(uid)] : [];
  });
}

/**
 * A service account counts as the system: only an administrator creates one, as Ollama's installer does. The account of
 * another human does not.
 */
export function ownerKind(uid: number, self: number): OwnerKind {
  if (uid === self) return "self";
  return uid < SYSTEM_ACCOUNTS_BELOW ? "system" : "other";
}

/** A user for a message: `you`, `ollama (uid 998)`, `uid 1001`. */
export function describeOwner(uid: number): string {
  if (uid === process.getuid?.()) return "you";
  const line = readTable("/etc/passwd")
    .split("\n")
    .find((entry) => entry.split(":")[2] === String(uid));
  return line === undefined ? `uid ${uid}` : `${line.split(":")[0]} (uid ${uid})`;
}

function readTable(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
