import { type FSWatcher, watch } from "node:fs";
import { register } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { CallHooks, PackRegistry, ToolCapability, ToolPack, ToolRegistry } from "@agent/core";
import { errorMessage, LONGEST_TIMER_MS, quote } from "@agent/core/toolkit";
import { isLocal } from "../../settings/packs/resolve.js";
import type { LoadedPack } from "./load.js";

// A module that is imported with this query passes it on to the files of its folder, so that Node reloads them, too.
const QUERY = "agentReload";
const CHANGES_FILES: readonly ToolCapability[] = ["write", "destroy", "execute"];
const PASS_ON = `
  export async function resolve(specifier, context, next) {
    const resolved = await next(specifier, context);
    const version = new URL(context.parentURL ?? "data:,").searchParams.get(${JSON.stringify(QUERY)});
    const isOwn = version && resolved.url.startsWith("file:") && !resolved.url.includes("/node_modules/");
    return isOwn ? { ...resolved, url: resolved.url.split("?")[0] + "?${QUERY}=" + version } : resolved;
  }
`;

export interface WatchedPacks {
  /** Reloads changed packs before the next message. */
  readonly hooks: CallHooks;
  close(): void;
}

/**
 * Watches the folders of local packs. A changed pack is reloaded with the next message: its tools are replaced. One
 * that fails to load keeps its tools until it can be loaded. Commands, hooks and other services are not replaced. Its
 * code runs with the rights of the user, so once a call could have changed it, `confirm` is called before it is loaded.
 */
export function watchPacks(
  packs: readonly LoadedPack[],
  registry: ToolRegistry,
  registerPack: (pack: LoadedPack) => void,
  onNotice: (message: string) => void,
  confirm: (name: string, signal: AbortSignal) => Promise<boolean>,
  load: (url: string) => Promise<ToolPack> = (url) => import(url),
): WatchedPacks {
  const changed = new Set<LoadedPack>();
  const watchers: FSWatcher[] = [];
  let version = 0;
  // Never reset: a command may have left a process running that changes files later.
  let couldBeModels = false;
  for (const pack of packs) {
    if (pack.file === undefined || !isLocal(pack.name)) continue;
    watchers.push(watch(dirname(pack.file), { recursive: true }, () => void changed.add(pack)));
  }
  const tools = (): Map<string, string | undefined> =>
    new Map(registry.describeTools().map(({ name, source }) => [name, source]));
  const replace = (pack: LoadedPack, module: ToolPack): void => {
    const source = pack.module?.packName ?? pack.name;
    for (const [name, owner] of tools()) if (owner === source) registry.unregister(name);
    const next = { ...pack, module: withoutServices(module) };
    registerPack(next);
    if (next.problem !== undefined) throw new Error(next.problem);
  };
  const reload = async (pack: LoadedPack): Promise<void> => {
    try {
      if (version++ === 0) register(`data:text/javascript,${encodeURIComponent(PASS_ON)}`);
      const url = `${pathToFileURL(pack.file ?? "").href}?${QUERY}=${version}`;
      const loaded = await load(url);
      try {
        replace(pack, pack.guard?.(loaded) ?? loaded);
      } catch (error) {
        if (pack.module) replace(pack, pack.module);
        throw error;
      }
      onNotice(`The pack ${quote(pack.name)} was loaded again.`);
    } catch (error) {
      onNotice(`The pack ${quote(pack.name)} has changed and cannot be loaded: ${errorMessage(error)}`);
    }
  };
  return {
    hooks: {
      name: "watched packs",
      // The user has to answer meanwhile.
      timeoutMs: LONGEST_TIMER_MS,
      beforeRun({ capabilities }) {
        couldBeModels ||= CHANGES_FILES.some((one) => capabilities.includes(one));
      },
      async onMessage({ signal }) {
        for (const pack of [...changed]) {
          changed.delete(pack);
          // Its code must not get into this process.
          if (pack.isolated) onNotice(isolatedNotice(pack.name));
          else if (!couldBeModels || (await confirm(pack.name, signal))) await reload(pack);
          else onNotice(`The pack ${quote(pack.name)} has changed and was not loaded again.`);
        }
        return undefined;
      },
    },
    close: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

function isolatedNotice(name: string): string {
  return `The pack ${quote(name)} has changed. It runs in its own process, so the change takes effect with the next start.`;
}

/** A pack that only registers tools: its services from the start are still there. */
function withoutServices(pack: ToolPack): ToolPack {
  if (typeof pack.register !== "function") return pack;
  const only = (registry: PackRegistry): PackRegistry => ({ ...registry, provide: () => undefined });
  return { ...pack, register: (registry, host) => pack.register(only(registry), host) };
}
