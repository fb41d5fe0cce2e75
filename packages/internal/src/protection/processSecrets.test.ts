import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { assertNotProcessSecret, assertOpenedIsNotProcessSecret, isProcessSecret } from "./processSecrets.js";

test("treats memory, environment, arguments and open files of any process as secret", () => {
  for (const process of ["/proc/1", "/proc/self", "/proc/thread-self", "/proc/12/task/13"]) {
    for (const entry of [
      "environ",
      "mem",
      "maps",
      "smaps",
      "smaps_rollup",
      "numa_maps",
      "pagemap",
      "auxv",
      "cmdline",
      "stack",
      "syscall",
      "fd",
      "fd/0",
      "fdinfo/3",
      "map_files/400000-401000",
      "root",
      "root/etc/passwd",
      "cwd",
      "cwd/x",
      "added_by_a_new_kernel",
    ]) {
      expect(isProcessSecret(`${process}/${entry}`), `${process}/${entry}`).toBe(true);
    }
  }
  for (const path of ["/proc/kcore", "/dev/mem", "/dev/kmem"]) expect(isProcessSecret(path), path).toBe(true);
});

test("does not treat information about the system and the public part of a process as secret", () => {
  for (const path of [
    "/proc",
    "/proc/cpuinfo",
    "/proc/cmdline",
    "/proc/sys/kernel/hostname",
    "/proc/1",
    "/proc/self/status",
    "/proc/self/net/tcp",
    "/proc/1/task",
    "/proc/1/task/2",
    "/proc/1/task/2/comm",
    "/home/me/proc/1/environ",
    "/process/environ",
  ]) {
    expect(isProcessSecret(path), path).toBe(false);
  }
});

test("names the path in the error as it was written", () => {
  expect(() => assertNotProcessSecret("/proc/7/environ", "link")).toThrow(/^"?link"? shows the memory/);
});

function check(path: string): void {
  const fd = openSync(path, "r");
  try {
    assertOpenedIsNotProcessSecret(fd, fstatSync(fd), path);
  } finally {
    closeSync(fd);
  }
}

test.runIf(process.platform === "linux")("decides by the opened file, whatever its name", () => {
  for (const path of [
    "/proc/self/environ",
    "/proc/thread-self/environ",
    "/proc/self/root/proc/self/maps",
    "/proc/self/fd/../environ",
    `/proc/self/task/${process.pid}/auxv`,
    "/proc/self/fdinfo/0",
    "/proc/self/fd",
  ]) {
    expect(() => check(path), path).toThrow("no tool reads");
  }
  for (const path of ["/proc/self/status", "/proc/version", "/proc", "/etc", "/dev/null"]) check(path);
});

const UNSHARE = "unshare";
const canMount = spawnSync(UNSHARE, ["-r", "-m", "-p", "-f", "--mount-proc", "true"]).status === 0;

test.runIf(canMount)(
  "refuses a procfs, or one file of it, mounted elsewhere (needs mount namespaces)",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "process-secrets-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const source = fileURLToPath(new URL("processSecrets.ts", import.meta.url));
    const module = join(directory, "processSecrets.mjs");
    buildSync({ entryPoints: [source], outfile: module, bundle: true, platform: "node", format: "esm" });
    const script = `
    import { closeSync, fstatSync, openSync } from "node:fs";
    const { assertOpenedIsNotProcessSecret } = await import(${JSON.stringify(module)});
    for (const path of process.argv.slice(1)) {
      const fd = openSync(path, "r");
      try { assertOpenedIsNotProcessSecret(fd, fstatSync(fd), path); console.log("read"); }
      catch (error) { console.log(error.message.includes("no tool reads") ? "refused" : error.message); }
      closeSync(fd);
    }`;
    const shell = `
    cd "$1" && mkdir all && touch one plain && echo x > plain &&
    mount -t proc proc all && mount --bind /proc/1/environ one &&
    exec "$2" --input-type=module -e "$3" all/1/environ one plain`;
    const output = execFileSync(
      UNSHARE,
      ["-r", "-m", "-p", "-f", "--mount-proc", "sh", "-c", shell, "sh", directory, process.execPath, script],
      { encoding: "utf8" },
    );
    expect(output).toBe("refused\nrefused\nread\n");
    expect(readFileSync(join(directory, "plain"), "utf8")).toBe("x\n");
  },
);
