import type { ExecutableTool, PackRegistry, RegisterOptions, ToolPack } from "@agent/core";
import { serviceNames } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { type LockedPack, nameChange, toolChange } from "../../settings/packs/lock.js";

/**
 * Restricts a pack to its lock entry: a tool that is new, newly enabled by default or has other capabilities is
 * withheld with the reason, and so are all tools if the pack declares another name; new secrets, hooks, commands and
 * similar services make its registration fail.
 */
export function lockedPack(
  pack: ToolPack,
  name: string,
  locked: LockedPack,
): ToolPack & { readonly withheld: ReadonlySet<string> } {
  const review = `Review the change with: agent pack update ${name}`;
  const refuse = (what: string): never => {
    throw new Error(`${quote(name)} is not used, because since you approved it it ${what}. ${review}`);
  };
  const checkSecrets = (variables: readonly string[]): void => {
    const added = variables.filter((one) => !locked.secrets.includes(one));
    if (added.length > 0) refuse(`wants the secrets ${added.join(", ")}`);
  };
  const withheld = new Set<string>();
  const renamed = nameChange(locked, typeof pack.packName === "string" ? pack.packName : undefined);
  const guard = (registry: PackRegistry): PackRegistry => ({
    ...registry,
    register(tool: ExecutableTool, options: RegisterOptions = {}) {
      registry.register(tool, options);
      const { enabled = true } = options;
      const declared = { enabled, capabilities: tool.capabilities ?? [] };
      const change = renamed ?? toolChange(locked.tools[tool.name], declared);
      if (change === undefined) return;
      const reason = `The pack ${quote(name)} changed since you approved it: ${change}. ${review}`;
      withheld.add(tool.name);
      registry.withhold?.(tool.name, reason);
    },
    release: (tool) => !withheld.has(tool) && (registry.release?.(tool) ?? false),
    claimSecrets(source, variables) {
      checkSecrets(variables);
      return registry.claimSecrets?.(source, variables) ?? {};
    },
    provide(services, source) {
      const added = serviceNames(services).filter((one) => !locked.services.includes(one));
      if (added.length > 0) refuse(`adds ${added.join(", ")}`);
      registry.provide?.(services, source);
    },
    registerLater(description, load) {
      registry.registerLater?.(description, (outer, signal) => load(guard(outer), signal));
    },
    onRefresh(refresh) {
      registry.onRefresh?.((outer) => refresh(guard(outer)));
    },
  });
  return {
    ...pack,
    withheld,
    register: (registry, host) => {
      checkSecrets(pack.secrets ?? []);
      return pack.register(guard(registry), host);
    },
  };
}
