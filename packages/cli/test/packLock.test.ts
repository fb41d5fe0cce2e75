import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";
import { NAME, NpmRegistry } from "./npmRegistry.js";

interface ToolSource {
  readonly name: string;
  readonly can?: readonly string[];
  readonly off?: boolean;
}

/** The source of a pack with these tools. `more` is code of `register`, with `registry` in scope. */
function pack(tools: readonly ToolSource[], more = "", exports = ""): Record<string, string> {
  const register = tools.map(
    ({ name, can = ["read"], off = false }) => `  registry.register({
    name: "${name}",
    capabilities: ${JSON.stringify(can)},
    getSchema: () => ({ type: "function", function: { name: "${name}", description: "d", parameters: { type: "object", properties: {} } } }),
    execute: async () => "${name} ran",
  }, { enabled: ${!off} });\n`,
  );
  const source = `export const packName = "${NAME}";\n${exports}\nexport function register(registry) {\n${register.join("")}${more}\n}\n`;
  return { "index.js": source };
}

const GREET = { name: "greet" };
const MANIFEST = JSON.stringify({ name: "mine", version: "1.0.0", type: "module", exports: "./index.js" });

/** A project with a pack in its folder `mine`, added by the command. */
async function added(files: Record<string, string>, args: readonly string[] = []) {
  const box = new Sandbox();
  /** Writes the files of the pack: also another version, as another program would. */
  const replace = (next: Record<string, string>): void => {
    for (const [path, text] of Object.entries(next)) box.write(`mine/${path}`, text);
  };
  replace({ ...files, "package.json": MANIFEST });
  const run = await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none", ...args]);
  expect([run.code, run.stderr]).toEqual([0, run.stderr]);
  const lock = () => JSON.parse(readFileSync(join(box.project, "packs.lock.json"), "utf8")).packs["./mine"];
  return { box, replace, lock };
}

/** A project without packs, and a registry with version 1.0.0 of one. */
async function registryWith(files: Record<string, string>) {
  const box = new Sandbox();
  const registry = await NpmRegistry.start(box);
  registry.publish("1.0.0", files);
  box.write("package.json", "{}");
  return { box, registry, env: registry.env };
}

