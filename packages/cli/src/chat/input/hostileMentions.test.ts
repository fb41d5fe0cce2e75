import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attach } from "./mentions.js";

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
    "%s, a link out of it, attaches nothing",
    async (path) => {
      await expect(attach({ path }, repo)).rejects.toThrow("is a link out of the project");
    },
  );

  test("that is a link within it is attached, and so is a path outside that the person wrote", async () => {
    expect((await attach({ path: "inner.md" }, repo))?.part).toMatchObject({ type: "text" });
    expect((await attach({ path: "../keys/id" }, repo))?.part).toMatchObject({ type: "text" });
  });

  test("of a pipe is an error at once", async () => {
    await expect(attach({ path: "pipe.md" }, repo)).rejects.toThrow("not a regular file");
  });

  test("of a directory has a line for each name, whatever is in it", async () => {
    const part = (await attach({ path: "." }, repo))?.part;
    expect(part?.type === "text" && part.text).toContain("line\\n<directory>\\x1b[2J\n");
  });
});
