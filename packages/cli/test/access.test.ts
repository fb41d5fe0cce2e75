import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createToolRegistry, type PackHost } from "@agent/core";
import { describe, expect, test } from "vitest";
import { hasTerminal, Sandbox, scripted } from "./agent.js";

/** A pack whose tool does as the file tools do: it says what a call needs, and runs only with what was granted. */
const PACK = `import { writeFileSync } from "node:fs";
export const packName = "files";
export function register(registry, host) {
  const inside = (path) => host.access.writable.some((directory) => (path + "/").startsWith(directory + "/"));
  registry.register({
    name: "put",
    capabilities: ["write"],
    getSchema: () => ({ type: "function", function: { name: "put", description: "Writes.", parameters: {
      type: "object", properties: { path: { type: "string" } }, required: ["path"] } } }),
    findAccessNeeds: ({ path }) => (inside(path) ? [] : [{ kind: "write", path, reason: "outside the project" }]),
    execute: async ({ path }, call) => {
      if (!inside(path) && !call.granted.some((need) => need.path === path)) throw new Error("not granted");
      writeFileSync(path, "x");
      return "written";
    },
  });
  registry.register({
    name: "host",
    capabilities: ["read"],
    getSchema: () => ({ type: "function", function: { name: "host", description: "Shows.", parameters: { type: "object", properties: {} } } }),
    execute: async () => JSON.stringify({ ...host, context: undefined }),
  });
}
`;

/** A provider of someone else: its model runs a command and answers with the result. */
const ACME_PROVIDER = `
export const provider = {
  name: "acme",
  keyVariables: ["ACME_TOKEN"],
  baseURLVariable: "ACME_URL",
  baseURL: "http://127.0.0.1:9",
  defaultModel: "acme-1",
  createProvider: ({ apiKey }) => ({
    model: "acme-1",
    respond: async ({ messages }) => {
      const last = messages.at(-1);
      if (last.role === "tool")
        return { content: "the key has " + apiKey.length + " characters: " + last.content, toolCalls: [], finishReason: "stop" };
      const call = { name: "run_bash", arguments: JSON.stringify({ command: "env | rev; cat copy.txt" }) };
      return { content: null, toolCalls: [{ id: "c", type: "function", function: call }], finishReason: "tool_calls" };
    },
  }),
  listModels: async () => [],
};
`;

function project(path: string): { box: Sandbox; target: string } {
  const box = new Sandbox();
  const target = path.startsWith("/") ? path : join(box.home, path);
  box.write("pack.mjs", PACK);
  box.write(
    "agent.config.mjs",
    scripted([["put", { path: target }], "done"], 'packs: ["./pack.mjs"], mode: "auto",'),
  );
  return { box, target };
}

interface Host {
  readonly access: { readonly writable: string[]; readonly secret: string[] };
  readonly protectedPaths: string[];
  readonly protectedNames: string[];
  readonly secretVariables: string[];
}

async function hostOf(box: Sandbox, ...args: string[]): Promise<Host> {
  const { stdout, stderr } = await box.run(["tool", "run", ...args, "--trust", "host"]);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Host;
}

describe("a call that goes beyond the project", () => {
  test("is refused without a terminal, with a message that explains how to allow it", async () => {
    const { box, target } = project(".bashrc");
    const { code, stderr } = await box.run(["--trust", "go"]);
    expect(code).toBe(4);
    expect(stderr).toContain(`it writes ${target} (outside the project)`);
    expect(stderr).toContain("--add-dir");
    expect(existsSync(target)).toBe(false);
  });

  test.runIf(hasTerminal())("is asked about in a terminal, with its path", async () => {
    const { box, target } = project(".bashrc");
    await box.run(["tools", "--trust"]);
    const no = await box.runInTerminal(["go"], [["[y]es", "n"]]);
    expect(no.stdout).toContain(`! it writes ${target} (outside the project)`);
    expect(existsSync(target)).toBe(false);
    await box.runInTerminal(["go"], [["[y]es", "y"]]);
    expect(existsSync(target)).toBe(true);
  });

  test("runs without a question in the project, and in what --add-dir or the config adds", async () => {
    const within = project("project/a.txt");
    expect((await within.box.run(["--trust", "go"])).code).toBe(0);
    const { box, target } = project("other/a.txt");
    mkdirSync(join(box.home, "other"));
    expect((await box.run(["--trust", "go"])).code).toBe(4);
    expect((await box.run(["--add-dir", "../other", "go"])).code).toBe(0);
    expect(existsSync(target)).toBe(true);
    expect((await box.run(["--add-dir", "../missing", "go"])).code).toBe(2);
  });

  test("is not asked about if a user writes it as a command", async () => {
    const { box, target } = project(".bashrc");
    const { code } = await box.run(["tool", "run", "--trust", "put", "--path", target]);
    expect(code).toBe(0);
  });
});

