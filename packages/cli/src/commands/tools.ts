import type { ToolInfo } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import {
  createToolbox,
  loadSelectedPacks,
  NO_CONVERSATION,
  packProblems,
  type Toolbox,
} from "../assembly/assembleTools.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, note, print } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";

export interface ToolsFlags extends SettingsFlags {
  readonly json?: boolean;
}

/** `agent tools`: every tool, whether it is on and why. */
export async function toolsCommand(flags: ToolsFlags): Promise<ExitCode> {
  const loaded = await loadSettings(flags);
  const packs = await loadSelectedPacks(loaded);
  const toolbox = createToolbox(loaded, packs, NO_CONVERSATION);
  const problems = packProblems(packs);
  if (flags.json) {
    const tools = toolbox.registry.describeTools().map((tool) => describe(tool, toolbox));
    print(`${JSON.stringify({ v: 1, tools, problems }, undefined, 2)}\n`);
    return EXIT.done;
  }
  const rows = toolbox.registry.describeTools().map((tool) => {
    const { on, reason, pack, capabilities, description, confirm } = describe(tool, toolbox);
    return [
      tool.name,
      on ? "on" : "off",
      reason + (confirm ? ", asks first" : ""),
      capabilities.join(",") || "-",
      pack,
      firstSentence(description),
    ].map(escapeToLine);
  });
  print(columns([["TOOL", "", "WHY", "CAN", "PACK", "WHAT IT DOES"], ...rows]));
  for (const problem of problems) note(`agent: ${problem}`);
  return EXIT.done;
}

function describe(tool: ToolInfo, { reasons, confirm }: Toolbox) {
  return {
    name: tool.name,
    pack: tool.source ?? "",
    on: tool.enabled,
    reason: reasons.get(tool.name) ?? "",
    confirm: confirm.has(tool.name),
    capabilities: tool.capabilities,
    description: tool.description,
  };
}

function firstSentence(text: string): string {
  const sentence = text.split(/(?<=[.!?])\s/)[0] ?? "";
  return sentence.length > 80 ? `${sentence.slice(0, 79)}…` : sentence;
}