describe("the lock of packs", () => {
  test("records version, files, tools, secrets and services when a pack is added", async () => {
    const services =
      'registry.provide({ commands: [{ name: "hello", description: "d", run: () => "" }], hooks: { name: "greeter", onStop: () => undefined } });';
    const files = pack(
      [GREET, { name: "wipe", can: ["destroy"], off: true }],
      services,
      'export const secrets = ["GREET_TOKEN"];',
    );
    const { box, lock } = await added(files, ["--enable", "wipe"]);
    expect(lock()).toEqual({
      version: "1.0.0",
      packName: NAME,
      files: expect.stringMatching(/^sha256-/),
      tools: {
        greet: { enabled: true, capabilities: ["read"] },
        wipe: { enabled: false, capabilities: ["destroy"] },
      },
      secrets: ["GREET_TOKEN"],
      services: ["hooks", "command /hello"],
    });
    const config = JSON.parse(readFileSync(join(box.project, "agent.config.json"), "utf8"));
    expect(config.enable).toEqual(["wipe"]);
  });

  test("withholds what an update adds until it is approved", async () => {
    const { box, replace, lock } = await added(pack([GREET]));
    const renamed = pack([GREET, { name: "more" }])["index.js"]?.replace(NAME, "@agent/tools-fs") ?? "";
    replace({ "index.js": renamed });
    const refused = await box.run(["tool", "run", "more", "--enable", "more", "--trust"]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("changed since you approved it, so greet, more are off.");
    expect(refused.stderr).toContain('it calls itself "@agent/tools-fs" now.');
    const { stdout } = await box.run(["pack", "update", "./mine", "--yes"]);
    expect(stdout).toContain('it calls itself "@agent/tools-fs" now\n  tool more: it is new (on; read)\n');
    expect(lock().packName).toBe("@agent/tools-fs");
    expect((await box.run(["tool", "run", "more", "--trust"])).stdout).toBe("more ran\n");
  });

  test("refuses a damaged lock file with a next step", async () => {
    const { box } = await added(pack([GREET]));
    box.write("packs.lock.json", '{"v":1,"packs":{"x":{}}}');
    const { code, stderr } = await box.run(["tools"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("is not a lock file of packs. Restore it")]);
    box.write("packs.lock.json", '{\n<<<<<<< ours\n"v":1,\n=======\n"v": 1,\n>>>>>>> theirs\n"packs":{}}');
    expect((await box.run(["pack", "update", "./mine", "--yes"])).stderr).toContain(
      "It has a merge conflict: take the file of one side",
    );
  });

  test("is part of what a project is trusted with: the limits of its packs do not change unnoticed", async () => {
    const { box, replace } = await added(pack([GREET]));
    const path = join(box.project, "packs.lock.json");
    const whole = readFileSync(path, "utf8");
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    writeFileSync(path, whole.replace('"read"', '"execute"'));
    const changed = await box.run(["tool", "run", "greet"]);
    expect([changed.code, changed.stderr]).toEqual([
      4,
      expect.stringContaining("packs.lock.json with the limits of its packs"),
    ]);
    rmSync(path);
    const gone = await box.run(["tool", "run", "greet"]);
    expect([gone.code, gone.stderr]).toEqual([
      4,
      expect.stringMatching(/without their limits, since .* is gone/),
    ]);
    writeFileSync(path, whole);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    // What the user approves with the command needs no second approval.
    replace(pack([GREET, { name: "more" }]));
    expect((await box.run(["pack", "update", "./mine", "--yes"])).code).toBe(0);
    expect((await box.run(["tool", "run", "more"])).stdout).toBe("more ran\n");
  });

  test("removes no directory that it names behind a link of the project", async () => {
    const box = new Sandbox();
    mkdirSync(join(box.root, "outside/documents"), { recursive: true });
    mkdirSync(join(box.project, ".agent/packs"), { recursive: true });
    symlinkSync(join(box.root, "outside"), join(box.project, ".agent/packs/link"));
    const place = "./.agent/packs/link/documents";
    box.write("agent.config.json", JSON.stringify({ packs: [place] }));
    const git = { source: "git+https://example.com/a.git", commit: "0".repeat(40) };
    const entry = { version: "1.0.0", packName: "friendly", git, files: "sha256-", tools: {}, secrets: [] };
    box.write("packs.lock.json", JSON.stringify({ v: 1, packs: { [place]: { ...entry, services: [] } } }));
    const { code, stderr } = await box.run(["pack", "remove", "friendly"]);
    expect([code, stderr]).toEqual([0, stderr]);
    expect(existsSync(join(box.root, "outside/documents"))).toBe(true);
  });

  test("cannot be changed by a tool call", async () => {
    const { box } = await added(pack([GREET]));
    const before = readFileSync(join(box.project, "packs.lock.json"), "utf8");
    for (const args of [
      ["write_file", "--path", "packs.lock.json", "--content", "{}"],
      ["edit_file", "--path", "packs.lock.json", "--old_text", "read", "--new_text", "write"],
    ]) {
      expect((await box.run(["tool", "run", ...args])).code).not.toBe(0);
      expect(readFileSync(join(box.project, "packs.lock.json"), "utf8")).toBe(before);
    }
  });
});

describe("agent pack update and outdated", () => {
  test("finds a folder of the user's config from any directory, and reports one without changes", async () => {
    const { box, replace } = await added(pack([GREET]), ["--user"]);
    mkdirSync(join(box.project, "src"));
    const cwd = join(box.project, "src");
    const { stdout } = await box.run(["pack", "update", "--user", "--yes"], { cwd });
    expect(stdout).toMatch(/mine 1\.0\.0 is up to date\.\n$/);
    replace(pack([GREET, { name: "more" }]));
    const changed = await box.run(["pack", "update", "--user", "--yes"], { cwd });
    expect(changed.stdout).toContain("tool more: it is new (on; read)\n");
  });

  test.runIf(hasTerminal())(
    "shows what a new version changes, installs nothing when the user refuses, and uses it after approval",
    async () => {
      const { box, registry, env } = await registryWith(pack([GREET]));
      expect((await box.run(["pack", "add", NAME, "--yes", "--isolation", "none"], { env })).code).toBe(0);
      const lock = () => JSON.parse(readFileSync(join(box.project, "packs.lock.json"), "utf8")).packs[NAME];
      registry.publish(
        "1.1.0",
        pack([
          { ...GREET, can: ["execute"] },
          { name: "send", can: ["network"] },
        ]),
        { _npmUser: { name: "mallory", email: "mallory@example.com" } },
      );
      const outdated = await box.run(["pack", "outdated"], { env });
      expect(outdated.stdout).toContain(`${NAME}  approved 1.0.0  installed 1.0.0  latest 1.1.0\n`);
      const refused = await box.runInTerminal(
        ["pack", "update", NAME],
        [
          ["Load it?", "y"],
          ["Install this version with npm", "n"],
        ],
        env,
      );
      expect(refused.stdout).toContain("tool greet: it now can execute; it no longer declares read");
      expect(lock().version).toBe("1.0.0");
      const installed = join(box.project, `node_modules/${NAME}/package.json`);
      expect(readFileSync(installed, "utf8")).toContain('"1.0.0"');
      const { code, stdout } = await box.run(["pack", "update", "--yes"], { env });
      expect(code).toBe(0);
      expect(stdout).toContain(`${NAME}: version 1.0.0 → 1.1.0\n`);
      expect(stdout).toContain("  it was published by mallory, before by alice\n");
      expect(stdout).toContain("  tool send: it is new (on; network)\n");
      expect(lock()).toMatchObject({ version: "1.1.0", tools: { send: { enabled: true } } });
      expect((await box.run(["tool", "run", "send", "--trust"])).stdout).toBe("send ran\n");
      expect((await box.run(["pack", "update", NAME, "--yes"], { env })).stdout).toContain(
        "1.1.0 is up to date.",
      );
      expect((await box.run(["pack", "outdated"], { env })).stdout).toContain("up to date");
    },
  );
});

describe("agent pack add and remove", () => {
  test("reports a folder that does not exist before it asks for --yes", async () => {
    const { code, stderr } = await new Sandbox().run(["pack", "add", "./nosuch"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/nosuch" does not exist\. Pass a package name/),
    ]);
  });

  test.each([
    ["agent.config.json", `{ "enable": ["wipe", "run_bash"], "confirm": ["wipe"] }`],
    ["agent.config.yaml", "enable:\n  - wipe\n  - run_bash\nconfirm:\n  - wipe\n"],
    [
      "agent.config.ts",
      `import type {} from "./mine";\nexport default { enable: ["wipe", "run_bash"], confirm: ["wipe"] };\n`,
    ],
  ])("leaves no trace of the pack in %s after remove", async (file, text) => {
    const box = new Sandbox();
    const path = box.write(file, text);
    const files = pack([GREET, { name: "wipe", can: ["destroy"], off: true }]);
    box.write("mine/index.js", files["index.js"] ?? "");
    box.write("mine/package.json", MANIFEST);
    expect((await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none"])).code).toBe(0);
    expect((await box.run(["tools", "--trust"])).stdout).toMatch(/^wipe +on/m);
    const removed = await box.run(["pack", "remove", "./mine"]);
    expect([removed.code, removed.stderr]).toEqual([0, removed.stderr]);
    expect(readFileSync(path, "utf8")).not.toMatch(/wipe|mine|confirm/);
    expect(readFileSync(path, "utf8")).toContain("run_bash");
    expect(readFileSync(join(box.project, "packs.lock.json"), "utf8")).not.toContain("mine");
    const { code, stdout } = await box.run(["tools", "--trust"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/run_bash +on/)]);
  });

  test("add trusts a folder with its entry elsewhere, and remove takes the name of the pack", async () => {
    const box = new Sandbox();
    box.write("mine/dist/index.js", pack([GREET])["index.js"] ?? "");
    box.write("mine/package.json", MANIFEST.replace("./index.js", "./dist/index.js"));
    expect((await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none"])).code).toBe(0);
    const called = await box.run(["tool", "run", "greet"]);
    expect([called.stdout, called.stderr]).toEqual(["greet ran\n", ""]);
    const unknown = await box.run(["pack", "remove", "mine"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('"mine" is neither installed'),
    ]);
    const misspelt = await box.run(["pack", "remove", NAME.slice(0, -1)]);
    expect([misspelt.code, misspelt.stderr]).toEqual([
      2,
      expect.stringContaining(`nor in the config. Did you mean "${NAME}"?`),
    ]);
    const removed = await box.run(["pack", "remove", NAME]);
    expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining("./mine is removed.")]);
    expect(readFileSync(join(box.project, "agent.config.json"), "utf8")).not.toContain("mine");
  });

  test("enables all tools of a pack by its name", async () => {
    const { box } = await added(pack([GREET, { name: "wipe", can: ["destroy"], off: true }]));
    expect((await box.run(["tools", "--enable", `${NAME}/*`])).stdout).toMatch(/^wipe +on/m);
    const typo = await box.run(["tools", "--enable", "agent-pack-greter/*"]);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining(`Did you mean "${NAME}/*"?`)]);
  });

  test("adds a pack from a tarball", async () => {
    const box = new Sandbox();
    const registry = await NpmRegistry.start(box);
    registry.publish("1.0.0", pack([GREET]));
    execFileSync("tar", ["-czf", join(box.project, "pack.tgz"), "-C", dirname(registry.folder), "package"]);
    box.write("package.json", "{}");
    const run = await box.run(["pack", "add", "./pack.tgz", "--yes", "--isolation", "none"], {
      env: registry.env,
    });
    expect([run.code, run.stderr]).toEqual([0, run.stderr]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    expect(existsSync(join(box.project, `node_modules/${NAME}/ran`))).toBe(false);
  });

  test("writes nothing outside for a tarball with paths that climb", async () => {
    const box = new Sandbox();
    const registry = await NpmRegistry.start(box);
    registry.publish("1.0.0", pack([GREET]));
    const climb = "s,package/index.js,package/../../../../../../evil.js,";
    execFileSync("tar", [
      "-czPf",
      join(box.project, "pack.tgz"),
      "--transform",
      climb,
      "-C",
      dirname(registry.folder),
      "package",
    ]);
    box.write("package.json", "{}");
    expect(
      (await box.run(["pack", "add", "./pack.tgz", "--yes", "--isolation", "none"], { env: registry.env }))
        .code,
    ).not.toBe(0);
    expect(existsSync(join(box.root, "evil.js"))).toBe(false);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });

  test("warns of a name that differs by one character from an installed pack", async () => {
    const box = new Sandbox();
    box.write("package.json", "{}");
    box.write(
      `node_modules/${NAME}/package.json`,
      JSON.stringify({ name: NAME, version: "1.0.0", keywords: ["agent-pack"] }),
    );
    const env = { npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0" };
    for (const [name, how] of [
      ["agent-pack-greetter", "by one character"],
      ["Agent_Pack_Greeter", "only in case and separators"],
    ] as const) {
      const { stdout } = await box.run(["pack", "add", name, "--yes", "--isolation", "none"], { env });
      expect(stdout).toContain(`${name} differs ${how} from ${NAME}, which you have.`);
    }
    // An archive names itself.
    const registry = await NpmRegistry.start(box);
    registry.publish("1.0.0", pack([GREET]), { name: "agent-pack-greeters" });
    const archive = join(box.root, "version-1.0.0", "package.tgz");
    const added = await box.run(["pack", "add", archive, "--yes", "--isolation", "none"], {
      env: registry.env,
    });
    expect(added.stdout).toContain(`agent-pack-greeters differs by one character from ${NAME}`);
  });

  test("shows tools that come later, and refuses --enable for an unknown tool", async () => {
    const late = `registry.registerLater("late ones", async (view) => {
      view.register({ name: "late", capabilities: ["read"], getSchema: () => ({ type: "function", function: { name: "late", description: "d", parameters: { type: "object", properties: {} } } }), execute: async () => "late ran" });
    });`;
    const { box, lock } = await added(pack([GREET], late));
    expect(Object.keys(lock().tools)).toEqual(["greet", "late"]);
    rmSync(join(box.project, "agent.config.json"));
    const typo = await box.run(["pack", "add", "./mine", "--yes", "--isolation", "none", "--enable", "lat"]);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('Did you mean "late"?')]);
  });

  test.runIf(hasTerminal())("asks which tools to enable, and runs a reading network tool then", async () => {
    const box = new Sandbox();
    const files = pack([{ name: "look_up", can: ["read", "network"], off: true }]);
    box.write("mine/index.js", files["index.js"] ?? "");
    box.write("mine/package.json", MANIFEST);
    const shown = await box.runInTerminal(
      ["pack", "add", "./mine"],
      [
        ["Load it?", "y"],
        ["Enable look_up?", "y"],
        ["Select it in", "y"],
      ],
    );
    expect(shown.stdout).toContain("look_up (off until enabled; read, network)");
    expect((await box.run(["tool", "run", "look_up"])).stdout).toBe("look_up ran\n");
  });
});

