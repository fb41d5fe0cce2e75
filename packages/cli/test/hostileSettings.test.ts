import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";

const KEY = "sk-verysecret123";
const PASSWORD = "pAssw0rd";
const URL_WITH_PASSWORD = `http://user:${PASSWORD}@127.0.0.1:9/v1`;

describe("a config that misbehaves", () => {
  test.each([
    ["export default () => ({});", "the config must be an object, got function"],
    ["export default null;", "the config must be an object, got null"],
    ["export default { get enable() { throw new Error('a getter') } };", "agent.config.ts: a getter"],
    ["throw undefined;", "agent.config.ts: unknown error"],
  ])("is reported in one message with its file: %s", async (source, message) => {
    const box = new Sandbox();
    box.write("agent.config.ts", source);
    const { code, stdout, stderr } = await box.run(["tools", "--trust"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("prints nothing into JSON", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", 'console.log("noise"); export default {};');
    const { stdout, stderr } = await box.run(["tools", "--json", "--trust"]);
    expect(JSON.parse(stdout).v).toBe(1);
    expect(stderr).toContain("noise");
  });

  test("is reported if it exits the process", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", "process.exit(0);");
    const { code, stderr } = await box.run(["tools", "--trust"]);
    expect(code).toBe(70);
    expect(stderr).toContain("the process exited");
  });

  test("may have a byte order mark and Windows line ends", async () => {
    const json = new Sandbox();
    json.write("agent.config.json", '\ufeff{\r\n  "enable": ["remove"]\r\n}\r\n');
    expect((await json.run(["tools", "--trust"])).stdout).toMatch(/remove +on/);
    const code = new Sandbox();
    code.write("agent.config.ts", '\ufeffexport default {\r\n  enabel: ["x"]\r\n};\r\n');
    expect((await code.run(["tools", "--trust"])).stderr).toContain(
      'agent.config.ts:2: "enabel" is not known',
    );
  });
});

describe("a home that cannot be written", () => {
  const unwritable = (box: Sandbox): Record<string, string> => {
    const file = join(box.root, "file");
    writeFileSync(file, "");
    return { XDG_STATE_HOME: file, XDG_CONFIG_HOME: file, XDG_CACHE_HOME: file };
  };

  test("does not stop a task, and reports that the session is not saved", async () => {
    const box = new Sandbox();
    const { code, stdout, stderr } = await box.run(["list files"], { env: unwritable(box) });
    expect(code).toBe(0);
    expect(stdout).toContain("In the working directory:");
    expect(stderr).toContain("the session is not saved");
  });

  test("applies --trust to this run", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", 'export default { enable: ["remove"] };');
    const env = unwritable(box);
    const { code, stdout, stderr } = await box.run(["tools", "--trust"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/remove +on/);
    expect(stderr).toContain("your decision could not be saved");
    expect((await box.run(["tools"], { env })).code).toBe(4);
  });

  test.skipIf(process.platform !== "linux")(
    "never hangs below /proc, where nothing can be created",
    async () => {
      const { code, stderr } = await new Sandbox().run(["list files"], { env: { HOME: "/proc" } });
      expect(code).toBe(0);
      expect(stderr).toContain("the session is not saved");
    },
  );
});

describe("secrets are never printed", () => {
  test.each([
    ["config"],
    ["config", "--explain"],
    ["doctor"],
    ["hi"],
    ["--output", "json", "hi"],
    ["--output", "stream-json", "hi"],
  ])("prints neither the key nor the password of a URL: %s %s %s", async (...args) => {
    const { stdout, stderr } = await new Sandbox().run(args.filter(Boolean), {
      env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: URL_WITH_PASSWORD },
    });
    expect(stdout + stderr).not.toContain(KEY);
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  test("quotes a wrong URL without its password", async () => {
    for (const url of [`ftp://user:${PASSWORD}@host/v1`, `http://user:${PASSWORD}@[bad`]) {
      const { code, stderr } = await new Sandbox().run(["--base-url", url, "hi"]);
      expect(code).toBe(2);
      expect(stderr).toContain("[hidden]@");
      expect(stderr).not.toContain(PASSWORD);
    }
    const box = new Sandbox();
    box.write("agent.config.ts", `export default { provider: { baseURL: "http://u:${PASSWORD}@" } };`);
    expect((await box.run(["config", "--trust"])).stderr).not.toContain(PASSWORD);
  });

  test("hides keys, headers, request fields and what a pack's options call a token in agent config", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.ts",
      `const body: Record<string, unknown> = { api_key: "BODY" };
body.self = body;
export default {
  provider: { apiKey: "${KEY}", baseURL: "${URL_WITH_PASSWORD}?code=QUERY", headers: { a: "HEADER" }, body },
  packs: [["@agent/preset-default", { fs: { token: "OPTION" } }]],
};`,
    );
    for (const args of [["config"], ["config", "--explain"]]) {
      const { code, stdout, stderr } = await box.run([...args, "--trust"]);
      expect(code).toBe(0);
      for (const secret of [KEY, PASSWORD, "BODY", "QUERY", "HEADER", "OPTION"])
        expect(stdout + stderr).not.toContain(secret);
    }
  });

  test("prints an error before the first answer as JSON on standard output, while packs are still loading", async () => {
    const { code, stdout } = await new Sandbox().run([
      "--output",
      "json",
      "--base-url",
      URL_WITH_PASSWORD,
      "hi",
    ]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).exitCode).toBe(2);
  });
});
