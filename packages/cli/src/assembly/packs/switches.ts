import type { ToolInfo, ToolRegistry } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import { didYouMean } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { locate, valuePattern } from "../../settings/config/locate.js";
import type { Settings, ToolSwitch } from "../../settings/layers.js";

/** Why a tool is on or off that the user has not decided about. */
export const BY_DEFAULT = "by default";

type SwitchSettings = Pick<Settings, "switches" | "confirm" | "readOnly">;

/** The result of the switches: why each tool is on or off, and which tools ask first. */
export interface SwitchedTools {
  readonly reasons: ReadonlyMap<string, string>;
  /** The tools that the settings turn on. */
  readonly on: ReadonlySet<string>;
  readonly confirm: ReadonlySet<string>;
}

/**
 * Turns tools on and off as the settings say, also those that come later. Throws for a name no pack declares, unless
 * `tolerant`: then a pack that is broken or still loading may declare it.
 */
export function switchTools(
  registry: ToolRegistry,
  settings: SwitchSettings,
  { tolerant }: { readonly tolerant: boolean },
): SwitchedTools {
  if (!tolerant) {
    for (const one of settings.switches)
      checkNames(registry, one, one.action === "only" ? "tools" : one.action);
    for (const one of settings.confirm) checkNames(registry, one, "confirm");
  }
  const reasons = new Map<string, string>();
  const turnedOn = new Set<string>();
  const confirm = new Set<string>();
  const apply = (tool: ToolInfo): void => {
    // A tool that is unregistered and registered again keeps the user's setting.
    if (reasons.has(tool.name)) return;
    const { on, reason } = decideTool(tool, settings);
    registry[on ? "enable" : "disable"](tool.name);
    reasons.set(tool.name, reason);
    if (on) turnedOn.add(tool.name);
    if (settings.confirm.some(({ names }) => includes(names, tool))) confirm.add(tool.name);
  };
  for (const tool of registry.describeTools()) apply(tool);
  registry.onRegister(apply);
  return { reasons, on: turnedOn, confirm };
}

/** Applies the switches in order. Read-only comes last and turns every tool off that can change anything. */
function decideTool(tool: ToolInfo, settings: SwitchSettings): { on: boolean; reason: string } {
  let on = tool.enabled;
  let reason = BY_DEFAULT;
  for (const { action, names, origin } of settings.switches) {
    const isNamed = includes(names, tool);
    if (action === "only") {
      if (on && !isNamed) [on, reason] = [false, `not a tool of ${origin}`];
    } else if (isNamed && (action === "enable" || on)) {
      [on, reason] = [action === "enable", `${action}d by ${origin}`];
    }
  }
  if (on && settings.readOnly && !isReadOnly(tool))
    return { on: false, reason: `read-only: ${abilities(tool)}` };
  return { on, reason };
}

// All tools of one MCP server.
const OF_SERVER = /^mcp__.+__\*$/;

/**
 * Whether a list names a tool: by its name or that of the tool it replaces, as a tool of its pack (`agent-pack-issues/*`)
 * or of its MCP server (`mcp__docs__*`), or with all others (`*`).
 */
function includes(names: readonly string[], { name, source, insteadOf = name }: ToolInfo): boolean {
  return (
    names.includes("*") ||
    names.includes(name) ||
    names.includes(insteadOf) ||
    (source !== undefined && names.includes(`${source}/*`)) ||
    names.some((one) => OF_SERVER.test(one) && name.startsWith(one.slice(0, -1)))
  );
}

function checkNames(registry: ToolRegistry, { names, origin, source }: ToolSwitch, key: string): void {
  const tools = registry.describeTools();
  const packs = new Set(tools.map(({ source }) => `${source}/*`));
  for (const [index, name] of names.entries()) {
    if (name === "*" || registry.hasTool(name) || tools.some((tool) => includes([name], tool))) continue;
    const hint = didYouMean(name, [...registry.getToolNames(), ...packs]);
    const problem = source
      ? `${locate(source.file, source.text, valuePattern(name))}: ${key}[${index}] is ${quote(name)}`
      : `${origin}: there is no tool ${quote(name)}`;
    throw new CliError(`${problem}${source ? ", which no pack declares" : ""}. ${hint}`);
  }
}

/** A tool without declared capabilities may do anything. */
function isReadOnly({ capabilities }: ToolInfo): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read");
}

function abilities({ capabilities }: ToolInfo): string {
  const beyond = capabilities.filter((one) => one !== "read");
  return beyond.length === 0 ? "it does not say what it does" : `it can ${beyond.join(", ")}`;
}
