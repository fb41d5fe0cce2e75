import type { BackgroundJobs } from "@agent/core";
import type { LoadedPack } from "./load.js";

/** The background work of all packs as one. */
export function allJobs(packs: readonly LoadedPack[]): BackgroundJobs {
  const sources = packs.flatMap(({ module }) => (module?.jobs ? [module.jobs] : []));
  return {
    list: () => sources.flatMap((jobs) => jobs.list()),
    async end(id) {
      for (const jobs of sources) {
        if (await jobs.end(id)) return true;
      }
      return false;
    },
    async endProcess(pid) {
      for (const jobs of sources) {
        if (await jobs.endProcess?.(pid)) return true;
      }
      return false;
    },
  };
}
