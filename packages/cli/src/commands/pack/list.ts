import { errorMessage } from "@agent/core/toolkit";
import { countOf, escapeToLine } from "@agent/internal";
import type { PackTool } from "@agent/testing";
import { installCommand } from "../../assembly/packages/manualInstall.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { configFile } from "../../settings/config/editConfig.js";
import { entryOf } from "../../settings/packs/entry.js";
import { type LockedPack, type PackLock, packLockFile, readPackLock } from "../../settings/packs/lock.js";
import { findInstalledPacks, type InstalledPack } from "./installed.js";
import { isPackTrusted } from "./trusted.js";

const NOT_LOADED = {
  tools: [],
  problem: "not loaded, because this project is not trusted. If you trust it: agent pack list --trust",
};
const CHANGED = {
  tools: [],
  problem:
    "not loaded, because it is a part of this project that was not trusted. Run: agent pack check NAME",
};

export interface PackListParameters {
  /** Where packs are searched: here and in parent directories. */
  readonly directory: string;
  /** Whether the user trusts the project: only then is the code of its packs loaded to list their tools. */
  readonly trusted: boolean;
  /** `--trust`: also load packs that are linked into the project in their current version. */
  readonly everything?: boolean;
  readonly json?: boolean;
  readonly print: (text: string) => void;
}

/** The facts about a pack and its tools. */
interface Listed {
  readonly tools: readonly PackTool[];
  readonly problem?: string;
  /** What it provides besides tools, if the user added it. */
  readonly services?: readonly string[];
  /** What it may do in its own process. */
  readonly isolated?: readonly string[];
}

/** `agent pack list`: installed and added packs with their versions, tools and what those can do. */
export async function packList({
  directory,
  trusted,
  everything = false,
  json = false,
  print,
}: PackListParameters): Promise<ExitCode> {
  const { inspectPack } = await import("@agent/testing");
  const lock = { ...lockOf(directory, true), ...lockOf(directory, false) };
  const inspect = async ({ name, directory: folder, besideCli }: InstalledPack): Promise<Listed> => {
    const locked = besideCli ? undefined : lock[name];
    if (locked?.isolation !== undefined) return await approved(locked);
    if (!trusted && !besideCli) return NOT_LOADED;
    try {
      const entry = entryOf(folder);
      if (!besideCli && !everything && !isPackTrusted(entry, directory)) return CHANGED;
      return await inspectPack(entry);
    } catch (error) {
      return { tools: [], problem: errorMessage(error) };
    }
  };
  const installed = findInstalledPacks(directory);
  // Folders, plugins and the user's own packs are not packages of this project.
  const added = Object.entries(lock).filter(([name]) => !installed.some((pack) => pack.name === name));
  const packs = await Promise.all([
    ...installed.map(async (pack) => ({
      name: pack.name,
      version: pack.version,
      ...(await inspect(pack)),
    })),
    ...added.map(async ([name, pack]) => ({ name, version: pack.version, ...(await approved(pack)) })),
  ]);
  if (json) {
    print(`${JSON.stringify({ v: 1, packs }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (packs.length === 0) {
    print(`No packs are installed here. Run: ${installCommand("@agent/preset-default", directory)}\n`);
  }
  for (const { name, version, tools, problem, services = [], isolated } of packs) {
    print(`${escapeToLine(name)} ${escapeToLine(version)}: ${problem ?? countOf(tools.length, "tool")}\n`);
    if (services.length > 0) print(`  adds ${escapeToLine(services.join(", "))}\n`);
    if (isolated) print(`  in its own process: ${escapeToLine(isolated.join("; "))}\n`);
    for (const tool of tools) {
      const traits = [tool.enabled ? "on" : "off by default", ...tool.capabilities];
      print(`  ${escapeToLine(tool.name)} (${escapeToLine(traits.join(", "))})\n`);
    }
  }
  return EXIT.done;
}

function lockOf(directory: string, user: boolean): PackLock {
  const config = configFile(directory, user);
  return config === undefined ? {} : readPackLock(packLockFile(config));
}

/** What the user approved of a pack: its code is not loaded here. */
async function approved({ tools, services, isolation }: LockedPack): Promise<Listed> {
  if (isolation === undefined) {
    const listed = Object.entries(tools).map(([name, tool]) => ({ name, ...tool, description: "" }));
    return { tools: listed, services };
  }
  const { describeGrants, readGrants, readManifest } = await import("@agent/core/isolation");
  const listed = Object.entries(readManifest(isolation.manifest).tools).map(([name, tool]) => ({
    ...{ name, enabled: tool.enabled, capabilities: tool.capabilities },
    description: tool.schema.function.description ?? "",
  }));
  return { tools: listed, services, isolated: describeGrants(readGrants(isolation.grants)) };
}
