import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { archiveGit } from "./gitArchive.js";

test("runs no filter that the user has for all repositories", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-archive-")));
  try {
    const repository = join(base, "repository");
    const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: repository });
    mkdirSync(repository);
    git("init", "-q");
    writeFileSync(join(repository, ".gitattributes"), "a.txt filter=lfs\n");
    writeFileSync(join(repository, "a.txt"), "pointer\n");
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one");
    const marker = join(base, "ran");
    mkdirSync(join(base, "config/git"), { recursive: true });
    writeFileSync(
      join(base, "config/git/config"),
      `[filter "lfs"]\n\tsmudge = "touch ${marker}; cat"\n\trequired = true\n`,
    );
    vi.stubEnv("XDG_CONFIG_HOME", join(base, "config"));
    const source = { url: `file://${repository}`, reference: "HEAD", path: "" };
    const { folder } = await archiveGit(source, join(base, "archive"));
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("pointer\n");
    expect(existsSync(marker)).toBe(false);
  } finally {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true, force: true });
  }
});

test("extracts no repository that is far larger than what is downloaded", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-archive-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const git = (args: readonly string[], input = "") =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: base, input })
      .toString()
      .trim();
  git(["init", "-q", "."]);
  // Ten files in ten directories in ten directories: one object for each level.
  let object = `100644 blob ${git(["hash-object", "-w", "--stdin"])}`;
  for (let level = 0; level < 9; level++) {
    const entries = Array.from({ length: 10 }, (_, index) => `${object}\t${index}\n`).join("");
    object = `040000 tree ${git(["mktree"], entries)}`;
  }
  git(["update-ref", "HEAD", git(["commit-tree", "-m", "many", object.slice("040000 tree ".length)])]);
  const source = { url: `file://${base}`, reference: "HEAD", path: "" };
  await expect(archiveGit(source, join(base, "archive"))).rejects.toThrow("larger than 256 MB");
});
