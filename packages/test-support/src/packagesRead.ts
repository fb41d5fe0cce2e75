import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const PACKAGES = new URL("../../", import.meta.url);

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

/** Importing a built entry, `tools-fs/dist/index.js`, reads files of these packages and of no others. */
export function expectPackagesRead(entry: string, packages: readonly string[]): void {
  const read = filesReadBy(entry)
    .filter((url) => !url.startsWith("node:"))
    .map((url) => url.replace(PACKAGES.href, "").replace(/\/.*/, ""));
  expect([...new Set(read)].sort()).toEqual([...packages].sort());
}

function filesReadBy(entry: string): string[] {
  const file = fileURLToPath(new URL(entry, PACKAGES));
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", REPORT_FILES, file], {
    encoding: "utf8",
  });
  return output.split("\n").filter(Boolean);
}
