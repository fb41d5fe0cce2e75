import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRedactor } from "@agent/core/provider";
import { describe, expect, onTestFinished, test } from "vitest";
import * as dialects from "./dialects.js";
import { scriptedServer } from "./scriptedServer.js";
import { type StrictServer, type StrictWire, startStrictServer } from "./strict/server.js";
import { STRICT_CHAT, STRICT_GENERATE_CONTENT, STRICT_MESSAGES } from "./strict/wires.js";
import { KEY } from "./strictWires.js";

/** The built `agent` command with the real provider packages, which talk to the strict servers. */

const BIN = fileURLToPath(new URL("../../cli/bin.js", import.meta.url));
const WRONG = "sk-wrong-9876543210";

interface Wired {
  readonly name: string;
  readonly wire: StrictWire;
  readonly model: string;
  readonly keyVariable: string;
  readonly addressVariable: string;
  readonly path: string;
}

const WIRED: readonly Wired[] = [
  {
    name: "openai",
    wire: STRICT_CHAT,
    model: "m",
    keyVariable: "OPENAI_API_KEY",
    addressVariable: "OPENAI_BASE_URL",
    path: "/v1",
  },
  {
    name: "anthropic",
    wire: STRICT_MESSAGES,
    model: "m",
    keyVariable: "ANTHROPIC_API_KEY",
    addressVariable: "ANTHROPIC_BASE_URL",
    path: "",
  },
  {
    name: "google",
    wire: STRICT_GENERATE_CONTENT,
    model: "gemini-3-pro",
    keyVariable: "GEMINI_API_KEY",
    addressVariable: "GOOGLE_GEMINI_BASE_URL",
    path: "",
  },
];

/** A home directory with installed provider packages, and a project in it. */
function createHome() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-providers-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, "project");
  const packages = join(root, ".local/share/agent/node_modules/@agent");
  mkdirSync(project);
  for (let number = 0; number < 12; number++) writeFileSync(join(project, `file${number}`), "found");
  mkdirSync(packages, { recursive: true });
  for (const name of ["anthropic", "google"]) {
    symlinkSync(
      fileURLToPath(new URL(`../../provider-${name}`, import.meta.url)),
      join(packages, `provider-${name}`),
    );
  }
  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    runCommand(project, args, { HOME: root, ...env });
  /** The text of every file that the command left behind. */
  const left = () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  return { run, left, write: (name: string, text: string) => writeFileSync(join(project, name), text) };
}

