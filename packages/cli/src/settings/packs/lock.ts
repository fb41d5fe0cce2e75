import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { IsolationLevel, PackGrants, PackManifest } from "@agent/core/isolation";
import { isRecord, quote, writeFileAtomic } from "@agent/core/toolkit";
import { quotePath, readRegularFile } from "@agent/internal";
import { CliError } from "../../process/errors.js";

const MAX_LOCK_BYTES = 16 * 1024 * 1024;
/** A nested schema takes much more space in the file than on its way here. */
const MAX_ENTRY_BYTES = 2 * 1024 * 1024;
const NAME = "packs.lock.json";

/** A tool as the user approved it. */
export interface LockedTool {
  readonly enabled: boolean;
  readonly capabilities: readonly string[];
}

/** What a pack may provide: everything the user saw when they added or updated it. */
export interface LockedPack {
  readonly version: string;
  /** Who published this version, as the registry says; absent for a pack from elsewhere. */
  readonly publisher?: string;
  /** The name that the pack declares; absent if it declares none. */
  readonly packName?: string;
  /** The address of its git repository as it was given, and the commit; absent for any other pack. */
  readonly git?: { readonly source: string; readonly commit: string };
  /** SHA-256 over the names and contents of its files. */
  readonly files: string;
  readonly tools: Readonly<Record<string, LockedTool>>;
  /** The variables of its secrets. */
  readonly secrets: readonly string[];
  /** Its services besides tools: `hooks`, `command /deploy`, `skill notes`. */
  readonly services: readonly string[];
  /** Absent: its code runs with the rights of the user. */
  readonly isolation?: LockedIsolation;
}

/** How a pack runs in its own process. */
interface LockedIsolation {
  /** The minimum isolation that the user accepted. */
  readonly required: IsolationLevel;
  readonly grants: PackGrants;
  /** Its manifest, so that its tools are known before its process has started. */
  readonly manifest: PackManifest;
}

export type PackLock = Readonly<Record<string, LockedPack>>;

/** The lock file of the packs that a config selects. */
export function packLockFile(config: string): string {
  return join(dirname(config), NAME);
}

export function isPackLock(path: string): boolean {
  return basename(path) === NAME;
}

/** Reads a lock file; a missing one is empty. Throws for a file that is not a lock. */
export function readPackLock(file: string): PackLock {
  const bytes = readRegularFile(file, MAX_LOCK_BYTES);
  if (bytes === undefined) return {};
  const lock = parsed(bytes.toString());
  if (isRecord(lock) && lock.v === 1 && isRecord(lock.packs) && Object.values(lock.packs).every(isLocked)) {
    // Without the properties of every object: a pack may be named "constructor".
    return Object.assign(Object.create(null), lock.packs);
  }
  const isConflict = /^<{7} /m.test(bytes.toString());
  const hint = isConflict ? "It has a merge conflict: take the file of one side" : "Restore it";
  throw new CliError(
    `${quotePath(file)} is not a lock file of packs. ${hint}, or delete it and run agent pack update NAME for each pack.`,
  );
}

