import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { makeTree } from "./tree.js";

const pack = new URL("../dist/index.js", import.meta.url);

test.each([
  ["search_text", "searchTextTool", { query: "token", paths: ["."] }, "a.txt:1:one token"],
  ["search_files", "searchFilesTool", { pattern: "*.txt" }, "a.txt"],
])("%s: causes no lasting harm if a first call has too few file descriptors", (_, tool, args, line) => {
  const cwd = makeTree({ "a.txt": "one token\n" });
  // Each number of descriptors that are left gets the call stuck at another place.
  const script = `
    import { closeSync, openSync } from "node:fs";
    const { ${tool} } = await import(${JSON.stringify(pack.href)});
    const tool = ${tool}();
    const taken = [];
    try { for (;;) taken.push(openSync(".", "r")); } catch {}
    for (const descriptor of taken.splice(0, Number(process.argv[1]))) closeSync(descriptor);
    await tool.execute(${JSON.stringify(args)}).catch(() => {});
    for (const descriptor of taken) closeSync(descriptor);
    console.log(await tool.execute(${JSON.stringify(args)}));
  `;
  const node = `ulimit -n 64 && exec "$0" --input-type=module -e "$1" "$2"`;
  for (let left = 0; left < 12; left++) {
    const command = ["-c", node, process.execPath, script, String(left)];
    const output = execFileSync("bash", command, { cwd, encoding: "utf8" });
    expect(output.split("\n")[0], `${left} descriptors`).toBe(line);
  }
});
