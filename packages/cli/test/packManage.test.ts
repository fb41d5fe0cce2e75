import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { hasTerminal, packSource, Sandbox } from "./agent.js";
import { serve } from "./servers.js";

const NAME = "agent-pack-greeter";

/** A registry with one package in it; resolves to the environment npm needs. */
async function registryWith(
  box: Sandbox,
  files: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const folder = join(box.root, "package");
  mkdirSync(folder);
  const manifest = {
    name: NAME,
    version: "1.2.3",
    type: "module",
    exports: "./index.js",
    keywords: ["agent-pack"],
    description: "Says hello",
    scripts: { postinstall: "touch ran" },
  };
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    writeFileSync(join(folder, path), text);
  }
  execFileSync("tar", ["-czf", join(box.root, "package.tgz"), "-C", box.root, "package"]);
  const tarball = readFileSync(join(box.root, "package.tgz"));
  const { origin } = await serve((request, response) => {
    if (request.url?.endsWith(".tgz")) return response.end(tarball);
    response.setHeader("content-type", "application/json");
    if (request.url?.startsWith("/-/v1/search")) {
      const other = { ...manifest, name: "left-pad", keywords: [] };
      const objects = [manifest, other].map((found) => ({
        package: { ...found, date: "2026-01-01", links: {}, maintainers: [] },
      }));
      return response.end(JSON.stringify({ objects, total: 2 }));
    }
    if (request.url !== `/${NAME}`) {
      response.statusCode = 404;
      return response.end("{}");
    }
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const version = { ...manifest, dist: { tarball: `${origin}/${NAME}.tgz`, integrity } };
    response.end(
      JSON.stringify({ name: NAME, "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } }),
    );
  });
  return { npm_config_registry: origin, npm_config_update_notifier: "false" };
}

const PACK = { "index.js": packSource("greet") };

describe("agent pack search, add and remove", () => {
  test("search finds packages with the keyword, and no others", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const { code, stdout } = await box.run(["pack", "search", "hello"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain(`${NAME}  1.2.3  Says hello\n`);
    expect(stdout).not.toContain("left-pad");
  });

  test.each(["add", "remove"])(
    "%s runs nothing of a stranger's project: no install script of its dependencies, no git that its .npmrc names",
    async (action) => {
      const box = new Sandbox();
      const env = await registryWith(box, PACK);
      const folder = box.write(
        "evil/package.json",
        JSON.stringify({
          name: "evil",
          version: "1.0.0",
          scripts: { postinstall: `touch ${box.root}/script-ran` },
        }),
      );
      execFileSync("tar", [
        ...["-czf", join(box.project, "evil.tgz"), "--transform", "s,^,package/,"],
        ...["-C", dirname(folder), "package.json"],
      ]);
      chmodSync(box.write("git.sh", `#!/bin/sh\ntouch ${box.root}/git-ran\nexit 1\n`), 0o755);
      box.write(`node_modules/${NAME}/package.json`, JSON.stringify({ name: NAME, version: "1.2.3" }));
      const project = (dependencies: object): void => {
        box.write("package.json", JSON.stringify({ dependencies: { [NAME]: "1.2.3", ...dependencies } }));
      };
      const args = ["pack", action, NAME, ...(action === "add" ? ["--yes"] : [])];
      project({ evil: "file:./evil.tgz" });
      await box.run(args, { env });
      expect(existsSync(join(box.project, "node_modules/evil"))).toBe(true);
      box.write(".npmrc", `git=${box.project}/git.sh\nignore-scripts=false\n`);
      project({ other: `git+file://${box.project}/nowhere` });
      box.write(`node_modules/${NAME}/package.json`, JSON.stringify({ name: NAME, version: "1.2.3" }));
      expect((await box.run(args, { env })).stderr).toContain("npm error");
      expect(["script-ran", "git-ran"].filter((name) => existsSync(join(box.root, name)))).toEqual([]);
    },
  );

  test.runIf(hasTerminal())(
    "add asks before code of the pack runs, and says that the project may have another registry",
    async () => {
      const box = new Sandbox();
      const ran = join(box.root, "ran");
      const code = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(ran)}, "");\n`;
      const { npm_config_registry: registry } = await registryWith(box, {
        "index.js": code + PACK["index.js"],
      });
      box.write("package.json", "{}");
      box.write(".npmrc", `registry=${registry}\nupdate-notifier=false\n`);
      const no = await box.runInTerminal(["pack", "add", NAME], [["Load it?", "n"]]);
      expect(no.stdout).toMatch(/\.npmrc"? may say where npm takes packages from\./);
      expect(no.stdout).toContain("nothing of it ran");
      expect(existsSync(ran)).toBe(false);
      await box.runInTerminal(
        ["pack", "add", NAME],
        [
          ["Load it?", "y"],
          ["Select it in", "n"],
        ],
      );
      expect(existsSync(ran)).toBe(true);
    },
  );

  test("add installs, shows the tools, and selects the pack; remove undoes it", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", "{}");
    const added = await box.run(["pack", "add", NAME, "--yes"], { env });
    expect(added.stdout).toContain(`${NAME} brings:\n  greet (on; read)\n`);
    expect(added.code).toBe(0);
    expect(JSON.parse(readFileSync(join(box.project, "agent.config.json"), "utf8"))).toEqual({
      packs: ["@agent/preset-default", NAME],
    });
    expect(existsSync(join(box.project, "node_modules", NAME, "ran"))).toBe(false);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect(removed.code).toBe(0);
    expect(existsSync(join(box.project, "node_modules", NAME))).toBe(false);
    expect(JSON.parse(readFileSync(join(box.project, "agent.config.json"), "utf8"))).toEqual({
      packs: ["@agent/preset-default"],
    });
    expect((await box.run(["pack", "remove", NAME], { env })).code).toBe(2);
  });

  test("--user installs for every project of the person", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    expect((await box.run(["pack", "add", NAME, "--user", "--yes"], { env })).code).toBe(0);
    expect(existsSync(join(box.project, "node_modules"))).toBe(false);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    expect((await box.run(["pack", "remove", NAME, "--user"], { env })).code).toBe(0);
    expect((await box.run(["tool", "run", "greet"])).code).toBe(2);
  });

  test.each([
    [
      "agent.config.yaml",
      "# ours\nmodel: m # fast\n",
      /# ours\nmodel: m # fast\npacks:\n {2}- "@agent\/preset-default"\n/,
    ],
    ["agent.config.ts", "export default { model: 'm' };\n", /packs: \["@agent\/preset-default"\]/],
  ])("%s is edited, stays trusted, and what was in it stays", async (file, before, after) => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", "{}");
    const path = box.write(file, before);
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    const added = await box.run(["pack", "add", NAME, "--yes"], { env });
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(`Selected in ${path}`)]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
    expect((await box.run(["pack", "remove", NAME], { env })).code).toBe(0);
    expect(readFileSync(path, "utf8")).not.toContain(NAME);
    expect(readFileSync(path, "utf8")).toMatch(after);
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("a config in package.json is edited in place, and stays trusted", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const path = box.write("package.json", '{\n\t"name": "mine",\n\t"agent": {\n\t\t"model": "m"\n\t}\n}\n');
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    expect((await box.run(["pack", "add", NAME, "--yes"], { env })).stdout).toContain(`Selected in ${path}`);
    const edited = readFileSync(path, "utf8");
    expect(edited).toContain(
      `\t"agent": {\n\t\t"model": "m",\n\t\t"packs": [\n\t\t\t"@agent/preset-default",\n\t\t\t"${NAME}"\n\t\t]\n\t}`,
    );
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    expect((await box.run(["pack", "remove", NAME], { env })).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      name: "mine",
      agent: { model: "m", packs: ["@agent/preset-default"] },
    });
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("remove of a pack that package.json has as a dependency alone leaves the config as it is", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const path = box.write("package.json", `{"agent":{"model":"m"}}`);
    const npm = ["install", "--ignore-scripts", NAME];
    await promisify(execFile)("npm", npm, { cwd: box.project, env: { ...process.env, ...env } });
    expect(readFileSync(path, "utf8")).toContain(NAME);
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).not.toContain("Taken out of");
    expect(JSON.parse(readFileSync(path, "utf8")).agent).toEqual({ model: "m" });
  });

  test.each([
    ["pnpm-lock.yaml", "pnpm"],
    ["yarn.lock", "yarn"],
    ["bun.lock", "bun"],
  ])("beside %s, npm is not run: %s installs, and the pack is selected then", async (lock, program) => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", "{}");
    box.write(lock, "");
    const refused = await box.run(["pack", "add", NAME, "--yes"], { env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`Run: ${program} add ${NAME}, then again: agent pack add ${NAME}\n`);
    expect(existsSync(join(box.project, "package-lock.json"))).toBe(false);

    const folder = join(box.project, "node_modules", NAME);
    cpSync(join(box.root, "package"), folder, { recursive: true });
    const added = await box.run(["pack", "add", NAME, "--yes"], { env });
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("  greet (on; read)\n")]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect(removed.stdout).toContain(`To uninstall it: ${program} remove ${NAME}\n`);
    expect(existsSync(folder)).toBe(true);
    expect((await box.run(["tool", "run", "greet"])).code).toBe(2);
    expect(existsSync(join(box.project, "package-lock.json"))).toBe(false);
  });

  test("a package that is no pack is named, and not selected", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, { "index.js": "export const x = 1;" });
    const { code, stderr } = await box.run(["pack", "add", NAME, "--yes"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(`${NAME} is installed, and is no pack that works`);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });

  test.each(["--registry=http://evil", "../x", "a b", "git+ssh://x"])(
    "%s is no name to install",
    async (name) => {
      const { code, stderr } = await new Sandbox().run(["pack", "add", "--yes", "--", name]);
      expect(code).toBe(2);
      expect(stderr).toContain("is no package name");
    },
  );

  test("without a terminal and without --yes nothing is installed", async () => {
    const box = new Sandbox();
    const { code, stderr } = await box.run(["pack", "add", NAME]);
    expect(code).toBe(4);
    expect(stderr).toContain("--yes");
  });
});
