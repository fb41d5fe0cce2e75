import { fileURLToPath } from "node:url";
import type { ToolPack } from "@agent/core";
import type { Task } from "./messages.js";

/** The pack of a task: its module, or the proxy of one that runs isolated. */
export async function loadPack({ module, isolated }: Pick<Task, "module" | "isolated">): Promise<ToolPack> {
  if (!isolated) return await import(module);
  const { grantsOf, Isolation } = await import("@agent/core/isolation");
  const isolation = new Isolation();
  const { level, detail } = await isolation.status();
  if (level !== "enforced") throw new Error(`isolation is ${detail}`);
  const entry = fileURLToPath(module);
  const first = await isolation.inspect(entry);
  // Tools may come from a server, which the pack reaches only with its grants.
  const isWhole = first.late.every(({ problem }) => problem === undefined);
  const manifest = isWhole ? first : await isolation.inspect(entry, { grants: grantsOf(first) });
  const name = manifest.packName ?? entry;
  const pack = { name, entry, manifest, grants: grantsOf(manifest) };
  return { ...isolation.pack({ ...pack, required: "enforced" }), packApiVersion: 1 };
}