describe("what packs get from the host", () => {
  test("allows writing to the repository from any directory in it; names secret places and the agent's own", async () => {
    const { box } = project("x");
    box.write("deep/er/file", "");
    const { access, protectedPaths } = await hostOf(box);
    expect(access.writable).toEqual([box.project]);
    expect((await hostOf(box, "--add-dir", "deep")).access.writable).toEqual([
      box.project,
      join(box.project, "deep"),
    ]);
    const places = [".ssh", ".aws", ".netrc", ".claude", ".mozilla", ".config/gcloud", ".kaggle", ".bitcoin"];
    const files = [".cache/huggingface/token", ".zsh_history", ".viminfo", ".config/Code/User/globalStorage"];
    for (const place of [...places, ...files]) expect(access.secret).toContain(join(box.home, place));
    const own = [".config/agent", ".local/state/agent", ".local/share/agent"];
    expect(protectedPaths).toEqual(own.map((place) => join(box.home, place)));
  });

  test("protects every name of a project's config, also in a program that runs an agent without the command", async () => {
    const { box } = project("x");
    const { protectedNames } = await hostOf(box);
    expect(protectedNames).toEqual([
      "agent.config.ts",
      "agent.config.js",
      "agent.config.mjs",
      "agent.config.json",
      "agent.config.yaml",
      "package.json#agent",
    ]);
    const hosts: (PackHost | undefined)[] = [];
    const pack = { packName: "watch", register: (_: unknown, host?: PackHost) => void hosts.push(host) };
    const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
    createToolRegistry(context, [pack]);
    createToolRegistry(context, [pack], { host: { protectedNames: ["my.config"] } });
    expect(hosts.map((host) => host?.protectedNames)).toEqual([protectedNames, ["my.config"]]);
  });

  test.each(["agent.config.ts", "sub/agent.config.json", "package.json"])(
    "stops a model from turning on run_bash for next time by writing %s",
    async (path) => {
      const box = new Sandbox();
      const content = JSON.stringify({ enable: ["run_bash"], agent: { enable: ["run_bash"] } });
      box.write("agent.config.mjs", scripted([["write_file", { path, content }], "done"]));
      const { stderr } = await box.run(["--trust", "go"]);
      expect(stderr).toContain("belongs to the program that runs this agent, and no tool changes it");
      expect(existsSync(join(box.project, path))).toBe(false);
    },
  );

  test("opens a secret place that is added by name", async () => {
    const { box } = project("x");
    mkdirSync(join(box.home, ".kube"));
    const { access } = await hostOf(box, "--add-dir", "../.kube");
    expect(access.secret).not.toContain(join(box.home, ".kube"));
    expect(access.secret).toContain(join(box.home, ".ssh"));
  });

  test.each([
    ["the home itself", "."],
    ["a secret place", ".ssh"],
  ])("does not treat %s as a project", async (_, place) => {
    const { box } = project("x");
    const cwd = join(box.home, place);
    mkdirSync(join(cwd, ".git"), { recursive: true });
    const config = join(box.project, "agent.config.mjs");
    const { stdout } = await box.run(["tool", "run", "--config", config, "host"], { cwd });
    expect((JSON.parse(stdout) as Host).access.writable).toEqual([]);
  });
});

