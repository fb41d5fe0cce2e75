import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { useWorkspace } from "../../test/workspace.js";
import { runBashTool } from "../tools/bash.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox(resolveSandbox("auto")).status();
const required = { sandbox: "require" } as const;
const at = useWorkspace();
const inWorkspace = (path: string) => join(at.workspace, path);

/** How often a directory is swapped in a test, and how many commands start meanwhile at the same time. */
const SWAPS = 2500;
const PARALLEL = 3;

/**
 * Exchanges a directory for a link and back. The directory is in its place for long enough to be checked, and the link for
 * long enough to be resolved; how long differs each time.
 */
const SWAPPER = `
const { renameSync, rmSync } = require("fs");
// A sandbox may make an empty mount point where a directory was a moment ago.
const move = (from, to) => {
  for (let tries = 0; ; tries++) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (tries === 1000) throw error;
      try {
        rmSync(to, { recursive: true, force: true });
      } catch {
        // It made another one meanwhile.
      }
    }
  }
};
const [name, link, aside, swaps] = process.argv.slice(1);
const cell = new Int32Array(new SharedArrayBuffer(4));
const wait = (most) => Atomics.wait(cell, 0, 0, most * Math.random() ** 3);
for (let count = 0; count < swaps; count += 2) {
  move(name, aside);
  move(link, name);
  wait(4);
  move(name, link);
  move(aside, name);
  wait(20);
}
`;

/**
 * Starts a command over and over while a directory of the workspace is swapped for the link `link`. Returns what each
 * printed, or why it was not run.
 */
