import type { ToolInfo } from "@agent/core";
import { escapeToLine, firstSentence } from "@agent/internal";
import type { AssembledTools } from "../assembly/assembleTools.js";
import { type ToolsInUse, withTools } from "../assembly/withTools.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, note, print } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";

export interface ToolsFlags extends SettingsFlags {
  readonly json?: boolean;
}

/** `agent tools`: lists every tool, whether it is enabled and why. */
export async function toolsCommand(flags: ToolsFlags): Promise<ExitCode> {
  return await withTools(flags, (tools) => (flags.json ? printJson(tools) : printTable(tools)));
}

function printJson(tools: ToolsInUse): ExitCode {
  const list = tools.registry.describeTools().map((tool) => describe(tool, tools));
  print(`${JSON.stringify({ v: 1, tools: list, problems: tools.problems }, undefined, 2)}\n`);
  return EXIT.done;
}

function printTable(tools: ToolsInUse): ExitCode {
  const more: string[] = [];
  const rows = tools.registry.describeTools().map((tool) => {
    const { on, reason, pack, capabilities, description, confirm } = describe(tool, tools);
    const [why = "", ...lines] = reason.split("\n");
    if (lines.length > 0) more.push([`${tool.name}: ${why}`, ...lines].map(escapeToLine).join("\n    "));
    return [
      tool.name,
      on ? "on" : "off",
      (lines.length > 0 ? firstSentence(why, 80) : why) + (confirm ? ", asks first" : ""),
      capabilities.join(",") || "-",
      pack,
      firstSentence(description, 80),
    ].map(escapeToLine);
  });
  print(columns(rows, ["TOOL", "STATE", "WHY", "CAN", "PACK", "WHAT IT DOES"]));
  for (const text of more) print(`\n${text}\n`);
  for (const problem of tools.problems) note(`agent: ${problem}`);
  return EXIT.done;
}

function describe(tool: ToolInfo, { reasons, confirm }: AssembledTools) {
  return {
    name: tool.name,
    pack: tool.source ?? "",
    on: tool.enabled && tool.withheld === undefined,
    reason: tool.withheld ?? reasons.get(tool.name) ?? "",
    confirm: confirm.has(tool.name),
    capabilities: tool.capabilities,
    description: tool.description,
  };
}
