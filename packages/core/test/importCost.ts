import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const PACKAGES = new URL("../../", import.meta.url);

// Written without `console`, which loads streams itself.
const REPORT_MODULES = `
  const before = new Set(process.moduleLoadList);
  await import(process.argv[1]);
  const loaded = process.moduleLoadList.filter((module) => !before.has(module));
  process.getBuiltinModule("node:fs").writeSync(1, loaded.join("\\n"));
`;

// Runs in a process of its own: watching what is loaded loads modules, too.
const REPORT_FILES = `
  import { register } from "node:module";
  import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
  const { port1, port2 } = new MessageChannel();
  const hooks = \`
    let port;
    export function initialize(given) { port = given; }
    export function load(url, context, next) { port.postMessage(url); return next(url, context); }
  \`;
  register("data:text/javascript," + encodeURIComponent(hooks), { data: port2, transferList: [port2] });
  await import(process.argv[1]);
  for (let file; (file = receiveMessageOnPort(port1)); ) console.log(file.message);
`;

// What every program that starts would pay for, whether it needs it or not.
const HEAVY = /^NativeModule (stream|crypto|child_process|net|http|url|worker_threads|readline)$/;

/**
 * Importing a built entry, `tools-fs/dist/index.js`, reads files of these packages and of no others, and runs none of
 * Node's heavy modules. Counted, not timed: a machine is slow or fast, a list is right or wrong.
 */
export function expectLightImport(entry: string, packages: readonly string[]): void {
  const heavy = report(REPORT_MODULES, entry).filter((module) => HEAVY.test(module));
  expect(heavy).toEqual([]);
  const read = report(REPORT_FILES, entry).map((url) => url.replace(PACKAGES.href, "").replace(/\/.*/, ""));
  expect([...new Set(read)].sort()).toEqual([...packages].sort());
}

function report(program: string, entry: string): string[] {
  const file = fileURLToPath(new URL(entry, PACKAGES));
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program, file], {
    encoding: "utf8",
    // What a machine sets for every program, such as certificates, loads modules before the count begins.
    env: {},
  });
  return output.split("\n").filter(Boolean);
}
