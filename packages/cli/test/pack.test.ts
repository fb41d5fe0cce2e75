import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryWorkspace } from "@agent/testing";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { packCheck } from "../src/commands/pack/check.js";
import { packList } from "../src/commands/pack/list.js";
import { packNew, SCAFFOLD_DESCRIPTION, toolPrefix } from "../src/commands/pack/new.js";
import { isProjectTrusted } from "../src/commands/pack/trusted.js";
import { EXIT } from "../src/process/exitCodes.js";
import { entryOf } from "../src/settings/packs/entry.js";
import type { TrustPolicy } from "../src/settings/trust/trust.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../", import.meta.url));

const NO = { grant: false };
const YES = { grant: true };

// What is trusted here must not get into the developer's own store.
beforeEach(async () => void vi.stubEnv("XDG_STATE_HOME", await temporaryDirectory()));
afterEach(() => vi.unstubAllEnvs());

async function temporaryDirectory(): Promise<string> {
  const workspace = await temporaryWorkspace();
  onTestFinished(() => workspace.remove());
  return workspace.path;
}

function collector() {
  const texts: string[] = [];
  return { print: (text: string) => void texts.push(text), output: () => texts.join("") };
}

describe("agent pack new", () => {
  test("writes a whole pack with no placeholder left", async () => {
    const directory = await temporaryDirectory();
    const { print, output } = collector();
    expect(await packNew({ name: "@me/agent-pack-weather", directory, print })).toBe(EXIT.done);
    expect(output()).toContain("cd agent-pack-weather\n  npm install\n  npm test");
    const target = join(directory, "agent-pack-weather");
    const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const names = files.map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1)).sort();
    expect(names).toEqual([
      ".changeset/config.json",
      ".changeset/first-release.md",
      ".github/workflows/ci.yml",
      ".gitignore",
      "LICENSE",
      "README.md",
      "evals/greet.eval.ts",
      "package.json",
      "src/index.ts",
      "src/tools/greet.ts",
      "src/tools/writeNote.ts",
      "test/pack.test.ts",
      "tsconfig.json",
      "tsup.config.ts",
    ]);
    for (const name of names) expect(readFileSync(join(target, name), "utf8")).not.toMatch(/__[A-Z_]+__/);
    expect(readFileSync(join(target, "src/tools/greet.ts"), "utf8")).toContain('name: "weather_greet"');
    const readme = readFileSync(join(target, "README.md"), "utf8");
    expect(readme).toMatch(/^# @me\/agent-pack-weather\n/);
    const table = readme.split("\n").filter((row) => /^\| (?:tool|`weather_)/.test(row));
    expect(new Set(table.map((row) => row.length)).size).toBe(1);
    // The release tools read nothing but this exact form.
    expect(readFileSync(join(target, ".changeset/first-release.md"), "utf8")).toMatch(
      /^---\n"@me\/agent-pack-weather": minor\n---\n/,
    );
  });

  test("uses tools of the versions this workspace is tested with", () => {
    const catalog = readFileSync(join(ROOT, "pnpm-workspace.yaml"), "utf8");
    const { devDependencies } = JSON.parse(
      readFileSync(join(PACKAGE, "templates/pack/_package.json"), "utf8"),
    );
    for (const [name, range] of Object.entries<string>(devDependencies)) {
      if (name.startsWith("@agent/")) continue;
      expect(catalog).toMatch(new RegExp(`"?${name}"?: ${range.slice(1).replaceAll(".", "\\.")}\n`));
    }
  });

  test.for(["", "Weather", "my pack", "../evil", "@me", "@me/", ".hidden", "a".repeat(215)])(
    "refuses the name %j and writes nothing",
    async (name) => {
      const directory = await temporaryDirectory();
      await expect(packNew({ name, directory, print: () => undefined })).rejects.toThrow(
        "is not a name npm accepts",
      );
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  test.for(["node_modules", "favicon.ico", "fs", "node-fs"])(
    "refuses %j only if Node or npm takes the name",
    async (name) => {
      const directory = await temporaryDirectory();
      const making = packNew({ name, directory, print: () => undefined });
      if (name === "node-fs") await expect(making).resolves.toBe(0);
      else await expect(making).rejects.toThrow("is taken by Node or npm");
    },
  );

  test("refuses a folder that is not empty", async () => {
    const directory = await temporaryDirectory();
    mkdirSync(join(directory, "weather"));
    writeFileSync(join(directory, "weather", "mine.txt"), "");
    await expect(packNew({ name: "weather", directory, print: () => undefined })).rejects.toThrow(
      "is not empty",
    );
    expect(readdirSync(join(directory, "weather"))).toEqual(["mine.txt"]);
  });

  test.for([
    ["weather", "weather"],
    ["@me/agent-pack-weather", "weather"],
    ["agent-tools-x.y", "x_y"],
    ["my-notes", "my_notes"],
    ["agent-pack-", "pack"],
    [`a${"b".repeat(100)}`, `a${"b".repeat(39)}`],
  ] as const)("starts the tools of %s with %s", ([name, prefix]) => {
    expect(toolPrefix(name)).toBe(prefix);
  });
});

describe("a scaffolded pack", () => {
  // Inside this package, so that its imports resolve without an install; the release test installs it for real.
  let pack = "";
  const run = (program: string, ...args: string[]) =>
    spawnSync(join(ROOT, "node_modules/.bin", program), args, { cwd: pack, encoding: "utf8" });

  beforeAll(async () => {
    mkdirSync(join(PACKAGE, ".turbo"), { recursive: true });
    const directory = mkdtempSync(join(PACKAGE, ".turbo/scaffold-"));
    await packNew({ name: "agent-pack-weather", directory, print: () => undefined });
    pack = join(directory, "agent-pack-weather");
    return () => rmSync(directory, { recursive: true, force: true });
  });

  test("builds, type-checks, passes its own tests and `agent pack check`, with no edit", async () => {
    const built = run("tsup");
    expect([built.status, built.status === 0 ? "" : built.stdout + built.stderr]).toEqual([0, ""]);
    const types = run("tsc", "--noEmit");
    expect([types.status, types.stdout]).toEqual([0, ""]);
    const tested = run("vitest", "run", "--root", ".");
    expect([tested.status, tested.status === 0 ? "" : tested.stdout + tested.stderr]).toEqual([0, ""]);
    const { print, output } = collector();
    expect(await packCheck({ directory: pack, trust: YES, print })).toBe(EXIT.done);
    expect(output()).toContain("weather_write_note (off by default, write)");
    expect(output()).toContain("No tool was called outside of the sandbox.");
  }, 180_000);
});

describe("agent pack check", () => {
  test("says what is wrong and how to fix it, with exit code 2", async () => {
    const directory = await temporaryDirectory();
    writeFileSync(join(directory, "bad.mjs"), "export function register() {}");
    const { print, output } = collector();
    expect(await packCheck({ target: "bad.mjs", directory, trust: YES, print })).toBe(EXIT.config);
    expect(output()).toMatch(/FAIL exports: .*\n.*\n.*\n +hint: export const packName/);
    expect(output()).toMatch(/\d checks failed\.\n$/);
  });

  test("says what package.json lacks for users, unless the package is private", async () => {
    const directory = await temporaryDirectory();
    const source = `export const packName = "mine"; export const packApiVersion = 1; export function register(registry) { registry.provide?.({ commands: [{ name: "x", description: "d", run: async () => ({ show: "" }) }] }); }`;
    writeFileSync(join(directory, "index.mjs"), source);
    const check = async (manifest: object) => {
      const whole = { name: "mine", version: "1.0.0", exports: "./index.mjs", ...manifest };
      writeFileSync(join(directory, "package.json"), JSON.stringify(whole));
      const { print, output } = collector();
      await packCheck({ directory, trust: YES, print, json: true });
      const found = JSON.parse(output()).checks.find(({ id }: { id: string }) => id === "package");
      return [found.status, found.findings.map(({ expected }: { expected: string }) => expected)];
    };
    expect(await check({ files: ["dist"] })).toEqual([
      "failed",
      ["a description of this pack", "a license", 'the entry in "files"', 'the keyword "agent-pack"'],
    ]);
    const good = { description: "d", license: "MIT", files: ["*.mjs"], keywords: ["agent-pack"] };
    expect(await check(good)).toEqual(["passed", []]);
    expect(await check({ ...good, description: SCAFFOLD_DESCRIPTION })).toEqual([
      "failed",
      ["a description of this pack"],
    ]);
    expect(await check({ private: true })).toEqual(["not_checked", []]);
  });

  test("finds an installed pack by its name, and gives JSON", async () => {
    const { print, output } = collector();
    expect(
      await packCheck({ target: "@agent/preset-default", directory: PACKAGE, json: true, trust: NO, print }),
    ).toBe(EXIT.done);
    expect(JSON.parse(output())).toMatchObject({ v: 1, pack: "@agent/preset-default", ok: true });
  });

  test("runs no code of a project before someone trusted exactly that code", async () => {
    const directory = await temporaryDirectory();
    const mark = join(directory, "ran");
    const pack = (text: string): void =>
      writeFileSync(
        join(directory, "pack.mjs"),
        `import { writeFileSync } from "node:fs";\ntry { writeFileSync(${JSON.stringify(mark)}, ""); } catch {}\nexport const packName = "it ran";\n${text}`,
      );
    pack("export function register() {}");
    const { print, output } = collector();
    const check = (trust: TrustPolicy) => packCheck({ target: "pack.mjs", directory, trust, print });
    await expect(check(NO)).rejects.toThrow(
      "pack.mjs has not been trusted on this machine, and a pack is code",
    );
    await expect(check({ grant: false, ask: async () => false })).rejects.toThrow("it was not trusted");
    const changing = check({
      grant: false,
      ask: async () => {
        pack("export function register() {} // changed");
        return true;
      },
    });
    await expect(changing).rejects.toThrow("the pack changed while you were asked");
    expect([existsSync(mark), output()]).toEqual([false, ""]);
    await check(YES);
    // In a sandbox it leaves no file.
    expect(output()).toContain("it ran: 0 tools");
    await expect(check(NO)).resolves.toBe(EXIT.config);
  });

  test("reports a pack that is not built yet", async () => {
    const directory = await temporaryDirectory();
    writeFileSync(join(directory, "package.json"), '{ "exports": "./dist/index.js" }');
    await expect(packCheck({ directory, trust: NO, print: () => undefined })).rejects.toThrow(
      "Build the pack first: npm run build",
    );
  });

  test("reports an unknown name with the next step", async () => {
    const directory = await temporaryDirectory();
    await expect(packCheck({ target: "nope", directory, trust: NO, print: () => undefined })).rejects.toThrow(
      '"nope" is neither a folder nor an installed pack. Run "agent pack list"',
    );
  });
});

describe("agent pack list", () => {
  async function projectWithPacks(): Promise<string> {
    const directory = await temporaryDirectory();
    const install = (name: string, source: string, keywords = ["agent-pack"]) => {
      const folder = join(directory, "node_modules", name);
      mkdirSync(folder, { recursive: true });
      const manifest = { name, version: "1.2.3", keywords, exports: "./x.mjs" };
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
      writeFileSync(join(folder, "x.mjs"), source);
    };
    const marker = JSON.stringify(join(directory, "was-run"));
    install(
      "@me/hello",
      `(await import("node:fs")).writeFileSync(${marker}, "");
      export const register = (registry) => registry.register({ name: "hello", capabilities: ["read"],
        getSchema: () => ({ type: "function", function: { name: "hello" } }), execute: async () => "" }, { enabled: false });`,
    );
    install("broken", "throw new Error('no luck');");
    install("no-pack", "", []);
    return directory;
  }

  test("shows what is installed here and came with the CLI; a broken pack does not hide the others", async () => {
    const directory = await projectWithPacks();
    const { print, output } = collector();
    expect(await packList({ directory, trusted: true, print })).toBe(EXIT.done);
    expect(output()).toContain("@me/hello 1.2.3: 1 tool\n  hello (off by default, read)\n");
    expect(output()).toContain("broken 1.2.3: no luck\n");
    expect(output()).not.toContain("no-pack");
    expect(output()).toMatch(/@agent\/preset-default [\d.]+: \d+ tools\n/);
  });

  test("runs nothing of a project that is not trusted", async () => {
    const directory = await projectWithPacks();
    const { print, output } = collector();
    expect(await isProjectTrusted(directory)).toBe(false);
    await packList({ directory, trusted: false, print });
    expect(output()).toContain("@me/hello 1.2.3: not loaded, because this project is not trusted.");
    expect(output()).toMatch(/@agent\/preset-default [\d.]+: \d+ tools\n/);
    expect(readdirSync(directory)).toEqual(["node_modules"]);
  });
});

test("follows exports in entryOf the way Node imports", async () => {
  const directory = await temporaryDirectory();
  const entry = (manifest: object) => {
    writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
    return entryOf(directory).slice(directory.length + 1);
  };
  expect(entry({})).toBe("index.js");
  expect(entry({ main: "lib/a.js" })).toBe("lib/a.js");
  expect(entry({ main: "lib/a.js", exports: "./b.js" })).toBe("b.js");
  expect(entry({ exports: { types: "./t.d.ts", require: "./c.cjs", import: "./c.js" } })).toBe("c.js");
  expect(entry({ exports: { ".": { types: "./t.d.ts", default: ["./d.js"] }, "./x": "./x.js" } })).toBe(
    "d.js",
  );
});