async function runWhileSwapping(
  tool: ReturnType<typeof runBashTool>,
  directory: string,
  command: string,
): Promise<string[]> {
  const swapper = spawn(process.execPath, ["-e", SWAPPER, directory, "link", "aside", String(SWAPS)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  const exited = once(swapper, "exit");
  const results: string[] = [];
  const lane = async (): Promise<void> => {
    while (swapper.exitCode === null) {
      const outcome = tool.execute({ command }).then(
        (text) => JSON.parse(text).stdout as string,
        (error: Error) => error.message,
      );
      results.push(await outcome);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
  expect(await exited).toEqual([0, null]);
  return results;
}

/** A repository of the user directly below the workspace. */
function makeRepository(path: string): void {
  for (const name of ["hooks", "objects", "refs"]) mkdirSync(join(path, ".git", name), { recursive: true });
  writeFileSync(join(path, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(path, ".git/config"), "[core]\n");
}

/** All files below a directory that hold something. */
function contents(path: string): string[] {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "utf8")]);
  return texts.filter(([, text]) => text !== "").map(([name, text]) => `${name}: ${text}`);
}

describe.skipIf(program === undefined)(
  `while a directory is swapped for a link${problem ? ` (skipped: ${problem})` : ""}`,
  () => {
    test("never shows a secret place in the place of a repository", { timeout: 240_000 }, async () => {
      const keys = join(at.outside, "keys");
      mkdirSync(keys);
      writeFileSync(join(keys, "key"), "s3cr3t");
      makeRepository(inWorkspace("sub"));
      mkdirSync(inWorkspace("fake"));
      symlinkSync(keys, inWorkspace("fake/.git"));
      symlinkSync("fake", inWorkspace("link"));
      const tool = runBashTool(required, { access: { secret: [keys] } });
      const command = "cat sub/.git/key link/.git/key aside/.git/key; echo ran";
      const results = await runWhileSwapping(tool, "sub", command);
      expect(results.filter((result) => result.includes("s3cr3t"))).toEqual([]);
      expect(results).toContain("ran\n");
      for (const result of results) expect(result).toMatch(/^ran\n|Nothing was run/);
    });

    test("never writes hooks and configuration of another repository", { timeout: 240_000 }, async () => {
      const other = join(at.outside, "other");
      makeRepository(other);
      const before = contents(other);
      makeRepository(inWorkspace("sub"));
      symlinkSync(other, inWorkspace("link"));
      const write = (name: string) => `echo evil > ${name}/.git/hooks/pre-commit; echo evil > ${name}/.git/x`;
      const command = `${["sub", "aside", "link"].map(write).join("; ")}; echo ran`;
      const results = await runWhileSwapping(runBashTool(required), "sub", command);
      expect(results).toContain("ran\n");
      // bubblewrap may have made a mount point there, which is empty, before its mounts were found to be wrong.
      expect(contents(other)).toEqual(before);
    });

    test("never writes a directory outside, if a secret place is below the workspace", {
      timeout: 240_000,
    }, async () => {
      mkdirSync(inWorkspace("place/keys"), { recursive: true });
      mkdirSync(join(at.outside, "keys"));
      symlinkSync(at.outside, inWorkspace("link"));
      const tool = runBashTool(required, { access: { secret: [inWorkspace("place/keys")] } });
      const command = "for name in place link aside; do echo evil > $name/evil; done; echo ran";
      expect(await runWhileSwapping(tool, "place", command)).toContain("ran\n");
      expect(contents(at.outside)).toEqual([]);
    });

    test("does not let a command swap a directory that contains something protected or secret", async () => {
      makeRepository(inWorkspace("sub"));
      mkdirSync(inWorkspace("place/keys"), { recursive: true });
      mkdirSync(inWorkspace("place/other"));
      const tool = runBashTool(required, {
        access: { secret: [inWorkspace("place/keys"), inWorkspace("place/other")] },
      });
      const command = "mv sub aside; mv place moved; ls -d aside moved";
      const { stdout, stderr } = JSON.parse(await tool.execute({ command }));
      expect(stdout).toBe("");
      expect(stderr.match(/busy/g)).toHaveLength(2);
    });

    test("returns the result of a command whose repository was moved away meanwhile", async () => {
      makeRepository(inWorkspace("sub"));
      const running = runBash(
        { command: "echo > started; until [ -e go ]; do sleep 0.01; done; echo ran" },
        required,
      );
      await expect.poll(() => existsSync(inWorkspace("started")), { timeout: 60_000 }).toBe(true);
      renameSync(inWorkspace("sub"), inWorkspace("aside"));
      writeFileSync(inWorkspace("go"), "");
      expect((await running).stdout).toBe("ran\n");
    });

    test("keeps a protected directory read-only above a secret place in it", async () => {
      mkdirSync(inWorkspace("conf/user/storage"), { recursive: true });
      writeFileSync(inWorkspace("conf/user/settings.json"), "{}");
      const tool = runBashTool(required, {
        protectedPaths: [inWorkspace("conf")],
        access: { secret: [inWorkspace("conf/user/storage")] },
      });
      const { stdout } = JSON.parse(
        await tool.execute({ command: "echo evil > conf/user/settings.json || echo refused" }),
      );
      expect(stdout).toBe("refused\n");
      expect(readFileSync(inWorkspace("conf/user/settings.json"), "utf8")).toBe("{}");
    });

    test("hides each of several secret places in one directory", async () => {
      for (const name of ["one", "two"]) {
        mkdirSync(inWorkspace(`.config/${name}`), { recursive: true });
        writeFileSync(inWorkspace(`.config/${name}/key`), "s3cr3t");
      }
      const secret = ["one", "two"].map((name) => inWorkspace(`.config/${name}`));
      const tool = runBashTool(required, { access: { secret } });
      expect(await tool.execute({ command: "cat .config/*/key" })).not.toContain("s3cr3t");
    });

    test("hides a secret place after a command replaced the link to it", async () => {
      const keys = join(at.outside, "keys");
      mkdirSync(keys);
      writeFileSync(join(keys, "key"), "s3cr3t");
      symlinkSync(at.outside, inWorkspace("link"));
      const options = { sandbox: { mode: "require", writable: [at.outside] } } as const;
      const tool = runBashTool(options, { access: { secret: [inWorkspace("link/keys")] } });
      await tool.execute({ command: "rm link; mkdir -p link/keys" });
      expect(await tool.execute({ command: `cat ${keys}/key` })).not.toContain("s3cr3t");
    });

    test("refuses a workspace that was moved, with a link in its place", async () => {
      const victim = join(at.outside, "victim");
      mkdirSync(victim);
      mkdirSync(inWorkspace("inner"));
      process.chdir(inWorkspace("inner"));
      process.cwd(); // Node remembers the path.
      renameSync(inWorkspace("inner"), inWorkspace("moved"));
      symlinkSync(victim, inWorkspace("inner"));
      const call = runBash({ command: "echo evil > file" }, required);
      await expect(call).rejects.toThrow(/no longer the agent's working directory.*Nothing was run/);
      expect(readdirSync(victim)).toEqual([]);
      expect(existsSync(inWorkspace("moved/file"))).toBe(false);
      process.chdir(at.workspace);
      rmSync(inWorkspace("inner"));
    });
  },
);
