// An agent with an isolated pack in the middle of a call. Prints the processes of the pack and waits to be killed.
import { readFileSync } from "node:fs";
import { registerPack, ToolRegistry } from "../../dist/index.js";
import { Isolation } from "../../dist/isolation.js";

const entry = process.argv[2] ?? "";
const isolation = new Isolation();
const manifest = await isolation.inspect(entry);
const registry = new ToolRegistry();
registerPack(
  registry,
  isolation.pack({ name: "hostile", entry, manifest, grants: {}, required: "enforced" }),
);
await registry.run("fine");
void registry.run("loop");
const childOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0];
const outer = childOf(process.pid);
process.stdout.write(`${outer} ${childOf(outer)}\n`);
