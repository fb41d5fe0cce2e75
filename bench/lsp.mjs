// New errors after an edit: their cost compared with the language server's own time, and with an edit without the pack.
// Build first, and run node test/lsp/install.mjs; then: pnpm bench lsp
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { externalDirectory, isExternalInstalled } from "../test/external.mjs";
import { comparePairs, cpuTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";

const ROUNDS = 30;
const built = (path) => import(new URL(`../packages/${path}`, import.meta.url).href);
const { Agent } = await built("core/dist/index.js");
const { scriptedProvider } = await built("core/dist/replay.js");
const fs = await built("tools-fs/dist/index.js");
const lsp = await built("tools-lsp/dist/index.js");
const manifest = new URL("../test/lsp/package.json", import.meta.url);
if (!isExternalInstalled(manifest)) throw new Error("Run node test/lsp/install.mjs first.");

const root = realpathSync(mkdtempSync(join(tmpdir(), "bench-lsp-")));
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
const modules = join(externalDirectory(manifest), "node_modules");
mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
symlinkSync(join(modules, "typescript"), join(root, "node_modules/typescript"));
symlinkSync(join(modules, "typescript/bin/tsc"), join(root, "node_modules/.bin/tsc"));
writeFileSync(join(root, "tsconfig.json"), '{"compilerOptions":{"strict":true,"noEmit":true}}');
// A module of a usual size.
const code = Array.from({ length: 300 }, (_, i) => `export const value${i}: number = ${i};`).join("\n");
for (const name of ["ours.ts", "theirs.ts"])
  writeFileSync(join(root, name), `${code}\nexport const last: number = 0;\n`);
writeFileSync(join(root, "with.txt"), "value 0\n");
writeFileSync(join(root, "without.txt"), "value 0\n");

/** An agent whose next call can be chosen. */
function createCaller(packs) {
  let next;
  const answers = Array.from({ length: 2000 }, () => () => {
    const call = next;
    next = undefined;
    return call ? { calls: [call] } : "Done.";
  });
  const agent = new Agent(scriptedProvider(answers), { packs });
  const call = async (name, args) => {
    next = { name, args };
    for await (const event of agent.streamChat("Go.")) if (event.type === "tool_end") next = undefined;
  };
  return { agent, call };
}

const plain = createCaller([[fs, { root }]]);
const checked = createCaller([
  [fs, { root }],
  [lsp, { root, waitMs: 60_000 }],
]);

/** The same server, asked without anything in between. */
async function createServer(file) {
  const child = spawn(join(root, "node_modules/.bin/tsc"), ["--lsp", "--stdio"], {
    cwd: root,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map();
  let [input, id, version] = [Buffer.alloc(0), 0, 1];
  const send = (message) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    child.stdin.write(body);
  };
  const request = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      send({ id, method, params });
    });
  child.stdout.on("data", (chunk) => {
    input = Buffer.concat([input, chunk]);
    for (;;) {
      const end = input.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(input.subarray(0, end).toString())[1]);
      if (input.length < end + 4 + length) return;
      const message = JSON.parse(input.subarray(end + 4, end + 4 + length));
      input = input.subarray(end + 4 + length);
      if (message.method && message.id !== undefined) send({ id: message.id, result: [] });
      else waiting.get(message.id)?.(message.result);
    }
  });
  const uri = pathToFileURL(file).href;
  await request("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: { textDocument: { diagnostic: {} } },
  });
  send({ method: "initialized", params: {} });
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "typescript", version, text: code } },
  });
  return {
    async diagnose(text) {
      send({
        method: "textDocument/didChange",
        params: { textDocument: { uri, version: ++version }, contentChanges: [{ text }] },
      });
      return await request("textDocument/diagnostic", { textDocument: { uri } });
    },
    end: () => child.kill("SIGKILL"),
  };
}

const report = createReport("lsp", "New errors after an edit");

const server = await createServer(join(root, "theirs.ts"));
const edits = { ours: 0, theirs: 0 };
const edit = (caller, file, who) => {
  const [before, after] = [edits[who]++, edits[who]];
  return caller.call("edit_file", {
    path: file,
    old_text: `last: number = ${before};`,
    new_text: `last: number = ${after};`,
  });
};
const diagnosed = await comparePairs({
  rounds: ROUNDS,
  warmUp: 5,
  ours: () => edit(checked, "ours.ts", "ours"),
  theirs: async () => {
    await edit(plain, "theirs.ts", "theirs");
    await server.diagnose(`${code}\nexport const last: number = ${edits.theirs};\n`);
  },
});
const extra = diagnosed.ours.map((time, index) => time - diagnosed.theirs[index]);
report.add({
  work: "edit_file with diagnostics, TypeScript 7: beyond the edit and the server's own time",
  unit: "ms",
  reach: "≤ 50",
  values: extra,
});

const counts = { with: 0, without: 0 };
const editText = (caller, who) => {
  const [before, after] = [counts[who]++, counts[who]];
  return caller.call("edit_file", {
    path: `${who}.txt`,
    old_text: `value ${before}\n`,
    new_text: `value ${after}\n`,
  });
};
const unchecked = await comparePairs({
  rounds: 200,
  warmUp: 20,
  // Time of the processor: the work is less than a millisecond, and a busy machine adds several.
  measure: cpuTime,
  ours: () => editText(checked, "with"),
  theirs: () => editText(plain, "without"),
});
report.add({
  work: "edit_file in a language without a server",
  unit: "× CPU without the pack",
  reach: "≤ 1.05",
  values: unchecked.ratios,
});

server.end();
await checked.agent.dispose();
report.save();
process.exit();
