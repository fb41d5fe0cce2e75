import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { profileText } from "@agent/core/sandbox";
import { canonicalPath, errorMessage, HELPER_ENVIRONMENT } from "@agent/core/toolkit";
import { probeProgram } from "../helpers/probe.js";
import { parentsInside, type SandboxPolicy, withPrivateCaches } from "./policy.js";

const { literal, rule, subpath, text } = profileText;
const PROGRAM = "/usr/bin/sandbox-exec";
/** The temporary files of every user. `/tmp` and `/var` are symlinks to here. */
const TEMPORARY = ["/private/tmp", "/private/var/tmp", "/private/var/folders"];
/** Devices that programs commonly write to. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/dtracehelper"];
/** Looks up users and groups. */
const ACCOUNTS = ["com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"];
/** Resolves names and checks certificates. The keychain (`com.apple.SecurityServer`) is excluded. */
const NETWORK_SERVICES = [
  "com.apple.SystemConfiguration.configd",
  "com.apple.SystemConfiguration.DNSConfiguration",
  "com.apple.trustd.agent",
];
const NAME_SERVER = "/private/var/run/mDNSResponder";

/** A protected file or directory below a writable directory. */
export interface GuardedFile {
  readonly root: string;
  /** Relative to the root. Its first name may start with `*`. */
  readonly path: string;
}

/**
 * Renders the policy as a `sandbox-exec` profile (SBPL). The last matching rule decides, so each rule follows those it
 * narrows. Throws for a path that a profile cannot contain.
 */
export function seatbeltProfile(policy: SandboxPolicy, guarded: readonly GuardedFile[]): string {
  const { writable, shown, hidden, network, unixSockets } = policy;
  const kept = [...hidden, ...guarded.map(({ root, path }) => join(root, path))];
  const parents = kept.flatMap((path) => parentsInside(path, writable));
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    "(allow process-exec* process-fork)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read ipc-posix-sem ipc-posix-shm*)",
    rule("allow", "mach-lookup", ACCOUNTS.map(globalName)),
    "(allow file-read*)",
    rule("allow", "file-write-data file-ioctl", DEVICES.map(literal)),
    rule("deny", "file-read-data file-read-xattr", TEMPORARY.map(subpath)),
    rule("allow", "file-read*", [...writable, ...shown].map(subpath)),
    rule("allow", "file-write*", writable.map(subpath)),
    ...networkRules(network),
    ...(unixSockets ? [rule("allow", "network*", writable.map(subpath))] : []),
    rule("deny", "file-write*", shown.map(subpath)),
    rule("deny", "file-write*", guarded.map(inAnyCase)),
    rule("deny", "file-read* file-write* network*", hidden.map(subpath)),
    // Renaming a directory would move the protected or hidden files in it.
    rule("deny", "file-write-unlink", [...new Set(parents)].map(literal)),
    "(deny file-write-setugid)",
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function networkRules(network: SandboxPolicy["network"]): string[] {
  if (network === false) return [];
  if (network !== true)
    return [rule("allow", "network-outbound", [`(remote ip "localhost:${network.proxyPort}")`])];
  return [
    "(allow system-socket)",
    '(allow network-outbound (remote ip "*:*"))',
    '(allow network-inbound network-bind (local ip "*:*"))',
    rule("allow", "network-outbound", [literal(NAME_SERVER)]),
    rule("allow", "mach-lookup", NETWORK_SERVICES.map(globalName)),
  ];
}

function globalName(name: string): string {
  return `(global-name ${text(name)})`;
}

/**
 * A protected name and everything below it, in any letter case, because most macOS file systems are case-insensitive.
 */
function inAnyCase({ root, path }: GuardedFile): string {
  text(join(root, path));
  const start = path.startsWith("*") ? "/[^/]*" : "/";
  const letters = [...path.replace(/^\*/, "")].map((letter) => {
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
    return lower === upper ? escaped(letter) : `[${lower}${upper}]`;
  });
  return `(regex #"^${[...root].map(escaped).join("")}${start}${letters.join("")}(/|$)")`;
}

/** Escapes a character for a regular expression. An SBPL literal cannot contain a quotation mark, so "." matches it. */
function escaped(letter: string): string {
  if (letter === '"') return ".";
  return /[\\^$.*+?()[\]{}|]/.test(letter) ? `\\${letter}` : letter;
}

/** A command of `sandbox-exec`, with a private directory for temporary files. */
export interface SeatbeltStart {
  readonly argv: readonly string[];
  /** Removes the private directory. */
  finish(): void;
}

/** Prepares a command under the policy. Its variables are set inside: none reaches a program outside. */
export function startSeatbelt(
  policy: SandboxPolicy,
  guarded: readonly GuardedFile[],
  command: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> },
): SeatbeltStart {
  const temporary = canonicalPath(mkdtempSync(join(tmpdir(), "agent-sandbox-")));
  const finish = (): void => rmSync(temporary, { recursive: true, force: true });
  try {
    const profile = seatbeltProfile({ ...policy, writable: [...policy.writable, temporary] }, guarded);
    const env = Object.entries({
      ...withPrivateCaches(command.env, join(temporary, "caches"), policy.writable),
      TMPDIR: temporary,
    }).map(([name, value]) => `${name}=${value}`);
    return { argv: [PROGRAM, "-p", profile, "/usr/bin/env", "-i", ...env, ...command.argv], finish };
  } catch (error) {
    finish();
    throw error;
  }
}

/** Why `sandbox-exec` does not work here; `undefined` if it does. Tested with a file inside and one outside. */
export async function seatbeltProblem(): Promise<string | undefined> {
  if (!existsSync(PROGRAM)) return `${PROGRAM} is missing.`;
  const base = canonicalPath(mkdtempSync(join(tmpdir(), "agent-sandbox-")));
  const [workspace, outside] = [join(base, "workspace"), join(base, "outside")];
  try {
    mkdirSync(workspace);
    const policy: SandboxPolicy = {
      ...{ writable: [workspace], guarded: { paths: [], names: [] }, shown: [], hidden: [] },
      ...{ network: false, unixSockets: false },
    };
    const script = `echo x > '${workspace}/file'; echo x > '${outside}'; exit 0`;
    const { argv, finish } = startSeatbelt(policy, [], {
      argv: ["/bin/sh", "-c", script],
      env: HELPER_ENVIRONMENT,
    });
    const [program = "", ...args] = argv;
    const { code, output } = await probeProgram(program, args, "stderr").finally(finish);
    if (code !== 0 || !existsSync(join(workspace, "file"))) {
      return `sandbox-exec does not work here: ${output.trim() || `exit code ${code}`}.`;
    }
    return existsSync(outside) ? "sandbox-exec does not keep commands from writing here." : undefined;
  } catch (error) {
    return `sandbox-exec does not work here: ${errorMessage(error)}`;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
