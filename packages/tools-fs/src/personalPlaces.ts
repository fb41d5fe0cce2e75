import { isAbsolute, join } from "node:path";
import { canonicalPath } from "@agent/core/toolkit";

/** Built-in rules that mean one place on this machine, and how to find it: the same way the agent does. */
const PLACES: Readonly<Record<string, readonly (readonly [variable: string, below: string])[]>> = {
  "~/.config/agent": [
    ["AGENT_CONFIG_DIR", ""],
    ["XDG_CONFIG_HOME", "agent"],
    ["HOME", ".config/agent"],
  ],
  "~/.local/state/agent": [
    ["XDG_STATE_HOME", "agent"],
    ["HOME", ".local/state/agent"],
  ],
};

/**
 * Where a rule such as `~/.config/agent` leads, or `undefined` if it is no such rule. All the places it may mean, links
 * followed: the next agent may be started with another environment.
 */
export function personalPlaces(rule: string): string[] | undefined {
  return PLACES[rule]?.flatMap(([variable, below]) => {
    const base = process.env[variable] || (variable === "HOME" ? accountHome() : "");
    if (!isAbsolute(base)) return [];
    const place = join(base, below);
    return [...new Set([place, canonicalPath(place)])];
  });
}

function accountHome(): string {
  return process.getBuiltinModule("node:os").homedir();
}
