import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const pack = new URL("../dist/index.js", import.meta.url);

test("a first call for which no file descriptor is left fails, and the next one works", () => {
  const script = `
    import { closeSync, openSync } from "node:fs";
    const { ListDirTool } = await import(${JSON.stringify(pack.href)});
    const tool = new ListDirTool();
    const open = [];
    try { for (;;) open.push(openSync(".", "r")); } catch {}
    const first = await tool.execute({}).catch((error) => error.code);
    for (const descriptor of open) closeSync(descriptor);
    console.log(first, await tool.execute({}).then(() => "listed"));
  `;
  const node = `ulimit -n 40 && exec "$0" --input-type=module -e "$1"`;
  expect(execFileSync("bash", ["-c", node, process.execPath, script], { encoding: "utf8" })).toBe(
    "EMFILE listed\n",
  );
});
