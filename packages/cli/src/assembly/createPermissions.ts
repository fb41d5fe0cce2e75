import { join } from "node:path";
import { canonicalPath } from "@agent/internal";
import { Grants } from "../permissions/grants.js";
import { type Mode, modeOf } from "../permissions/mode.js";
import { Permissions } from "../permissions/permissions.js";
import { parseRule } from "../permissions/rule.js";
import { stateDirectory } from "../process/paths.js";
import { projectDirectory } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import type { AssembledTools } from "./assembleTools.js";

/** What calls may do under the settings. `mode` holds where the settings name none; without it they imply one. */
export function createPermissions(
  { settings }: LoadedSettings,
  { registry, confirm }: AssembledTools,
  mode: Mode | undefined,
): Permissions {
  const cwd = process.cwd();
  const root = canonicalPath(projectDirectory(cwd));
  const { allow, ask, deny } = settings.permissions;
  return new Permissions({
    registry,
    confirm,
    root,
    cwd,
    rules: { allow: allow.map(parseRule), ask: ask.map(parseRule), deny: deny.map(parseRule) },
    grants: new Grants(join(stateDirectory(), "permissions"), root),
    mode: settings.mode ?? mode ?? modeOf(registry.describeTools(), confirm),
  });
}
