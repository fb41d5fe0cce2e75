import { join } from "node:path";
import type { ToolRegistry } from "@agent/core";
import {
  findRuleProblem,
  formatRule,
  type Mode,
  Permissions,
  parseRule,
  type RuleSet,
  watchRules,
} from "@agent/core/host";
import { canonicalPath } from "@agent/internal";
import type { AssembledTools } from "../assembly/assembleTools.js";
import { CliError } from "../process/errors.js";
import { stateDirectory } from "../process/paths.js";
import { projectDirectory } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { ProjectGrants } from "./grants.js";

/** The mode if neither a flag, a variable nor the config sets one. */
const START_MODE: Mode = "edits";

export interface PermissionSettings {
  /** The mode if the settings set none. Default: accept edits. */
  readonly mode?: Mode | undefined;
  /** Whether the user cannot be asked while the agent works. */
  readonly unattended?: boolean | undefined;
  readonly onProblem: (message: string) => void;
}

/**
 * Creates the permissions from the settings. Rejects if a tool does not understand the pattern of a rule; a tool that
 * is registered later reports that to `onProblem`.
 */
export async function createPermissions(
  { settings }: LoadedSettings,
  { registry, confirm }: AssembledTools,
  { mode = START_MODE, unattended = false, onProblem }: PermissionSettings,
): Promise<Permissions> {
  const root = canonicalPath(projectDirectory(process.cwd()));
  const { allow, ask, deny } = settings.permissions;
  const rules = { allow: allow.map(parseRule), ask: ask.map(parseRule), deny: deny.map(parseRule) };
  await checkRules(rules, registry);
  watchRules([...rules.deny, ...rules.ask, ...rules.allow], registry, onProblem);
  return new Permissions({
    registry,
    confirm,
    root,
    rules,
    grants: new ProjectGrants(join(stateDirectory(), "permissions"), root),
    mode: settings.mode ?? mode,
    unattended,
  });
}

async function checkRules(rules: RuleSet, registry: ToolRegistry): Promise<void> {
  for (const list of ["deny", "ask", "allow"] as const) {
    for (const rule of rules[list]) {
      const problem = await findRuleProblem(rule, registry);
      if (problem !== undefined) {
        throw new CliError(`"permissions.${list}" has the rule ${formatRule(rule)}, but ${problem}.`);
      }
    }
  }
}
