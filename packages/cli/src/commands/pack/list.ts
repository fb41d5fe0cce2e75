import { countOf, escapeToLine } from "@agent/internal";
import { installCommand } from "../../assembly/packages/manualInstall.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { entryOf } from "../../settings/packs/entry.js";
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
  /** Packs are looked for here and above. */
  readonly directory: string;
  /** Whether the user trusts the project: only then is the code of its packs loaded to see their tools. */
  readonly trusted: boolean;
  /** `--trust`: packs that are linked into the project are loaded as they are now, too. */
  readonly everything?: boolean;
  readonly json?: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack list`: installed packs with their versions, tools and what those can do. */
export async function packList({
  directory,
  trusted,
  everything = false,
  json = false,
  print,
}: PackListParameters): Promise<ExitCode> {
  const { inspectPack } = await import("@agent/testing");
  const inspect = async ({ directory: folder, besideCli }: InstalledPack) => {
    if (!trusted && !besideCli) return NOT_LOADED;
    if (!besideCli && !everything && !isPackTrusted(entryOf(folder), directory)) return CHANGED;
    return await inspectPack(entryOf(folder));
  };
  const packs = await Promise.all(
    findInstalledPacks(directory).map(async (pack) => ({
      name: pack.name,
      version: pack.version,
      ...(await inspect(pack)),
    })),
  );
  if (json) {
    print(`${JSON.stringify({ v: 1, packs }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (packs.length === 0) {
    print(`No packs are installed here. Run: ${installCommand("@agent/preset-default", directory)}\n`);
  }
  for (const { name, version, tools, problem } of packs) {
    print(`${escapeToLine(name)} ${escapeToLine(version)}: ${problem ?? countOf(tools.length, "tool")}\n`);
    for (const tool of tools) {
      const traits = [tool.enabled ? "on" : "off by default", ...tool.capabilities];
      print(`  ${escapeToLine(tool.name)} (${escapeToLine(traits.join(", "))})\n`);
    }
  }
  return EXIT.done;
}
