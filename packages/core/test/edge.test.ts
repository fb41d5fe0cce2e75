import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./fixtures.js";

const SEEN = {
  events: ["tool_requested", "tool_start", "tool_end", "text", "done"],
  value: { deep: true },
  aborted: true,
  saved: "unsupported",
  id: 24,
};

/** The program and core as one file, for a runtime about which nothing is known. No warning is accepted. */
async function bundle(format: "esm" | "iife", after: string): Promise<string> {
  const { outputFiles, warnings } = await build({
    stdin: {
      contents: `import { useCore } from "./edgeProgram.mjs";\n${after}`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    format,
    platform: "neutral",
    write: false,
    logLevel: "silent",
  });
  // In node_modules, where a program has core, esbuild does not tell of imports it may leave out.
  expect(warnings.filter(({ id }) => id !== "ignored-bare-import")).toEqual([]);
  return outputFiles[0]?.text ?? "";
}

test("loads and chats where only the web's own functions exist", async () => {
  // Of one realm with the encoder that makes them.
  const web = {
    Uint8Array,
    AbortController,
    AbortSignal,
    EventTarget,
    TextEncoder,
    TextDecoder,
    URL,
    Headers,
    crypto,
    performance,
  };
  const context = vm.createContext({ ...web, setTimeout, clearTimeout, structuredClone, btoa, atob });
  const script = await bundle("iife", "globalThis.used = useCore();");
  vm.runInContext(script, context);
  expect(JSON.parse(JSON.stringify(await context.used))).toEqual(SEEN);
});

const hasWorkerd = spawnSync("workerd", ["--version"]).status === 0;
const note = hasWorkerd ? "" : " (skipped: workerd is not installed; npm install --global workerd)";

test.skipIf(!hasWorkerd).each([
  ["without nodejs_compat", ""],
  ["with nodejs_compat", '"nodejs_compat"'],
])(`core loads and chats in workerd %s${note}`, async (_name, flags) => {
  const directory = temporaryDirectory();
  const check = `
    export default {
      async test() {
        const { saved, ...seen } = await useCore();
        const { saved: _, ...wanted } = ${JSON.stringify(SEEN)};
        if (JSON.stringify(seen) !== JSON.stringify(wanted)) throw new Error(JSON.stringify({ ...seen, saved }));
      },
    };`;
  writeFileSync(join(directory, "worker.js"), await bundle("esm", check));
  const config = join(directory, "config.capnp");
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
     const config :Workerd.Config = (services = [(name = "main", worker = .main)]);
     const main :Workerd.Worker = (
       modules = [(name = "worker.js", esModule = embed "worker.js")],
       compatibilityDate = "2025-09-01",
       compatibilityFlags = [${flags}],
     );`,
  );
  const { status, stderr } = spawnSync("workerd", ["test", config], { encoding: "utf8" });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
});
