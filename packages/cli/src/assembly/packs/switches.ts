import type { ToolInfo, ToolRegistry } from "@agent/core";
import { nearestMatch, quote } from "@agent/core/toolkit";
import { CliError } from "../../process/errors.js";
import { locate, valuePattern } from "../../settings/config/locate.js";
import type { Settings, ToolSwitch } from "../../settings/layers.js";

/** Why each tool is on or off. */
export type Reasons = ReadonlyMap<string, string>;

/**
 * Turns tools on and off as the settings say, in their order; read-only comes last and takes away whatever is
 * left that can change anything. Throws for a name no pack declares, unless `tolerant`: then a broken pack may
 * have declared it, and the name is left alone.
 */
export function applySwitches(registry: ToolRegistry, settings: Settings, tolerant: boolean): Reasons {
  const reasons = new Map<string, string>();
  for (const { name, enabled } of registry.describeTools()) {
    reasons.set(name, enabled ? "on by default" : "off by default");
  }
  const turn = (name: string, on: boolean, why: string): void => {
    if (registry.isToolEnabled(name) === on && !why.startsWith("enabled")) return;
    registry[on ? "enable" : "disable"](name);
    reasons.set(name, why);
  };
  for (const toolSwitch of settings.switches) {
    const { action, names, origin } = toolSwitch;
    if (!tolerant) checkNames(registry, toolSwitch, action === "only" ? "tools" : action);
    if (action === "only") {
      for (const name of registry.getToolNames()) {
        if (!names.includes(name)) turn(name, false, `not a tool of ${origin}`);
      }
      continue;
    }
    for (const name of names.includes("*") ? registry.getToolNames() : names) {
      if (registry.hasTool(name)) turn(name, action === "enable", `${action}d by ${origin}`);
    }
  }
  if (settings.readOnly) {
    for (const tool of registry.describeTools()) {
      if (!isReadOnly(tool)) turn(tool.name, false, `read-only: ${whatItDoes(tool)}`);
    }
  }
  return reasons;
}

/** The tools whose calls are asked about. Throws for a name no pack declares, unless `tolerant`. */
export function confirmedTools(registry: ToolRegistry, settings: Settings, tolerant: boolean): Set<string> {
  const confirmed = new Set<string>();
  for (const toolSwitch of settings.confirm) {
    if (!tolerant) checkNames(registry, toolSwitch, "confirm");
    for (const name of toolSwitch.names.includes("*") ? registry.getToolNames() : toolSwitch.names) {
      confirmed.add(name);
    }
  }
  return confirmed;
}

function checkNames(registry: ToolRegistry, { names, origin, source }: ToolSwitch, key: string): void {
  for (const [index, name] of names.entries()) {
    if (name === "*" || registry.hasTool(name)) continue;
    const known = registry.getToolNames();
    const meant = nearestMatch(name, known);
    const hint = meant ? `Did you mean ${quote(meant)}?` : `Known: ${known.join(", ")}.`;
    const problem = source
      ? `${locate(source.file, source.text, valuePattern(name))}: ${key}[${index}] is ${quote(name)}`
      : `${origin}: there is no tool ${quote(name)}`;
    throw new CliError(`${problem}${source ? ", which no pack declares" : ""}. ${hint}`);
  }
}

/** A tool that declares nothing might do anything. */
function isReadOnly({ capabilities }: ToolInfo): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read");
}

function whatItDoes({ capabilities }: ToolInfo): string {
  const beyond = capabilities.filter((one) => one !== "read");
  return beyond.length === 0 ? "it does not say what it does" : `it can ${beyond.join(", ")}`;
}