function runCommand(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, AGENT_LOCAL_PORTS: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

async function strict(wire: StrictWire): Promise<StrictServer> {
  const server = await startStrictServer(wire, { key: KEY, tool: "read_file" });
  onTestFinished(() => server.close());
  return server;
}

function environment(one: Wired, server: StrictServer, key = KEY): Record<string, string> {
  return { [one.keyVariable]: key, [one.addressVariable]: `${server.baseURL}${one.path}` };
}

describe.each(WIRED)("agent on $name", (one) => {
  const model = `${one.name}/${one.model}`;

  test("answers with the model and the key in the provider's variables, by flag and by config", async () => {
    const server = await strict(one.wire);
    const { run, write } = createHome();
    const env = environment(one, server);
    expect(await run(["--model", model, "hello"], env)).toMatchObject({ code: 0, stdout: "Answer 2.\n" });
    write("agent.config.json", JSON.stringify({ provider: { name: one.name, model: one.model } }));
    expect(await run(["--trust", "hello"], env)).toMatchObject({ code: 0, stdout: "Answer 5.\n" });
    expect(server.refusals).toEqual([]);
  });

  test("lists with agent models what the server lists, and proves the key with agent doctor", async () => {
    const server = await strict(one.wire);
    const { run } = createHome();
    const env = environment(one, server);
    expect((await run(["models", "--provider", one.name], env)).stdout).toContain(model);
    const right = await run(["doctor", "--model", model], env);
    expect(right.stdout).toMatch(/✓ provider: .* answered in \d/);
    expect(right.stdout).toContain("✓ models: 1 model listed");
    const wrong = await run(["doctor", "--model", model], environment(one, server, WRONG));
    expect(wrong.code).toBe(2);
    expect(wrong.stdout).toMatch(/✗ provider: .* could not answer: .*Check the API key/);
    const none = await run(["doctor", "--model", model], { [one.addressVariable]: "" });
    expect(none.code).toBe(2);
    expect(none.stdout + none.stderr).toContain(one.keyVariable);
    expect(JSON.stringify([right, wrong, none])).not.toMatch(new RegExp(`${KEY}|${WRONG}`));
  });

  test("leaves no key in its output or in any file, whether the server takes it or sends it back", async () => {
    const server = await strict(one.wire);
    const { run, left } = createHome();
    const right = await run(["--model", model, "hello"], environment(one, server));
    expect([right.code, right.stdout]).toEqual([0, "Answer 2.\n"]);
    const args = ["--model", model, "again"];
    const wrong = await run(args, environment(one, server, WRONG));
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("[secret]")]);
    const files = left();
    expect(files.some((text) => text.includes("Answer 2."))).toBe(true);
    const redact = createRedactor(() => [KEY, WRONG]);
    for (const text of [right.stdout, right.stderr, wrong.stdout, wrong.stderr, ...files]) {
      expect(redact(text)).toBe(text);
    }
  });

  test("uses the native mode of the wire for a structured answer", async () => {
    const server = await strict(one.wire);
    const { run, write } = createHome();
    write(
      "schema.json",
      '{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}',
    );
    const { code, stdout } = await run(
      ["--model", model, "--schema", "schema.json", "hello"],
      environment(one, server),
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ answer: "Answer 2." });
    expect(server.refusals).toEqual([]);
    expect(JSON.stringify(server.requests[0]?.body)).toMatch(/"(json_schema|responseJsonSchema)"/);
  });

  test.each(WIRED.filter(({ name }) => name !== one.name))(
    "continues with a session that was saved on $name",
    async (other) => {
      const [here, there] = [await strict(one.wire), await strict(other.wire)];
      const { run } = createHome();
      const saved = await run(
        ["--model", `${other.name}/${other.model}`, "hello"],
        environment(other, there),
      );
      expect(saved.stdout).toBe("Answer 2.\n");
      const resumed = await run(["--model", model, "--resume", "--", "go on"], environment(one, here));
      expect(resumed).toMatchObject({ code: 0, stdout: "Answer 2.\n" });
      expect(JSON.stringify(here.requests[0]?.body)).toContain("Answer 2.");
      expect([...here.refusals, ...there.refusals]).toEqual([]);
    },
  );
});

// The first wire uses OPENAI_BASE_URL. With a custom address, "google/…" is a model name of that server, not a provider.
const [, ...OTHERS] = WIRED;

test.each(OTHERS)("announces a fallback of $name each time it answers", async (one) => {
  const [here, there] = [await strict(STRICT_MESSAGES), await strict(STRICT_GENERATE_CONTENT)];
  const [first, fallback] = OTHERS[0] === one ? [OTHERS[0], OTHERS[1]] : [OTHERS[1], OTHERS[0]];
  if (!first || !fallback) throw new Error("WIRED must hold two wires besides the first.");
  const serverOf = ({ wire }: Wired) => (wire === STRICT_MESSAGES ? here : there);
  const { run } = createHome();
  const env = { ...environment(first, serverOf(first), WRONG), ...environment(fallback, serverOf(fallback)) };
  const args = [
    "--model",
    `${first.name}/${first.model}`,
    "--fallback",
    `${fallback.name}/${fallback.model}`,
  ];
  for (const answer of ["Answer 2.\n", "Answer 5.\n"]) {
    const fallen = await run([...args, "hello"], env);
    expect(fallen).toEqual({ code: 0, stdout: answer, stderr: expect.stringMatching(/failed/) });
    expect(fallen.stderr).toMatch(/failed \(.*\); the fallback .* answers/);
    expect(fallen.stderr).not.toContain(WRONG);
  }
});