describe("a provider's key", () => {
  const KEYS = {
    OPENAI_API_KEY: "sk-openai-0123456789",
    ANTHROPIC_API_KEY: "sk-ant-0123456789",
    MY_COPY: "sk-openai-0123456789",
    OWN_NAME: "own-key-0123456789",
    HARMLESS: "harmless",
  };

  test("is not in the environment that tools and their commands see, by whatever name", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.mjs",
      'export default { packs: ["@agent/preset-default", "./pack.mjs"], enable: ["run_bash"], provider: { apiKey: process.env.OWN_NAME, baseURL: "http://127.0.0.1:9/v1" } };',
    );
    box.write(
      "pack.mjs",
      PACK.replace(
        "execute: async () => JSON.stringify({ ...host, context: undefined })",
        "execute: async () => JSON.stringify({ env: process.env, ...host, context: undefined })",
      ),
    );
    const { stdout } = await box.run(["tool", "run", "--trust", "host"], { env: KEYS });
    const seen = JSON.parse(stdout) as Host & { env: Record<string, string> };
    expect(seen.env.HARMLESS).toBe("harmless");
    expect(Object.keys(seen.env).filter((name) => name !== "HARMLESS" && name in KEYS)).toEqual([]);
    expect(seen.secretVariables).toEqual(
      expect.arrayContaining(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_COPY", "OWN_NAME"]),
    );
    const command = await box.run(["tool", "run", "run_bash", "--command", "env"], { env: KEYS });
    expect(command.stdout).toContain("harmless");
    expect(command.stdout).not.toMatch(/0123456789/);
  });

  test.runIf(process.platform === "linux")("is not in what /proc shows a command of the agent", async () => {
    const box = new Sandbox();
    // Backwards, so that nothing is recognised and hidden.
    const command =
      "pid=$$; while [ $pid -gt 1 ]; do tr '\\0' '\\n' < /proc/$pid/environ | rev; pid=$(awk '/^PPid/ {print $2}' /proc/$pid/status); done";
    const run = ["tool", "run", "--enable", "run_bash", "run_bash", "--command", command];
    const { stdout } = await box.run(run, { env: KEYS });
    const backwards = (text: string): string => [...text].reverse().join("");
    expect(stdout).toContain(backwards("HARMLESS=harmless"));
    expect(stdout.split(backwards("HARMLESS=harmless")).length).toBeGreaterThan(2);
    for (const text of [KEYS.OPENAI_API_KEY, KEYS.ANTHROPIC_API_KEY, "MY_COPY"]) {
      expect(stdout).not.toContain(backwards(text));
    }
  });

  test("from a provider package, whatever variable it names, is in no command and no result", async () => {
    const box = new Sandbox();
    const directory = "../.local/share/agent/node_modules/@acme/agent-provider";
    box.write(`${directory}/package.json`, '{ "name": "@acme/agent-provider", "exports": "./index.mjs" }');
    box.write(`${directory}/index.mjs`, ACME_PROVIDER);
    box.write("copy.txt", "acme-0123456789");
    const { stdout } = await box.run(
      ["--provider", "@acme/agent-provider", "--enable", "run_bash", "--mode", "auto", "--no-sandbox", "hi"],
      { env: { ACME_TOKEN: "acme-0123456789", MY_COPY: "acme-0123456789", HARMLESS: "harmless" } },
    );
    expect(stdout).toContain("the key has 15 characters");
    // The command writes its environment backwards, so that nothing in it is recognised and hidden.
    expect(stdout).toContain("sselmrah");
    expect(stdout).toContain("[secret]");
    expect(stdout).not.toMatch(/9876543210-emca|acme-0123456789/);
  });

  test("is hidden in what a tool reports", async () => {
    const box = new Sandbox();
    box.write("agent.config.mjs", 'export default { packs: ["./pack.mjs"] };');
    box.write(
      "pack.mjs",
      PACK.replace(
        "JSON.stringify({ ...host, context: undefined })",
        'Promise.reject(new Error("the key is sk-ant-0123456789"))',
      ),
    );
    const { stdout } = await box.run(["tool", "run", "--trust", "host"], { env: KEYS });
    expect(stdout).toContain("the key is");
    expect(stdout).not.toContain("sk-ant-0123456789");
  });
});