/** Changes the entry of one pack; `undefined` removes it. */
export async function writeLockedPack(
  file: string,
  name: string,
  entry: LockedPack | undefined,
): Promise<void> {
  const { [name]: _, ...rest } = readPackLock(file);
  const packs = entry === undefined ? rest : { ...rest, [name]: entry };
  const sorted = Object.fromEntries(Object.entries(packs).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (entry === undefined && readRegularFile(file, MAX_LOCK_BYTES) === undefined) return;
  await writeFileAtomic(file, `${JSON.stringify({ v: 1, packs: sorted }, undefined, 2)}\n`);
}

/** Whether the entry of a pack is too large for the lock file, which could not be read again. */
export function isTooLargeToLock(entry: LockedPack): boolean {
  return Buffer.byteLength(JSON.stringify(entry, undefined, 2)) > MAX_ENTRY_BYTES;
}

/** Why a tool differs from the approved one; `undefined` if it does not. */
export function toolChange(
  locked: LockedTool | undefined,
  { enabled, capabilities }: LockedTool,
): string | undefined {
  if (locked === undefined) return "it is new";
  const gained = capabilities.filter((one) => !locked.capabilities.includes(one));
  const lost = locked.capabilities.filter((one) => !capabilities.includes(one));
  const changes = [
    ...(gained.length === 0 ? [] : [`it now can ${gained.join(", ")}`]),
    ...(lost.length === 0 ? [] : [`it no longer declares ${lost.join(", ")}`]),
    ...(enabled && !locked.enabled ? ["it is on by default now"] : []),
  ];
  return changes.length === 0 ? undefined : changes.join("; ");
}

/** The state and the capabilities of a tool, for the user. */
export function toolState({ enabled, capabilities }: LockedTool): string {
  return `${enabled ? "on" : "off until enabled"}; ${capabilities.join(", ") || "declares no capability"}`;
}

/** How the name that a pack declares differs from the approved one; `undefined` if it does not. */
export function nameChange(before: LockedPack, packName: string | undefined): string | undefined {
  if (before.packName === packName) return undefined;
  return packName === undefined ? "it declares no name now" : `it calls itself ${quote(packName)} now`;
}

/** What an update changes for the user, one line each. `grants` describes the access of a pack in its own process. */
export function packChanges(
  before: LockedPack,
  after: LockedPack,
  grants: (granted: PackGrants) => readonly string[],
): string[] {
  const allowed = (pack: LockedPack): readonly string[] =>
    pack.isolation ? grants(pack.isolation.grants) : ["runs with your rights, not isolated"];
  const known = allowed(before);
  const renamed = nameChange(before, after.packName);
  const tools = Object.entries(after.tools).flatMap(([name, tool]) => {
    const change = toolChange(before.tools[name], tool);
    const about = before.tools[name] === undefined ? ` (${toolState(tool)})` : "";
    return change === undefined ? [] : [`tool ${name}: ${change}${about}`];
  });
  const gone = Object.keys(before.tools).filter((name) => after.tools[name] === undefined);
  // The lock file has no texts of skills, only a digest of all files.
  const skills = before.files === after.files ? [] : after.services.filter((one) => one.startsWith("skill "));
  const added = (kind: "secrets" | "services"): string[] =>
    after[kind].filter((one) => !before[kind].includes(one));
  const publishers = [before.publisher, after.publisher];
  const isHandedOver = !publishers.includes(undefined) && before.publisher !== after.publisher;
  return [
    ...(isHandedOver ? [`it was published by ${after.publisher}, before by ${before.publisher}`] : []),
    ...(renamed === undefined ? [] : [renamed]),
    ...tools,
    ...gone.map((name) => `tool ${name}: it is gone`),
    ...added("secrets").map((name) => `gets the secret ${name}`),
    ...added("services").map((name) => `adds ${name}`),
    ...skills
      .filter((one) => before.services.includes(one))
      .map((one) => `${one}: its text may be different`),
    ...allowed(after).filter((line) => !known.includes(line)),
  ];
}

/** Which texts for the model an update changes, one line each: the lists of a pack show only their names. */
export function textChanges(before: PackManifest, after: PackManifest): string[] {
  const tools = Object.keys(after.tools).filter(
    (name) =>
      before.tools[name] !== undefined &&
      !isDeepStrictEqual(before.tools[name]?.schema, after.tools[name]?.schema),
  );
  const agents = after.agents.filter((agent) => {
    const known = before.agents.find(({ name }) => name === agent.name);
    return known !== undefined && !isDeepStrictEqual(known, agent);
  });
  const isOther = before.prompts.length > 0 && !isDeepStrictEqual(before.prompts, after.prompts);
  return [
    ...tools.map((name) => `tool ${name}: its description or its arguments are different`),
    ...agents.map(({ name }) => `agent ${name}: its instructions are different`),
    ...(isOther && after.prompts.length > 0 ? ["its prompt text is different"] : []),
  ];
}

/** A digest of a package's files, excluding the packages installed inside it. */
export function digestFiles(folder: string): string {
  const hash = createHash("sha256");
  for (const path of packageFiles(folder).sort()) {
    const bytes = readRegularFile(join(folder, path), Number.POSITIVE_INFINITY);
    hash.update(`${path}\0${bytes?.byteLength ?? "none"}\0`);
    if (bytes !== undefined) hash.update(bytes);
  }
  return `sha256-${hash.digest("base64")}`;
}

/** The paths of a package's files, excluding the packages installed inside it. */
export function packageFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return paths.filter((path) => !path.split(sep).includes("node_modules"));
}

function isLocked(entry: unknown): entry is LockedPack {
  return (
    isRecord(entry) &&
    typeof entry.version === "string" &&
    typeof entry.files === "string" &&
    (entry.publisher === undefined || typeof entry.publisher === "string") &&
    (entry.packName === undefined || typeof entry.packName === "string") &&
    (entry.git === undefined || isGit(entry.git)) &&
    isTexts(entry.secrets) &&
    isTexts(entry.services) &&
    (entry.isolation === undefined || isIsolation(entry.isolation)) &&
    isRecord(entry.tools) &&
    Object.values(entry.tools).every(
      (tool) => isRecord(tool) && typeof tool.enabled === "boolean" && isTexts(tool.capabilities),
    )
  );
}

function isGit(value: unknown): boolean {
  return isRecord(value) && typeof value.source === "string" && typeof value.commit === "string";
}

/** The manifest is checked when the pack is loaded. */
function isIsolation(value: unknown): boolean {
  return (
    isRecord(value) &&
    (value.required === "enforced" || value.required === "limited") &&
    isRecord(value.grants) &&
    isRecord(value.manifest)
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
