import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { hasTerminal, packSource, Sandbox } from "./agent.js";
import { NAME, NpmRegistry } from "./npmRegistry.js";
import { serve } from "./servers.js";

/** A registry with one package in it; resolves to the environment npm needs. */
async function registryWith(box: Sandbox, files: Readonly<Record<string, string>>, more: object = {}) {
  const registry = await NpmRegistry.start(box);
  registry.publish("1.2.3", files, more);
  return registry.env;
}

const PACK = { "index.js": packSource("greet") };

/** A project with a pack in its folder `mine`. */
function withFolder(): Sandbox {
  const box = new Sandbox();
  box.write("mine/index.js", PACK["index.js"]);
  box.write("mine/package.json", '{"name":"mine","version":"1.0.0","type":"module","exports":"./index.js"}');
  return box;
}

describe("agent pack search, add and remove", () => {
  test("finds packages with the keyword, and no others", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const { code, stdout } = await box.run(["pack", "search", "hello"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^NAME +VERSION +KIT +ISOLATED +CAPABILITIES +SECRETS +SIZE +PROVENANCE +RELEASED +DESCRIPTION$/m,
    );
    expect(stdout).toMatch(
      /^agent-pack-greeter +1\.2\.3 +not checked +not known +not known +not known +2(?:\.0)? KB +no +2026-03-01 +Says hello$/m,
    );
    expect(stdout).not.toContain("left-pad");
  });

  test.each(["add", "remove"])(
    "runs nothing of a third-party project on %s: no install script of its dependencies, no git",
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
      const program = box.write("bin/git", `#!/bin/sh\ntouch ${box.root}/git-ran\nexit 1\n`);
      chmodSync(program, 0o755);
      const settings = `[core]\n\tsshCommand = ${program}\n[url "ext::${program} %S"]\n\tinsteadOf = file://\n[protocol "ext"]\n\tallow = always\n`;
      const bring = (): void => {
        cpSync(join(box.root, "version-1.2.3/package"), join(box.project, "node_modules", NAME), {
          recursive: true,
        });
      };
      const project = (dependencies: object): void => {
        box.write("package.json", JSON.stringify({ dependencies: { [NAME]: "1.2.3", ...dependencies } }));
      };
      const args = ["pack", action, NAME, ...(action === "add" ? ["--yes"] : [])];
      bring();
      project({ evil: "file:./evil.tgz" });
      await box.run(args, { env });
      expect(existsSync(join(box.project, "node_modules/evil"))).toBe(true);
      rmSync(join(box.project, ".git"), { recursive: true });
      execFileSync("git", ["init", "--quiet", box.project]);
      writeFileSync(join(box.project, ".git/config"), settings);
      project({ other: `git+file://${box.project}/nowhere` });
      bring();
      expect((await box.run(args, { env })).stderr).toContain("npm error");
      expect(["script-ran", "git-ran"].filter((name) => existsSync(join(box.root, name)))).toEqual([]);
    },
  );

  test.runIf(hasTerminal())("changes nothing in the project before approval", async () => {
    const box = new Sandbox();
    const ran = join(box.root, "ran");
    const code = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(ran)}, "");\n`;
    const env = await registryWith(box, { "index.js": code + PACK["index.js"] });
    box.write("package.json", "{}");
    const before = readdirSync(box.project, { recursive: true });
    const no = await box.runInTerminal(
      ["pack", "add", NAME, "--isolation", "none"],
      [["Load it?", "n"]],
      env,
    );
    expect(no.stdout).toContain(`${NAME} 1.2.3 was downloaded.`);
    expect(no.stdout).toContain(`Nothing was installed. No code of ${NAME} ran.`);
    expect(existsSync(ran)).toBe(false);
    const shown = await box.runInTerminal(
      ["pack", "add", NAME, "--isolation", "none"],
      [
        ["Load it?", "y"],
        ["Install it with npm, and select it in", "n"],
      ],
      env,
    );
    expect(shown.stdout).toContain("Nothing was installed.");
    expect(existsSync(ran)).toBe(true);
    expect(readdirSync(box.project, { recursive: true })).toEqual(before);
    expect(readFileSync(join(box.project, "package.json"), "utf8")).toBe("{}");
    expect(readdirSync(join(box.home, ".local/state/agent/staged"))).toEqual([]);
  });

  test("installs, shows the tools, and selects the pack on add, and undoes it on remove", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", "{}");
    const added = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect(added.stdout).toContain(
      `${NAME} 1.2.3 was downloaded.\n  Published by alice on 2026-03-01\n  Size: 2 KB\n  Dependencies: none\n  Provenance: none\n  Install scripts: postinstall; they do not run\n`,
    );
    expect(added.stdout).toContain(`${NAME} adds:\n  greet (on; read)\n`);
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

  test("installs for every project of the user with --user", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    expect(
      (await box.run(["pack", "add", NAME, "--user", "--yes", "--isolation", "none"], { env })).code,
    ).toBe(0);
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
  ])("edits %s, keeps it trusted, and keeps its other content", async (file, before, after) => {
    const box = withFolder();
    const path = box.write(file, before);
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    const added = await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none"]);
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(`Selected in ${path}`)]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
    expect((await box.run(["pack", "remove", "./mine"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).not.toContain("mine");
    expect(readFileSync(path, "utf8")).toMatch(after);
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("edits a config in package.json in place, and keeps it trusted", async () => {
    const box = withFolder();
    const path = box.write("package.json", '{\n\t"name": "own",\n\t"agent": {\n\t\t"model": "m"\n\t}\n}\n');
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    expect((await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none"])).stdout).toContain(
      `Selected in ${path}`,
    );
    const edited = readFileSync(path, "utf8");
    expect(edited).toContain(
      `\t"agent": {\n\t\t"model": "m",\n\t\t"packs": [\n\t\t\t"@agent/preset-default",\n\t\t\t"./mine"\n\t\t]\n\t}`,
    );
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    expect((await box.run(["pack", "remove", "./mine"])).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      name: "own",
      agent: { model: "m", packs: ["@agent/preset-default"] },
    });
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("leaves the config unchanged on remove of a pack that package.json has only as a dependency", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const path = box.write("package.json", `{"agent":{"model":"m"}}`);
    const npm = ["install", "--ignore-scripts", NAME];
    await promisify(execFile)("npm", npm, { cwd: box.project, env: { ...process.env, ...env } });
    expect(readFileSync(path, "utf8")).toContain(NAME);
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).not.toContain("Removed from");
    expect(JSON.parse(readFileSync(path, "utf8")).agent).toEqual({ model: "m" });
  });

  test("does not run npm next to yarn.lock: yarn installs, and the pack is selected then", async () => {
    const program = "yarn";
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", "{}");
    box.write("yarn.lock", "");
    const evil = `require("node:fs").writeFileSync(${JSON.stringify(join(box.root, "ran"))}, "");`;
    for (const file of [".pnpmfile.cjs", "evil.cjs"]) box.write(file, evil);
    box.write(".yarnrc.yml", "yarnPath: ./evil.cjs\nplugins:\n  - ./evil.cjs\n");
    box.write("bunfig.toml", 'preload = ["./evil.cjs"]\n');
    const refused = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`Run: ${program} add ${NAME}, then again: agent pack add ${NAME}\n`);
    expect(existsSync(join(box.project, "package-lock.json"))).toBe(false);

    const folder = join(box.project, "node_modules", NAME);
    cpSync(join(box.root, "version-1.2.3/package"), folder, { recursive: true });
    const added = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("  greet (on; read)\n")]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("it ran\n");
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect(removed.stdout).toContain(`To uninstall it: ${program} remove ${NAME}\n`);
    expect(existsSync(folder)).toBe(true);
    expect((await box.run(["tool", "run", "greet"])).code).toBe(2);
    expect(existsSync(join(box.project, "package-lock.json"))).toBe(false);
    expect(existsSync(join(box.root, "ran"))).toBe(false);
  });

  test("names a package that is not a pack, and does not select it", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, { "index.js": "export const x = 1;" });
    const { code, stderr } = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(`${NAME} is not a pack that works`);
    expect(existsSync(join(box.project, "node_modules"))).toBe(false);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });

  test.each(["--registry=http://evil", "a b", "git+http://x", "npm:x@1"])(
    "refuses to install %s",
    async (name) => {
      const { code, stderr } = await new Sandbox().run(["pack", "add", "--yes", "--", name]);
      expect(code).toBe(2);
      expect(stderr).toContain("is not a package name");
    },
  );

  test("installs nothing without a terminal and without --yes", async () => {
    const box = new Sandbox();
    const { code, stderr } = await box.run(["pack", "add", NAME]);
    expect(code).toBe(4);
    expect(stderr).toContain("--yes");
  });
});

describe("a hostile project's npm settings", () => {
  const SECRETS = {
    OPENAI_API_KEY: "sk-secret-1",
    AWS_SECRET_ACCESS_KEY: "sk-secret-2",
    NPM_TOKEN: "sk-secret-3",
  };
  const LEAK = Object.keys(SECRETS)
    .map((name) => `\${${name}}`)
    .join("/");

  /** A server that gets no request unless a setting of the project is followed. */
  async function trap(): Promise<{ origin: string; requests: string[] }> {
    const requests: string[] = [];
    const { origin } = await serve((request, response) => {
      requests.push(`${request.url} ${request.headers.authorization}`);
      response.end("{}");
    });
    return { origin, requests };
  }

  test("do not make search send anything to the project's registry", async () => {
    const box = new Sandbox();
    const { npm_config_registry: registry } = await registryWith(box, PACK);
    const { origin, requests } = await trap();
    writeFileSync(join(box.home, ".npmrc"), `registry=${registry}\nupdate-notifier=false\n`);
    box.write("package.json", "{}");
    box.write(
      ".npmrc",
      `registry=${origin}/${LEAK}/\n//${new URL(origin).host}/:_authToken=${LEAK}\nproxy=${origin}\n`,
    );
    box.write("etc/npmrc", `registry=${origin}/${LEAK}/\n`);
    // A package runner exports the settings of the project.
    const env = {
      ...SECRETS,
      npm_command: "exec",
      npm_config_registry: `${origin}/`,
      npm_config_proxy: origin,
    };
    for (const each of [SECRETS, env]) {
      const { code, stdout } = await box.run(["pack", "search", "hello"], { env: each });
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^agent-pack-greeter +1\.2\.3 .*Says hello$/m),
      ]);
    }
    expect(requests).toEqual([]);
  });

  test("keep add and remove from running npm if they load or send something", async () => {
    const text = `registry=TRAP/${LEAK}/\nglobal=true\nforce=true\nprefix=PREFIX\nscript-shell=./evil.cjs`;
    const names = '"registry", "global", "force", "prefix", "script-shell"';
    const box = new Sandbox();
    const env = {
      ...SECRETS,
      ...(await registryWith(box, PACK, { bin: { git: "index.js", node: "index.js" } })),
    };
    const { origin, requests } = await trap();
    const prefix = join(box.root, "prefix");
    const settings = text.replaceAll("TRAP", origin).replaceAll("PREFIX", prefix);
    box.write("package.json", "{}");
    box.write(".npmrc", `${settings}\n`);
    box.write("other.npmrc", `registry=${origin}/\n`);
    chmodSync(box.write("evil.cjs", `#!/bin/sh\ntouch ${box.root}/ran\n`), 0o755);
    const before = readdirSync(box.project, { recursive: true });
    const added = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect([added.code, added.stderr]).toEqual([2, expect.stringContaining(`.npmrc", which sets ${names}`)]);
    expect(added.stderr).toContain(`Run: npm install ${NAME}, then again: agent pack add ${NAME}\n`);
    expect(readdirSync(box.project, { recursive: true })).toEqual(before);

    cpSync(join(box.root, "version-1.2.3/package"), join(box.project, "node_modules", NAME), {
      recursive: true,
    });
    expect((await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env })).code).toBe(0);
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining(`npm uninstall ${NAME}\n`)]);
    expect([existsSync(prefix), existsSync(join(box.root, "ran")), requests]).toEqual([false, false, []]);
  });

  test("are followed by add if they are harmless, without a link to the bin of a pack", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK, { bin: { git: "index.js" } });
    box.write("package.json", "{}");
    box.write(".npmrc", "# ours\nsave-exact=true\r\nfund = false\nengine-strict\n");
    expect(await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env })).toMatchObject({
      code: 0,
    });
    const { dependencies } = JSON.parse(readFileSync(join(box.project, "package.json"), "utf8"));
    expect(dependencies).toEqual({ [NAME]: "1.2.3" });
    expect(existsSync(join(box.project, "node_modules/.bin"))).toBe(false);
  });

  test("keep add from running npm in a workspace, whose root has settings too", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    const { origin, requests } = await trap();
    box.write("package.json", '{"workspaces":["packages/*"]}');
    box.write(".npmrc", `registry=${origin}/\n`);
    const cwd = dirname(box.write("packages/a/package.json", '{"name":"a","version":"1.0.0"}'));
    const added = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env, cwd });
    expect([added.code, added.stderr]).toEqual([
      2,
      expect.stringContaining("may have this directory as a workspace"),
    ]);
    cpSync(join(box.root, "version-1.2.3/package"), join(box.project, "node_modules", NAME), {
      recursive: true,
    });
    expect((await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env, cwd })).code).toBe(0);
    expect(requests).toEqual([]);
  });

  test("make add refuse a pack that the project replaces with other code", async () => {
    const box = new Sandbox();
    const env = await registryWith(box, PACK);
    box.write("package.json", JSON.stringify({ dependencies: { [NAME]: "1.2.3" } }));
    await promisify(execFile)("npm", ["install", "--ignore-scripts"], {
      cwd: box.project,
      env: { ...process.env, ...env },
    });
    box.write(`node_modules/${NAME}/index.js`, "// other code");
    const { code, stderr } = await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env });
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('index.js" is not the file that was examined'),
    ]);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });

  test("give npm no variable with a key, except those that the user's own .npmrc names", async () => {
    const box = new Sandbox();
    const dump = join(box.root, "dump.json");
    const program = join(box.root, "bin/npm");
    mkdirSync(dirname(program));
    writeFileSync(
      program,
      `#!${process.execPath}\nrequire("node:fs").writeFileSync(${JSON.stringify(dump)}, JSON.stringify({ env: process.env, args: process.argv, cwd: process.cwd() }));\nconsole.log("[]");\n`,
    );
    chmodSync(program, 0o755);
    writeFileSync(join(box.home, ".npmrc"), `//localhost/:_authToken=\${NPM_TOKEN}\n`);
    const env = {
      ...SECRETS,
      PATH: [dirname(program), process.env.PATH].join(delimiter),
      NODE_OPTIONS: "--no-warnings",
      NODE_PATH: box.project,
      npm_config_fetch_retries: "0",
    };
    expect((await box.run(["pack", "search", "x"], { env })).code).toBe(0);
    const { env: seen, args, cwd } = JSON.parse(readFileSync(dump, "utf8"));
    expect(seen).toMatchObject({
      NPM_TOKEN: SECRETS.NPM_TOKEN,
      npm_config_fetch_retries: "0",
      npm_config_ignore_scripts: "true",
      COREPACK_ENABLE_PROJECT_SPEC: "0",
    });
    for (const name of ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "NODE_OPTIONS", "NODE_PATH"]) {
      expect(seen).not.toHaveProperty(name);
    }
    expect(args).toEqual(expect.arrayContaining(["--global=false", "--force=false", "--bin-links=false"]));
    expect(cwd.startsWith(box.project)).toBe(false);
  });
});
