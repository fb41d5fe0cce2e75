import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { rulingOf } from "../../test/ruling.js";
import { shownRule } from "./shownRule.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-rules-")));
beforeAll(() => {
  mkdirSync(join(root, "secrets"));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "secrets/key"), "");
  symlinkSync("secrets", join(root, "link"));
  symlinkSync("/etc", join(root, "src/etc"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Decides with the working directory at `below` the project. */
async function ruling(
  name: string,
  args: Record<string, unknown>,
  options: Parameters<typeof rulingOf>[2],
  below = ".",
) {
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(join(root, below));
  try {
    return await rulingOf(name, args, { root, ...options });
  } finally {
    cwd.mockRestore();
  }
}

const deny = { deny: ["*(secrets/**)"] };
const ask = { ask: ["*(secrets/**)"] };

describe("a rule about paths", () => {
  test("applies to the file that the tool opens, also in a subdirectory of the project", async () => {
    expect(await ruling("read_file", { path: "key" }, deny, "secrets")).toBe("deny");
    expect(await ruling("read_file", { path: "../secrets/key" }, deny, "secrets")).toBe("deny");
    expect(await ruling("read_file", { path: "../link/key" }, deny, "secrets")).toBe("deny");
    expect(await ruling("read_file", { path: "../src/key" }, deny, "secrets")).toBe("allow");
    const allow = { allow: ["write_file(src/**)"], mode: "ask" } as const;
    const write = (path: string) => ruling("write_file", { path, content: "" }, allow, "secrets");
    expect(await write("src/a")).toBe("ask");
    expect(await write("../src/a")).toBe("allow");
    expect(await write("../src/../package.json")).toBe("ask");
    expect(await write("../src/etc/passwd")).toBe("ask");
  });

  test("covers an edit if it is for writing, and for every tool that writes", async () => {
    const allow = { allow: ["file.write(src/**)"], mode: "ask" } as const;
    writeFileSync(join(root, "src/a.ts"), "a");
    const edit = { path: "src/a.ts", old_text: "a", new_text: "b" };
    expect(await ruling("edit_file", edit, allow)).toBe("allow");
    expect(await ruling("move", { source: "src/a.ts", destination: "src/b.ts" }, allow)).toBe("allow");
    expect(await ruling("move", { source: "src/a.ts", destination: "b.ts" }, allow)).toBe("ask");
    const env = { deny: ["file.write(.env)"] };
    expect(await ruling("write_file", { path: ".env", content: "" }, env)).toBe("deny");
    expect(await ruling("move", { source: "src/a.ts", destination: ".env" }, env)).toBe("deny");
    expect(await ruling("read_file", { path: "src/a.ts" }, env)).toBe("allow");
  });

  test.each([
    ["remove", { path: "secrets" }],
    ["move", { source: "secrets", destination: "src/x" }],
    ["search_text", { query: "key", paths: ["src", "."] }],
    ["search_text", { query: "key", paths: [".."] }],
  ])("asks about a directory above of what it is about: %s %j", async (name, args) => {
    expect(await ruling(name, args, deny)).toBe("ask");
    expect(await ruling(name, args, ask)).toBe("ask");
  });
});

describe("what is always allowed", () => {
  test("does not extend from exactly this call to another whose arguments look like its command", async () => {
    const command = '{"command":"x","env":{"A":"1"}}';
    const other = { command: "x", env: { A: "1" } };
    const mode = "ask";
    const decide = (args: Record<string, unknown>, granted: string) =>
      ruling("run_bash", args, { granted: [`run_bash(=${granted})`], mode });
    expect(await decide(other, command)).toBe("allow");
    expect(await decide({ command }, command)).toBe("ask");
    expect(await decide({ command }, JSON.stringify({ command }))).toBe("allow");
  });

  test.each([
    ["npm test *", "npm test -- --watch", "npm test --script-shell=./x"],
    ["go test *", "go test ./...", "go test -exec ./x ./..."],
    ["git log *", "git log --oneline", "git log --output=/home/me/.bashrc --format=x"],
    ["rg *", "rg -n a", "rg --pre ./x a"],
    ["git *", "git log", "git -c core.pager=./x log"],
  ])("as %s allows what this text states, and asks about more", async (pattern, said, more) => {
    const rules = [`run_bash(${pattern})`];
    for (const options of [{ granted: rules }, { allow: rules }]) {
      const decide = (command: string) => ruling("run_bash", { command }, { ...options, mode: "ask" });
      expect([await decide(said), await decide(more)]).toEqual(["allow", "ask"]);
    }
  });

  test("is listed on one line that cannot be mistaken for several rules", () => {
    const shown = (command: string) => shownRule({ tool: "run_bash", exact: true, pattern: command });
    expect(shown("rm -rf x")).toBe("run_bash(=rm -rf x)");
    expect(shown(`rm${" ".repeat(60)}  2  ls`)).toBe("run_bash(=rm [62 blanks] 2  ls)");
    expect(shown("a\u00a0\u00a0b\n  2  ls\u202e")).toBe("run_bash(=a\\xa0\\xa0b\\n  2  ls\\u202e)");
    expect(shown(`${"a".repeat(5000)}; rm -rf x`)).toMatch(
      /^run_bash\(=a+ \[… \d+ characters …\] a+; rm -rf x\)$/,
    );
    // "run_bash(=" and ")" are eleven characters.
    expect(shown("a".repeat(289))).toBe(`run_bash(=${"a".repeat(289)})`);
    expect(shown("a".repeat(290))).toBe(
      `run_bash(=${"a".repeat(190)} [… 41 characters …] ${"a".repeat(59)})`,
    );
    expect(shown("\u0440m x")).toContain('(it has lookalikes: "\u0440" is U+0440)');
  });
});
