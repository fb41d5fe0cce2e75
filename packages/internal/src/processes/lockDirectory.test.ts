import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { lockDirectory, lockFile, prepareLockDirectory } from "./lockDirectory.js";

const ANOTHER_USER = 12_345;
const hasSessionDirectory =
  statSync(`/run/user/${process.geteuid?.()}`, { throwIfNoEntry: false }) !== undefined;

let home: string;
let runtime: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agent-locks-home-"));
  runtime = join(home, "runtime");
  mkdirSync(runtime, { mode: 0o700 });
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_STATE_HOME", undefined);
  vi.stubEnv("XDG_RUNTIME_DIR", runtime);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

describe("the directory of locks", () => {
  test("is in the runtime directory, private", () => {
    expect(prepareLockDirectory()).toBe(true);
    expect(dirname(lockFile("/a"))).toBe(join(runtime, "agent-locks"));
    expect(statSync(lockDirectory()).mode & 0o777).toBe(0o700);
  });

  test.skipIf(hasSessionDirectory)("is in the state directory without a runtime directory", () => {
    for (const value of [undefined, "", "relative", join(home, "missing")]) {
      vi.stubEnv("XDG_RUNTIME_DIR", value);
      expect(prepareLockDirectory(), value).toBe(true);
      expect(lockDirectory()).toBe(join(home, ".local/state/agent/locks"));
    }
    vi.stubEnv("XDG_STATE_HOME", join(home, "state"));
    expect(lockDirectory()).toBe(join(home, "state/agent/locks"));
  });

  test.skipIf(hasSessionDirectory)("is not in a runtime directory that others can write", () => {
    chmodSync(runtime, 0o777);
    expect(lockDirectory()).toBe(join(home, ".local/state/agent/locks"));
  });

  test.runIf(process.getuid?.() === 0).each(["its name", "the runtime directory"])(
    "does not stop any work if another user occupies %s",
    (what) => {
      const theirs = what === "its name" ? join(runtime, "agent-locks") : runtime;
      mkdirSync(theirs, { recursive: true });
      chownSync(theirs, ANOTHER_USER, ANOTHER_USER);
      // Without locks in the first case, with those of the next place in the second.
      expect(prepareLockDirectory()).toBe(what !== "its name");
      expect(lockDirectory().startsWith(join(runtime, "agent-locks"))).toBe(what === "its name");
    },
  );

  test.runIf(process.getuid?.() === 0 && !hasSessionDirectory)("is not in another user's home", () => {
    vi.stubEnv("XDG_RUNTIME_DIR", "");
    chownSync(home, ANOTHER_USER, ANOTHER_USER);
    expect(lockDirectory().startsWith(home)).toBe(false);
  });

  test("is left out if none can be made", () => {
    vi.stubEnv("XDG_RUNTIME_DIR", "");
    for (const place of ["/proc/none", "/dev/null", join(home, "file")]) {
      writeFileSync(join(home, "file"), "");
      vi.stubEnv("XDG_STATE_HOME", place);
      expect(prepareLockDirectory() && !hasSessionDirectory, place).toBe(false);
    }
  });
});
