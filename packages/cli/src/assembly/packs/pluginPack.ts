import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { PackSkill, ToolPack } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import { readOwnCommands } from "../../instructions/ownCommands.js";
import { stateDirectory } from "../../process/paths.js";
import { type Plugin, readPlugin } from "../../settings/packs/plugin.js";

/** Where the MCP servers of a folder keep their files, including after an update. */
export function pluginData(folder: string): string {
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, 12);
  return join(stateDirectory(), "plugins", `${basename(folder)}-${digest}`);
}

/** The skills of a plugin, and those that cannot be used. */
export function pluginSkills(folder: string): {
  readonly skills: readonly PackSkill[];
  readonly ignored: readonly string[];
} {
  const directory = join(folder, "skills");
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const found = readOwnCommands(folder).filter(({ kind }) => kind === "skill");
  const skills = found.map(({ name, description, file }) => ({ name, description, file }));
  const files = new Set(skills.map(({ file }) => file));
  const left = names.filter((name) => {
    const file = join(directory, name, "SKILL.md");
    return existsSync(file) && !files.has(file);
  });
  return { skills, ignored: left.map((name) => `the skill ${quote(name)}, which cannot be read`) };
}

/** A plugin as a pack: its skills. MCP servers are added to the config and its lock when the plugin is added. */
export function pluginPack(folder: string): ToolPack & { readonly plugin: Plugin } {
  const plugin = readPlugin(folder, pluginData(folder));
  return {
    packName: plugin.name,
    plugin,
    register: (registry) => registry.provide?.({ skills: pluginSkills(folder).skills }),
  };
}
