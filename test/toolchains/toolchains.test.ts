import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, createApp, isInstalled, PACKAGES, startNext, toolchains, why } from "./app.js";

let app: App;
/** What the tools answer in plain Node. */
let expected: string;

beforeAll(async () => {
  if (!isInstalled) return;
  app = createApp("tools", ["core", "tools-fs", "tools-search", "tools-bash", "preset-default"]);
  expected = await app.run(process.execPath, "main.mjs");
});
afterAll(() => app?.remove());

describe.skipIf(!isInstalled)(`the built-in tools${why}`, () => {
  test("answer in plain Node", () => {
    expect(expected).toContain("read_file: one\nthree");
    // A look-behind is matched only in a thread.
    expect(expected.match(/search_text: ROOT\/d\/a\.txt:2:three/g)).toHaveLength(3);
    expect(expected).toContain('"stdout":"hello","stderr":"oops","exit_code":3');
  });

  test.each([
    ["esm", "mjs"],
    ["cjs", "cjs"],
  ])("answer the same in an esbuild bundle: %s", async (format, extension) => {
    const outfile = `esbuild/main.${extension}`;
    const flags = ["--bundle", "--platform=node", "--log-level=warning"];
    const built = await app.tool(
      "esbuild",
      "main.mjs",
      ...flags,
      `--format=${format}`,
      `--outfile=${outfile}`,
    );
    expect(built).toBe("");
    expect(await app.run(process.execPath, outfile)).toBe(expected);
  });

  test("answer the same in a webpack bundle", async () => {
    const flags = [
      "--mode=production",
      "--target=node",
      "--output-path=webpack",
      "--output-filename=main.cjs",
    ];
    expect(await app.tool("webpack", "--entry=./main.mjs", ...flags)).toMatch(/compiled successfully/);
    expect(await app.run(process.execPath, "webpack/main.cjs")).toBe(expected);
  });

  test("answer the same in a Rollup bundle", async () => {
    const flags = ["--plugin=node-resolve", "--format=es", "--dir=rollup", "--failAfterWarnings"];
    await app.tool("rollup", "main.mjs", ...flags);
    expect(await app.run(process.execPath, "rollup/main.js")).toBe(expected);
  });

  test.each([
    ["with the packages external, its default", "export default {};"],
    ["with all packages inside", "export default { ssr: { noExternal: true } };"],
  ])("answer the same in a Vite bundle %s", async (_, config) => {
    writeFileSync(join(app.directory, "vite.config.mjs"), config);
    const flags = ["--ssr=main.mjs", "--outDir=vite", "--emptyOutDir", "--logLevel=warn"];
    expect(await app.tool("vite", "build", ...flags)).toBe("");
    expect(await app.run(process.execPath, "vite/main.js")).toBe(expected);
  });

  test("answer the same in a Next.js route, built by Turbopack", async () => {
    const next = join(app.directory, "next");
    cpSync(join(app.directory, "tools.mjs"), join(next, "tools.mjs"));
    const built = await app.tool("next", "build", "next");
    expect(built).toContain("Compiled successfully");
    expect(built).not.toMatch(/warn|⚠/i);
    const server = await startNext(next);
    try {
      expect(await (await fetch(`${server.address}/api/tools`)).text()).toBe(expected.trimEnd());
      expect(server.said()).toBe("");
    } finally {
      await server.stop();
    }
  });

  test.each(["node20", "node22", "node24"])("answer the same in %s", async (name) => {
    expect(await app.run(programOf(name), "main.mjs")).toBe(expected);
  });

  test("answer the same in Deno", async () => {
    expect(await app.tool("deno", "run", "--allow-all", "--quiet", "main.mjs")).toBe(expected);
  });

  test("answer the same in Bun, where run_bash may refuse but never claims a success it did not see", async () => {
    const [lines, others] = [await app.tool("bun", "main.mjs"), expected].map((text) => text.split("\n"));
    const shell = (line: string): boolean => line.startsWith("run_bash: ");
    expect(lines?.filter((line) => !shell(line))).toEqual(others?.filter((line) => !shell(line)));
    const answer = lines?.find(shell);
    if (!answer?.startsWith("run_bash: Error executing run_bash: ")) expect(answer).toBe(others?.find(shell));
  });
});

test.skipIf(!isInstalled)(
  `an expression that backtracks without end does not hang a bundled program${why}`,
  async () => {
    writeFileSync(join(app.directory, "line.txt"), `${"x".repeat(60)}\n`);
    await app.tool("esbuild", "hostile.mjs", "--bundle", "--platform=node", "--outfile=hostile.cjs");
    expect(await app.run(process.execPath, "hostile.cjs", "line.txt")).toContain("backtracks without end");
  },
);

test.skipIf(!isInstalled).each(["node20", "node22", "node24"])(
  `a worker thread that runs commands closes no file of the program around it: %s${why}`,
  async (name) => {
    const program = join(PACKAGES, "tools-bash", "test", "workerThread.mjs");
    const printed = await app.run(programOf(name), program);
    expect(JSON.parse(printed)).toEqual({ printed: 30, files: 120, open: 120 });
  },
);

function programOf(name: string): string {
  return join(toolchains, "node_modules", name, "bin", "node");
}