test("reads the key of a model of the AI SDK in the config from the environment, and hides it from tools", async () => {
  const answers = [{ calls: [{ id: "call_1", name: "look", args: {} }] }, { text: "Looked." }] as const;
  const server = await scriptedServer(dialects.messages, answers);
  onTestFinished(() => server.close());
  const { run, write, left } = createHome();
  const module = (specifier: string) => JSON.stringify(import.meta.resolve(specifier));
  write(
    "agent.config.mjs",
    `import { writeFileSync } from "node:fs";
     import { createAnthropic } from ${module("ai-sdk-anthropic-3")};
     import { fromLanguageModel } from ${module("@agent/provider-ai-sdk")};
     const model = createAnthropic({ baseURL: ${JSON.stringify(`${server.baseURL}/v1`)} })("m");
     const parameters = { type: "object", properties: {} };
     const pack = {
       packName: "looking",
       register: (registry) => registry.register({
         name: "look",
         capabilities: ["read"],
         getSchema: () => ({ type: "function", function: { name: "look", description: "Looks.", parameters } }),
         execute: async () => {
           writeFileSync("seen", "seen: " + process.env.ANTHROPIC_API_KEY);
           return "looked";
         },
       }),
     };
     export default { provider: fromLanguageModel(model), packs: [pack] };`,
  );
  const { stderr, ...answer } = await run(["--trust", "hello"], { ANTHROPIC_API_KEY: KEY });
  expect(answer, stderr).toEqual({ code: 0, stdout: "Looked.\n" });
  expect(left()).toContain("seen: undefined");
});

test("asks a model and its fallback in agent doctor, each by itself", async () => {
  const [main, fallback] = [await strict(STRICT_MESSAGES), await strict(STRICT_GENERATE_CONTENT)];
  const [first, second] = OTHERS;
  if (!first || !second) throw new Error("WIRED must hold two wires besides the first.");
  const { run } = createHome();
  const names = [first, second].map(({ name, model }) => `${name}/${model}`);
  const args = ["doctor", "--model", names[0] ?? "", "--fallback", names[1] ?? ""];
  const examined = async (key: string, otherKey: string) =>
    await run(args, { ...environment(first, main, key), ...environment(second, fallback, otherKey) });
  const wrongFirst = await examined(WRONG, KEY);
  expect(wrongFirst.code).toBe(2);
  expect(wrongFirst.stdout).toMatch(/✗ provider: .* could not answer.*✓ fallback: .* answered in/s);
  const wrongSecond = await examined(KEY, WRONG);
  expect(wrongSecond.code).toBe(2);
  expect(wrongSecond.stdout).toMatch(/✓ provider: .* answered in.*✗ fallback: .* could not answer/s);
});

describe("prices in the config are shown as cost, cached input at its own price", () => {
  // One call and one answer, the second request with most of its input from the server's cache.
  const ANSWERS = [
    {
      calls: [{ id: "c1", name: "read_file", args: { path: "file0" } }],
      usage: { input: 1000, output: 100, cached: 0 },
    },
    { text: "Found.", usage: { input: 1200, output: 50, cached: 900 } },
  ];
  const PRICE = { input: 2, output: 10, cachedInput: 0.5 };
  // 1300 fresh, 900 cached and 150 written tokens.
  const COST = (1300 * 2 + 900 * 0.5 + 150 * 10) / 1e6;
  const wired = (name: string): Wired => WIRED.find((one) => one.name === name) ?? expect.unreachable();

  test.each([
    ["openai chat", wired("openai"), dialects.chat, { api: "chat" }],
    ["openai responses", wired("openai"), dialects.responses, { api: "responses" }],
    ["anthropic", wired("anthropic"), dialects.messages, {}],
    ["google", wired("google"), dialects.generateContent, {}],
  ] as const)("%s", async (_name, { name, model, keyVariable, addressVariable, path }, dialect, more) => {
    for (const output of ["json", "text"]) {
      const server = await scriptedServer(dialect, ANSWERS);
      onTestFinished(() => server.close());
      const { run, write } = createHome();
      write(
        "agent.config.json",
        JSON.stringify({ provider: { name, model, ...more }, prices: { [model]: PRICE } }),
      );
      const { code, stdout, stderr } = await run(["--trust", "--output", output, "hello"], {
        [keyVariable]: KEY,
        [addressVariable]: `${server.baseURL}${path}`,
      });
      expect({ code, stderr }).toMatchObject({ code: 0 });
      if (output === "text") {
        expect(stderr).toContain("2,200 tokens in, 150 out · 2 requests · $0.0046");
        continue;
      }
      const { usage, cost } = JSON.parse(stdout);
      expect(usage).toMatchObject({ inputTokens: 2200, outputTokens: 150, cachedTokens: 900 });
      expect(cost).toBeCloseTo(COST, 10);
    }
  });
});
