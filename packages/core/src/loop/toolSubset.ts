import { unavailable } from "../tools/preparedCall.js";
import type { LoopTools } from "./exchange.js";

/** The tools with these names, on and off as they are in the whole. A call of another one is refused. */
export function toolSubset(tools: LoopTools, names: ReadonlySet<string>): LoopTools {
  return {
    prepare: async (name, args, options) => {
      if (names.has(name)) return await tools.prepare(name, args, options);
      return { ...unavailable("not_available", name), durationMs: 0 };
    },
    getSharedSchemas: () => tools.getSharedSchemas().filter(({ function: { name } }) => names.has(name)),
    getCapabilities: (name) => tools.getCapabilities(name),
    isRepeatable: (name) => tools.isRepeatable(name),
    aboutCall: (name, args) => tools.aboutCall(name, args),
    titleFrom: (name) => tools.titleFrom(name),
    redact: (text) => tools.redact(text),
  };
}
