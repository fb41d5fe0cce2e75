import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { runBashTool } from "../tools/bash.js";
import { buildEnvironment, matchNames } from "./environment.js";

leaveNoProcessBehind();
afterEach(() => vi.unstubAllEnvs());
const SECRET = "sk-test-0123456789";

describe("the provider key", () => {
  test("is removed from a command's environment; other variables stay", async () => {
    vi.stubEnv("OPENAI_API_KEY", SECRET);
    vi.stubEnv("TOOLS_BASH_OTHER", "kept");
    const { stdout } = await runBash({ command: "env" });
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toContain("TOOLS_BASH_OTHER=kept\n");
  });

  test("is passed on if hideEnv allows it", async () => {
    vi.stubEnv("OPENAI_API_KEY", SECRET);
    expect((await runBash({ command: "env" }, { hideEnv: [] })).stdout).toContain(SECRET);
  });

  test("is hidden by wildcards in hideEnv", async () => {
    vi.stubEnv("MY_TOKEN", SECRET);
    expect((await runBash({ command: "env" }, { hideEnv: ["*_TOKEN"] })).stdout).not.toContain(SECRET);
  });

  test("is passed on if the call itself sets a value", async () => {
    const result = await runBash({ command: 'echo "$OPENAI_API_KEY"', env: { OPENAI_API_KEY: "given" } });
    expect(result.stdout).toBe("given\n");
  });
});

describe("secrets of the host", () => {
  const tool = (options = {}) => runBashTool(options, { secretVariables: ["MY_PROVIDER_KEY"] });
  const env = async (options = {}) =>
    JSON.parse(await tool(options).execute({ command: "env" })).stdout as string;

  test("are withheld next to hideEnv, also under another name and inside another value", async () => {
    vi.stubEnv("MY_PROVIDER_KEY", SECRET);
    vi.stubEnv("SAME_KEY", SECRET);
    vi.stubEnv("HEADERS", `{"authorization": "Bearer ${SECRET}"}`);
    vi.stubEnv("TOOLS_BASH_OTHER", "kept");
    for (const options of [{}, { hideEnv: [] }, { hideEnv: ["X"] }]) {
      expect(await env(options)).not.toContain(SECRET);
      expect(await env(options)).toContain("TOOLS_BASH_OTHER=kept\n");
    }
  });

  test("do not hide other values if one is too short to be a secret", async () => {
    vi.stubEnv("MY_PROVIDER_KEY", "a");
    vi.stubEnv("TOOLS_BASH_OTHER", "banana");
    expect(await env()).toContain("TOOLS_BASH_OTHER=banana\n");
  });

  test.each([
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "HF_TOKEN",
    "DEEPINFRA_API_KEY",
    "OPENAI_CUSTOM_HEADERS",
  ])("include %s, which is withheld without being named", async (name) => {
    vi.stubEnv(name, SECRET);
    vi.stubEnv("COPY_OF_IT", SECRET);
    expect(await env()).not.toContain(SECRET);
  });
});

test("treats __proto__ in env like any other variable", async () => {
  const env = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  const { stdout } = await runBash({ command: "env", env });
  expect(stdout).toContain("__proto__=x\n");
  expect(stdout).toContain("constructor=y\n");
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test("matches whole names with wildcards and nothing else", () => {
  const isHidden = matchNames(["A*", "*.B", "EXACT"]);
  expect(["A", "ABC", "x.B", "EXACT"].every(isHidden)).toBe(true);
  expect(["BA", "xxB", "EXACTLY", ""].some(isHidden)).toBe(false);
});

describe("git inside a command", () => {
  /** A directory that is a bare repository as ordinary files, whose configuration names a program. */
  async function bareRepository(): Promise<{ readonly at: string; readonly mark: string }> {
    const at = mkdtempSync(join(tmpdir(), "agent-bare-"));
    onTestFinished(() => rmSync(at, { recursive: true, force: true }));
    const mark = join(at, "ran");
    await runBash({ command: "git init -q --bare .", cwd: at });
    writeFileSync(
      join(at, "config"),
      `[core]\n repositoryformatversion = 0\n bare = false\n worktree = ${at}\n fsmonitor = "touch ${mark};false"\n`,
    );
    return { at, mark };
  }

  test("does not use a bare repository that a project contains", async () => {
    const { at, mark } = await bareRepository();
    const { exit_code: code, stderr } = await runBash({ command: "git status", cwd: at });
    expect(code).not.toBe(0);
    expect(stderr).toContain("safe.bareRepository");
    expect(existsSync(mark)).toBe(false);
  });

  test("keeps the names of settings in a sandbox, and hides the header of a login", () => {
    vi.stubEnv("GIT_CONFIG_COUNT", "2");
    vi.stubEnv("GIT_CONFIG_KEY_0", "user.name");
    vi.stubEnv("GIT_CONFIG_VALUE_0", "Ada");
    vi.stubEnv("GIT_CONFIG_KEY_1", "http.https://example.com/.extraheader");
    vi.stubEnv("GIT_CONFIG_VALUE_1", "AUTHORIZATION: basic eDp5");
    const env = buildEnvironment({ hidden: [], secret: [], passed: [] }, {}, "tag");
    expect(env).toMatchObject({
      GIT_CONFIG_COUNT: "3",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "Ada",
      GIT_CONFIG_KEY_1: "http.https://example.com/.extraheader",
      GIT_CONFIG_VALUE_1: "",
      GIT_CONFIG_KEY_2: "safe.bareRepository",
    });
  });

  test("keeps the settings of the environment", async () => {
    vi.stubEnv("GIT_CONFIG_COUNT", "1");
    vi.stubEnv("GIT_CONFIG_KEY_0", "user.name");
    vi.stubEnv("GIT_CONFIG_VALUE_0", "Ada");
    const { stdout } = await runBash({ command: "git config user.name; git config safe.bareRepository" });
    expect(stdout).toBe("Ada\nexplicit\n");
  });
});
