import { Collection } from "./collect.js";
import type { LateTools, Task } from "./messages.js";
import { describeTool } from "./seenTool.js";

/** Registers the pack and loads the tools that it announced for later. */
export async function loadLateTools({ module, options, settleMs }: Task): Promise<LateTools> {
  const collection = new Collection(await import(module), options);
  const known = new Set(collection.tools);
  const failures = await collection.loadLate(settleMs);
  const tools = collection.tools.filter((entry) => !known.has(entry)).map(describeTool);
  await collection.dispose(settleMs).catch(() => undefined); // the check of leftovers reports it
  return { tools, failures };
}
