import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const execute = promisify(execFile);
const APPS = fileURLToPath(new URL("apps", import.meta.url));
const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));
const INSTALLED = ["core", "tools-fs", "tools-search", "tools-bash", "preset-default"];
const MANIFEST = new URL("package.json", import.meta.url);
const toolchains = externalDirectory(MANIFEST);
const isInstalled = isExternalInstalled(MANIFEST);
const why = isInstalled ? "" : " (skipped: run `node test/toolchains/install.mjs` first)";

/** A program that uses the packages as a user has them, in a directory of its own. */
let app: string;
/** What the tools answer in plain Node. */
let expected: string;

beforeAll(async () => {
  if (!isInstalled) return;
  app = realpathSync(mkdtempSync(join(toolchains, "app-")));
  cpSync(APPS, app, { recursive: true });
  for (const name of INSTALLED) {
    const target = join(app, "node_modules", "@agent", name);
    mkdirSync(target, { recursive: true });
    cpSync(join(PACKAGES, name, "dist"), join(target, "dist"), { recursive: true });
    cpSync(join(PACKAGES, name, "package.json"), join(target, "package.json"));
  }
  expected = await run(process.execPath, "main.mjs");
});
afterAll(() => {
  if (isInstalled) rmSync(app, { recursive: true, force: true, maxRetries: 3 });
});

/** Runs a program in the app's directory. Everything it prints is its result: a warning is one too many. */
async function run(program: string, ...args: string[]): Promise<string> {
  // In CI, Next.js warns of a missing build cache: that is about the machine, not about the packages.
  const { CI: _, ...env }: NodeJS.ProcessEnv = process.env;
  const options = { cwd: app, env: { ...env, NEXT_TELEMETRY_DISABLED: "1" } };
  const { stdout, stderr } = await execute(program, args, options);
  return stdout + stderr;
}

/** Runs a program of the toolchains. */
function tool(name: string, ...args: string[]): Promise<string> {
  return run(join(toolchains, "node_modules", ".bin", name), ...args);
}

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
    expect(await tool("esbuild", "main.mjs", ...flags, `--format=${format}`, `--outfile=${outfile}`)).toBe(
      "",
    );
    expect(await run(process.execPath, outfile)).toBe(expected);
  });

  test("answer the same in a webpack bundle", async () => {
    const flags = [
      "--mode=production",
      "--target=node",
      "--output-path=webpack",
      "--output-filename=main.cjs",
    ];
    expect(await tool("webpack", "--entry=./main.mjs", ...flags)).toMatch(/compiled successfully/);
    expect(await run(process.execPath, "webpack/main.cjs")).toBe(expected);
  });

  test("answer the same in a Rollup bundle", async () => {
    const flags = ["--plugin=node-resolve", "--format=es", "--dir=rollup", "--failAfterWarnings"];
    await tool("rollup", "main.mjs", ...flags);
    expect(await run(process.execPath, "rollup/main.js")).toBe(expected);
  });

  test.each([
    ["with the packages external, its default", "export default {};"],
    ["with all packages inside", "export default { ssr: { noExternal: true } };"],
  ])("answer the same in a Vite bundle %s", async (_, config) => {
    writeFileSync(join(app, "vite.config.mjs"), config);
    const flags = ["--ssr=main.mjs", "--outDir=vite", "--emptyOutDir", "--logLevel=warn"];
    expect(await tool("vite", "build", ...flags)).toBe("");
    expect(await run(process.execPath, "vite/main.js")).toBe(expected);
  });

  test("answer the same in a Next.js route, built by Turbopack", async () => {
    cpSync(join(app, "tools.mjs"), join(app, "next", "tools.mjs"));
    const built = await tool("next", "build", "next");
    expect(built).toContain("Compiled successfully");
    expect(built).not.toMatch(/warn|⚠/i);
    expect(await answerOfNext()).toBe(expected.trimEnd());
  });

  test("answer the same in Deno", async () => {
    expect(await tool("deno", "run", "--allow-all", "--quiet", "main.mjs")).toBe(expected);
  });

  test("answer the same in Bun, where run_bash may refuse but never claims a success it did not see", async () => {
    const [lines, others] = [await tool("bun", "main.mjs"), expected].map((text) => text.split("\n"));
    const shell = (line: string): boolean => line.startsWith("run_bash: ");
    expect(lines?.filter((line) => !shell(line))).toEqual(others?.filter((line) => !shell(line)));
    const answer = lines?.find(shell);
    if (!answer?.startsWith("run_bash: Error executing run_bash: ")) expect(answer).toBe(others?.find(shell));
  });
});

test.skipIf(!isInstalled)(
  `an expression that backtracks without end does not hang a bundled program${why}`,
  async () => {
    writeFileSync(join(app, "line.txt"), `${"x".repeat(60)}\n`);
    await tool("esbuild", "hostile.mjs", "--bundle", "--platform=node", "--outfile=hostile.cjs");
    expect(await run(process.execPath, "hostile.cjs", "line.txt")).toContain("backtracks without end");
  },
);

/** What the route answers, from a server that is started for one request. */
async function answerOfNext(): Promise<string> {
  const next = join(toolchains, "node_modules", "next", "dist", "bin", "next");
  const server = spawn(process.execPath, [next, "start", "next", "--port=0", "--hostname=127.0.0.1"], {
    cwd: app,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  let said = "";
  server.stderr.on("data", (chunk) => {
    said += chunk;
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const [address] = /http:\/\/[\d.]+:\d+/.exec(line) ?? [];
      if (address === undefined) continue;
      const answer = await (await fetch(`${address}/api/tools`)).text();
      expect(said).toBe("");
      return answer;
    }
    throw new Error(`Next.js did not start: ${said}`);
  } finally {
    server.kill();
    await exited;
  }
}
