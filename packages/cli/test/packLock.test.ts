import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** A project with version 1.0.0 of a pack, added by the command. */
async function added(files: Record<string, string>, args: readonly string[] = []) {
  const box = new Sandbox();
  const registry = await NpmRegistry.start(box);
  registry.publish("1.0.0", files);
  box.write("package.json", "{}");
  const run = await box.run(["pack", "add", NAME, "--yes", ...args], { env: registry.env });
  expect([run.code, run.stderr]).toEqual([0, run.stderr]);
  /** Puts another version into node_modules, as another program would. */
  const replace = (next: Record<string, string>): void => {
    for (const [path, text] of Object.entries(next)) box.write(`node_modules/${NAME}/${path}`, text);
  };
  const lock = () => JSON.parse(readFileSync(join(box.project, "packs.lock.json"), "utf8")).packs[NAME];
  return { box, registry, replace, lock, env: registry.env };
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

  test.each([
    ["gains a tool", pack([GREET, { name: "more" }]), "more", "it is new"],
    ["gains a capability", pack([{ ...GREET, can: ["read", "network"] }]), "greet", "it now can network"],
    ["loses a label", pack([{ ...GREET, can: [] }]), "greet", "it no longer declares read"],
  ])("withholds a tool when an update %s", async (_, next, tool, reason) => {
    const { box, replace } = await added(pack([GREET]));
    replace(next);
    const refused = await box.run(["tool", "run", tool, "--trust"]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`changed since you approved it, so ${tool} is off.`);
    expect(refused.stderr).toContain(`${reason}. Review the change with: agent pack update ${NAME}`);
  });

  test("withholds the tools of a pack that calls itself another, until the update is approved", async () => {
    const { box, registry, replace, env, lock } = await added(pack([GREET]));
    const renamed = { "index.js": pack([GREET])["index.js"]?.replace(NAME, "@agent/tools-fs") ?? "" };
    replace(renamed);
    const refused = await box.run(["tool", "run", "greet", "--trust"]);
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining(
        'it calls itself "@agent/tools-fs" now. Review the change with: agent pack update',
      ),
    ]);
    registry.publish("1.1.0", renamed);
    const { stdout } = await box.run(["pack", "update", "--yes"], { env });
    expect(stdout).toContain('it calls itself "@agent/tools-fs" now\n');
    expect(lock().packName).toBe("@agent/tools-fs");
    expect((await box.run(["tool", "run", "greet", "--trust"])).stdout).toBe("greet ran\n");
  });

  test("withholds a tool that an update turns on, even if the config enables it", async () => {
    const { box, replace } = await added(pack([GREET, { name: "send", can: ["network"], off: true }]));
    replace(pack([GREET, { name: "send", can: ["network"] }]));
    const refused = await box.run(["tool", "run", "send", "--enable", "send", "--trust"]);
    expect(refused.stdout + refused.stderr).toContain("it is on by default now");
    expect((await box.run(["tool", "run", "greet", "--trust"])).stdout).toBe("greet ran\n");
  });

  test.each([
    [
      "secrets",
      pack([GREET], "", 'export const secrets = ["OTHER_TOKEN"];'),
      "wants the secrets OTHER_TOKEN",
    ],
    [
      "hooks",
      pack([GREET], `registry.provide({ hooks: { name: "greeter", onStop: () => undefined } });`),
      "brings hooks",
    ],
    [
      "commands",
      pack([GREET], 'registry.provide({ commands: [{ name: "x", description: "d", run: () => "" }] });'),
      "brings command /x",
    ],
  ])("does not use a pack that gains %s", async (_, next, reason) => {
    const { box, replace } = await added(pack([GREET]));
    replace(next);
    const { stdout, stderr } = await box.run(["tools", "--trust"]);
    expect(stdout).not.toMatch(/^greet /m);
    expect(stderr).toContain(reason);
    expect(stderr).toContain(`agent pack update ${NAME}`);
  });

  test("refuses a damaged lock file with a next step", async () => {
    const { box } = await added(pack([GREET]));
    box.write("packs.lock.json", '{"v":1,"packs":{"x":{}}}');
    const { code, stderr } = await box.run(["tools"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("is not a lock file of packs. Restore it")]);
  });

  test.each(["edit", "write"])("cannot be changed by a tool call (%s)", async (kind) => {
    const { box } = await added(pack([GREET]));
    const before = readFileSync(join(box.project, "packs.lock.json"), "utf8");
    const args =
      kind === "write"
        ? ["write_file", "--path", "packs.lock.json", "--content", "{}"]
        : ["edit_file", "--path", "packs.lock.json", "--old_text", "read", "--new_text", "write"];
    const { code } = await box.run(["tool", "run", ...args]);
    expect(code).not.toBe(0);
    expect(readFileSync(join(box.project, "packs.lock.json"), "utf8")).toBe(before);
  });
});

