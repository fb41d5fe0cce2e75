import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { fileTools, MEMORY, temporaryDirectory } from "../../test/support.js";

const isLinux = process.platform === "linux";
const KEY = "sk-of-the-provider";

test.runIf(isLinux)(
  "never shows the environment or memory of a process, by whatever path and encoding",
  async () => {
    vi.stubEnv("PROVIDER_KEY", KEY);
    onTestFinished(() => vi.unstubAllEnvs() && undefined);
    const directory = temporaryDirectory();
    symlinkSync("/proc/self", join(directory, "link"));
    symlinkSync("/proc/self/environ", join(directory, "file"));
    symlinkSync("../../..//proc/thread-self/environ", join(directory, "relative"));
    const run = fileTools();
    const paths = [
      "/proc/self/environ",
      "/proc/thread-self/environ",
      `/proc/${process.pid}/environ`,
      `/proc/${process.ppid}/environ`,
      "/proc/1/environ",
      `/proc/${process.pid}/task/${process.pid}/environ`,
      `/proc/${process.pid}/root/proc/self/environ`,
      "/proc/self/../self/environ",
      "/proc/self/cwd/../../../../../../proc/self/environ",
      "/dev/fd/../environ",
      "/proc/self/mem",
      "/proc/self/maps",
      "/proc/self/auxv",
      "/proc/self/cmdline",
      "/proc/self/fdinfo/0",
      join(directory, "link/environ"),
      join(directory, "file"),
      join(directory, "relative"),
    ];
    for (const path of paths) {
      for (const encoding of [undefined, "utf-8", "latin1", "base64", "hex", "utf-16le"]) {
        const text = await run("read_file", { path, ...(encoding && { encoding }) });
        expect(text, `${path} ${encoding}`).toMatch(/which no tool reads|no such file|permission denied/);
      }
      const window = await run("read_file", { path, byte_offset: 1 });
      expect(window, path).toMatch(/which no tool reads|no such file|permission denied/);
      const edited = await run("edit_file", { path, old_text: "PROVIDER_KEY", new_text: "x" });
      expect(edited, path).not.toContain(KEY);
    }
  },
);

test.runIf(isLinux)("does not list open files and mapped memory of a process", async () => {
  const run = fileTools();
  for (const path of ["/proc/self/fd", "/dev/fd", "/proc/self/map_files", `/proc/${process.pid}/fdinfo`]) {
    expect(await run("list_dir", { path }), path).toContain("which no tool reads");
  }
  expect(await run("list_dir", { path: "/proc/self" })).toContain("status");
});

test.runIf(isLinux)("cannot move the environment of a process to a readable place", async () => {
  const directory = temporaryDirectory(MEMORY);
  mkdirSync(join(directory, "target"));
  const move = { source: "/proc/self/environ", destination: join(directory, "target/copy") };
  expect(await fileTools()("move", move)).toContain("which no tool reads");
  // The directory of a process contains its environment.
  const task = { source: `/proc/${process.pid}/task`, destination: join(directory, "target/task") };
  expect(await fileTools()("move", task)).toMatch(/^Error executing move/);
  expect(readdirSync(join(directory, "target"))).toEqual([]);
});
