import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeFifo, temporaryDirectory } from "./support.js";

const pack = new URL("../dist/index.js", import.meta.url);

test("fails with a message for a call without a free file descriptor, and the next call works", () => {
  const script = `
    import { closeSync, openSync } from "node:fs";
    const { listDirTool } = await import(${JSON.stringify(pack.href)});
    const tool = listDirTool();
    const open = [];
    try { for (;;) open.push(openSync(".", "r")); } catch {}
    const first = await tool.execute({}).catch((error) => error.message);
    for (const descriptor of open) closeSync(descriptor);
    console.log(first, await tool.execute({}).then(() => "listed"));
  `;
  const node = `ulimit -n 40 && exec "$0" --input-type=module -e "$1"`;
  expect(execFileSync("bash", ["-c", node, process.execPath, script], { encoding: "utf8" })).toBe(
    "Cannot list .: too many files are open (EMFILE). listed\n",
  );
});

test.each([".git", ".git/commondir"])("does not wait on a write for a FIFO in the place of %s", (name) => {
  const directory = temporaryDirectory();
  if (name !== ".git") mkdirSync(join(directory, ".git"));
  makeFifo(join(directory, name));
  const script = `
    const { writeFileTool } = await import(${JSON.stringify(pack.href)});
    console.log(await writeFileTool().execute({ path: "a.txt", content: "x" }));
  `;
  const node = ["--input-type=module", "-e", script];
  const output = execFileSync(process.execPath, node, { cwd: directory, encoding: "utf8", timeout: 30_000 });
  expect(output).toContain("Created a.txt");
});

test("works in a single-file bundle", () => {
  const directory = temporaryDirectory();
  writeFileSync(
    join(directory, "app.js"),
    `import { listDirTool } from ${JSON.stringify(fileURLToPath(pack))};
     listDirTool().execute({ path: process.argv[2] }).then(console.log);`,
  );
  writeFileSync(
    join(directory, "tsup.config.mjs"),
    `export default {
      entry: ["app.js"], format: ["cjs"], platform: "node", noExternal: [/.*/], outDir: "out", silent: true };`,
  );
  execFileSync("tsup", [], { cwd: directory, stdio: "pipe" });
  const out = join(directory, "out");
  const [bundle = ""] = readdirSync(out);
  const listed = execFileSync(process.execPath, [join(out, bundle), out], { encoding: "utf8" });
  expect(listed).toBe(`${bundle}\n`);
});