describe("agent pack update and outdated", () => {
  test("shows what a new version changes, installs it, and uses it then", async () => {
    const { box, registry, env, lock } = await added(pack([GREET]));
    registry.publish("1.1.0", pack([GREET, { name: "send", can: ["network"] }]));
    const outdated = await box.run(["pack", "outdated"], { env });
    expect(outdated.stdout).toContain(`${NAME}  approved 1.0.0  installed 1.0.0  latest 1.1.0\n`);
    const { code, stdout } = await box.run(["pack", "update", "--yes"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain(`${NAME}: version 1.0.0 → 1.1.0\n  tool send: it is new\n`);
    expect(lock()).toMatchObject({ version: "1.1.0", tools: { send: { enabled: true } } });
    expect((await box.run(["tool", "run", "send", "--trust"])).stdout).toBe("send ran\n");
    expect((await box.run(["pack", "update", NAME, "--yes"], { env })).stdout).toContain(
      "1.1.0 is up to date.",
    );
    expect((await box.run(["pack", "outdated"], { env })).stdout).toContain("up to date");
  });

  test.runIf(hasTerminal())("changes nothing when the user refuses", async () => {
    const { box, registry, env, lock } = await added(pack([GREET]));
    registry.publish("2.0.0", pack([{ ...GREET, can: ["execute"] }]));
    const { stdout } = await box.runInTerminal(
      ["pack", "update", NAME],
      [
        ["Load it?", "y"],
        ["Install this version with npm", "n"],
      ],
      env,
    );
    expect(stdout).toContain("tool greet: it now can execute; it no longer declares read");
    expect(lock().version).toBe("1.0.0");
    expect(readFileSync(join(box.project, `node_modules/${NAME}/package.json`), "utf8")).toContain('"1.0.0"');
  });
});

describe("agent pack add and remove", () => {
  test.each([
    ["agent.config.json", `{ "enable": ["wipe", "run_bash"], "confirm": ["wipe"] }`],
    ["agent.config.yaml", "enable:\n  - wipe\n  - run_bash\nconfirm:\n  - wipe\n"],
    [
      "agent.config.ts",
      `import type {} from "${NAME}";\nexport default { enable: ["wipe", "run_bash"], confirm: ["wipe"] };\n`,
    ],
  ])("remove leaves no trace of the pack in %s", async (file, text) => {
    const box = new Sandbox();
    const registry = await NpmRegistry.start(box);
    registry.publish("1.0.0", pack([GREET, { name: "wipe", can: ["destroy"], off: true }]));
    box.write("package.json", "{}");
    const path = box.write(file, text);
    const { env } = registry;
    expect((await box.run(["pack", "add", NAME, "--yes"], { env })).code).toBe(0);
    expect((await box.run(["tools", "--trust"])).stdout).toMatch(/^wipe +on/m);
    const removed = await box.run(["pack", "remove", NAME], { env });
    expect([removed.code, removed.stderr]).toEqual([0, removed.stderr]);
    expect(readFileSync(path, "utf8")).not.toMatch(/wipe|greeter/);
    expect(readFileSync(path, "utf8")).toContain("run_bash");
    expect(readFileSync(join(box.project, "packs.lock.json"), "utf8")).not.toContain(NAME);
    const { code, stdout } = await box.run(["tools", "--trust"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/run_bash +on/)]);
  });

  test("enable takes all tools of a pack by its name", async () => {
    const { box } = await added(pack([GREET, { name: "wipe", can: ["destroy"], off: true }]));
    expect((await box.run(["tools", "--enable", `${NAME}/*`])).stdout).toMatch(/^wipe +on/m);
    const typo = await box.run(["tools", "--enable", "agent-pack-greter/*"]);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining(`Did you mean "${NAME}/*"?`)]);
  });

  test("add takes a folder, and update approves its changes", async () => {
    const box = new Sandbox();
    const files = pack([GREET]);
    const entry = box.write("mine/index.js", files["index.js"] ?? "");
    box.write(
      "mine/package.json",
      JSON.stringify({ name: "mine", version: "0.1.0", type: "module", exports: "./index.js" }),
    );
    const run = await box.run(["pack", "add", "./mine", "--yes"]);
    expect([run.code, run.stderr]).toEqual([0, run.stderr]);
    expect(JSON.parse(readFileSync(join(box.project, "agent.config.json"), "utf8")).packs).toContain(
      "./mine",
    );
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    writeFileSync(entry, pack([GREET, { name: "more" }])["index.js"] ?? "");
    expect((await box.run(["tool", "run", "more", "--trust"])).stderr).toContain("it is new");
    expect((await box.run(["pack", "update", "./mine", "--yes"])).stdout).toContain("tool more: it is new");
    expect((await box.run(["tool", "run", "more", "--trust"])).stdout).toBe("more ran\n");
  });

  test("add takes a tarball", async () => {
    const box = new Sandbox();
    const registry = await NpmRegistry.start(box);
    registry.publish("1.0.0", pack([GREET]));
    execFileSync("tar", ["-czf", join(box.project, "pack.tgz"), "-C", dirname(registry.folder), "package"]);
    box.write("package.json", "{}");
    const run = await box.run(["pack", "add", "./pack.tgz", "--yes"], { env: registry.env });
    expect([run.code, run.stderr]).toEqual([0, run.stderr]);
    expect((await box.run(["tool", "run", "greet"])).stdout).toBe("greet ran\n");
    expect(existsSync(join(box.project, `node_modules/${NAME}/ran`))).toBe(false);
  });

  test("add writes nothing outside for a tarball with paths that climb", async () => {
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
    expect((await box.run(["pack", "add", "./pack.tgz", "--yes"], { env: registry.env })).code).not.toBe(0);
    expect(existsSync(join(box.root, "evil.js"))).toBe(false);
    expect(existsSync(join(box.project, "agent.config.json"))).toBe(false);
  });

  test("warns of a name that differs by one character from an installed pack", async () => {
    const { box, env } = await added(pack([GREET]));
    const { stdout } = await box.run(["pack", "add", "agent-pack-greetter", "--yes"], { env });
    expect(stdout).toContain(`agent-pack-greetter differs by one character from ${NAME}, which you have.`);
  });

  test("shows tools that come later, and refuses --enable for an unknown tool", async () => {
    const late = `registry.registerLater("late ones", async (view) => {
      view.register({ name: "late", capabilities: ["read"], getSchema: () => ({ type: "function", function: { name: "late", description: "d", parameters: { type: "object", properties: {} } } }), execute: async () => "late ran" });
    });`;
    const { box, lock, env } = await added(pack([GREET], late));
    expect(Object.keys(lock().tools)).toEqual(["greet", "late"]);
    rmSync(join(box.project, "agent.config.json"));
    const typo = await box.run(["pack", "add", NAME, "--yes", "--enable", "lat"], { env });
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('Did you mean "late"?')]);
  });
});
