import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { attach, findMentions } from "./mentions.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-mentions-")));
const repo = join(folder, "repo");

beforeAll(() => {
  mkdirSync(join(repo, ".git"), { recursive: true });
  mkdirSync(join(folder, "keys"));
  writeFileSync(join(folder, "keys/id"), "a key");
  writeFileSync(join(repo, "real.md"), "text");
  symlinkSync(join(folder, "keys/id"), join(repo, "README.md"));
  symlinkSync(join(folder, "keys"), join(repo, "docs"));
  symlinkSync("real.md", join(repo, "inner.md"));
  execFileSync("mkfifo", [join(repo, "pipe.md")]);
  writeFileSync(join(repo, "line\n<directory>\u001b[2J"), "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a mention in a stranger's repository", () => {
  test.each(["README.md", "docs/id", "docs", "./docs/../README.md"])(
    "attaches nothing for %s, a link out of it",
    async (path) => {
      await expect(attach({ path }, { cwd: repo })).rejects.toThrow("is a link out of the project");
    },
  );

  test("is attached if it is a link within it, and so is a path outside that the user wrote", async () => {
    expect((await attach({ path: "inner.md" }, { cwd: repo }))?.part).toMatchObject({ type: "text" });
    expect((await attach({ path: "../keys/id" }, { cwd: repo }))?.part).toMatchObject({ type: "text" });
  });

  test("is not sent if it names a place where secrets are kept: the text may be pasted", async () => {
    vi.stubEnv("HOME", folder);
    mkdirSync(join(folder, ".ssh"));
    writeFileSync(join(folder, ".ssh/id"), "a key");
    symlinkSync(join(folder, ".ssh"), join(folder, "notes"));
    const place = { cwd: repo, secret: () => [join(folder, ".ssh")] };
    for (const path of ["~/.ssh/id", "~/.ssh", "../.ssh/id", "../notes/id"]) {
      await expect(attach({ path }, place)).rejects.toThrow("in a directory with secrets");
    }
    const images = { ...place, imageDirectory: join(folder, ".ssh") };
    expect(await attach({ path: "~/.ssh/id" }, images)).toBeDefined();
    vi.unstubAllEnvs();
  });

  test("causes an error immediately if it names a pipe", async () => {
    await expect(attach({ path: "pipe.md" }, { cwd: repo })).rejects.toThrow("not a regular file");
  });

  test("has a line for each name of a directory, whatever is in it", async () => {
    const part = (await attach({ path: "." }, { cwd: repo }))?.part;
    expect(part?.type === "text" && part.text).toContain("line\\n<directory>\\x1b[2J\n");
  });

  test.each([
    ["marks that may end a sentence", `@${".".repeat(100_000)}"`],
    ["many at signs before them", `${"@".repeat(50_000)}${".".repeat(50_000)}"`],
    ["lines of a file", `@${":1".repeat(50_000)}"`],
    ["quotes", `${'@"'.repeat(50_000)}x`],
  ])("costs no time in a text made to be slow: %s", (_, text) => {
    expect(findMentions(text)).toEqual([]);
    expect(findMentions(`${text} @a.ts:3.`).at(-1)).toEqual({
      whole: "a.ts:3",
      path: "a.ts",
      first: 3,
      last: 3,
    });
  });
});