describe("packs from git", () => {
  test("are archived, installed, updated and removed without running anything of the repository", async () => {
    const { box, env } = await registryWith(pack([GREET]));
    const repository = join(box.root, "repository");
    const git = (...args: string[]): string =>
      execFileSync("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@localhost", ...args], {
        encoding: "utf8",
        env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
      });
    const commit = (version: string, files: Record<string, string>): string => {
      const scripts = { prepare: "touch ran", postinstall: "touch ran" };
      const manifest = { name: NAME, version, type: "module", exports: "./index.js", scripts };
      const folder = join(repository, "packs/one");
      mkdirSync(folder, { recursive: true });
      const all = { ...files, "package.json": JSON.stringify(manifest), ".npmrc": "ignore-scripts=false\n" };
      for (const [path, text] of Object.entries(all)) writeFileSync(join(folder, path), text);
      git("add", ".");
      git("commit", "--quiet", "--message", version);
      return git("rev-parse", "--short=7", "HEAD").trim();
    };
    mkdirSync(repository);
    git("init", "--quiet", "--initial-branch=main");
    const first = commit("1.0.0", pack([GREET]));
    const source = `git+file://${repository}#main&path:/packs/one`;
    const added = await box.run(["pack", "add", source, "--yes", "--isolation", "none"], { env });
    expect([added.code, added.stderr]).toEqual([0, added.stderr]);
    expect(added.stdout).toContain(
      `${NAME} 1.0.0 was downloaded from file://${repository}, commit ${first}.`,
    );
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    const archive = (commit: string): string => join(box.project, `.agent/packs/${NAME}-${commit}.tgz`);
    expect(existsSync(archive(first))).toBe(true);
    expect(existsSync(join(box.project, `node_modules/${NAME}/ran`))).toBe(false);

    const second = commit("1.1.0", pack([GREET, { name: "more" }]));
    const outdated = await box.run(["pack", "outdated"], { env });
    expect(outdated.stdout).toContain(`approved 1.0.0 (${first})  installed 1.0.0  latest ${second}\n`);
    const updated = await box.run(["pack", "update", "--yes"], { env });
    expect([updated.stdout, updated.stderr]).toEqual([
      expect.stringContaining("version 1.0.0 → 1.1.0\n  tool more: it is new (on; read)\n"),
      updated.stderr,
    ]);
    expect([existsSync(archive(first)), existsSync(archive(second))]).toEqual([false, true]);
    expect((await box.run(["pack", "remove", NAME], { env })).code).toBe(0);
    expect(existsSync(archive(second))).toBe(false);
  });

  test.each([
    ["ext::sh -c true.git", "is not a package name"],
    ["git+ext://x", "is not a package name"],
    ["git+file:///nowhere/at/all", "git fetch failed"],
    ["git+https://localhost/x.git#--upload-pack=true", "after # comes a branch"],
    ["git+https://localhost/x.git#main&path:../x", "after # comes a branch"],
  ])("refuse %s", async (address, reason) => {
    const box = new Sandbox();
    const { code, stderr } = await box.run(["pack", "add", "--yes", "--", address]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(reason);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });
});
