import { countOf, escapeToLine } from "@agent/core/toolkit";
import { EXIT, type ExitCode } from "../../exitCodes.js";
import { entryOf } from "./entry.js";
import { findInstalledPacks } from "./installed.js";

export interface PackListParameters {
  /** Packs are looked for here and above. */
  readonly directory: string;
  readonly json?: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack list`: installed packs with their versions, tools and what those can do. */
export async function packList({ directory, json = false, print }: PackListParameters): Promise<ExitCode> {
  const { inspectPack } = await import("@agent/testing");
  const packs = await Promise.all(
    findInstalledPacks(directory).map(async ({ name, version, directory: folder }) => ({
      name,
      version,
      ...(await inspectPack(entryOf(folder))),
    })),
  );
  if (json) {
    print(`${JSON.stringify({ v: 1, packs }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (packs.length === 0) print("No packs are installed here. Run: npm install @agent/preset-default\n");
  for (const { name, version, tools, problem } of packs) {
    print(`${escapeToLine(name)} ${escapeToLine(version)}: ${problem ?? countOf(tools.length, "tool")}\n`);
    for (const tool of tools) {
      const traits = [tool.enabled ? "on" : "off by default", ...tool.capabilities];
      print(`  ${escapeToLine(tool.name)} (${escapeToLine(traits.join(", "))})\n`);
    }
  }
  return EXIT.done;
}
