import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";

const ANOTHER_USER = 12_345;
const GRANT = JSON.stringify({ allow: ["write_file"] });

/** A place that every user may write, such as /tmp, with a directory that another user made for the agent. */
function sharedPlace(box: Sandbox, directory = "agent"): string {
  const place = join(box.root, "shared");
  mkdirSync(join(place, directory, "permissions"), { recursive: true });
  writeFileSync(join(place, directory, "permissions", "0000.json"), GRANT);
  chmodSync(place, 0o1777);
  chownSync(join(place, directory), ANOTHER_USER, ANOTHER_USER);
  return place;
}

/** All that is below a directory and open to others, though everything above it is too. */
function openBelow(directory: string): string[] {
  if ((statSync(directory).mode & 0o077) === 0) return [];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return openBelow(path);
    return (statSync(path).mode & 0o077) === 0 ? [] : [path];
  });
}

describe("what decides what may run is the user's own", () => {
  test.runIf(process.getuid?.() === 0).each(["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"])(
    "refuses a directory that another user made beforehand in %s",
    async (name) => {
      const box = new Sandbox();
      const { code, stderr } = await box.run(["tools"], { env: { [name]: sharedPlace(box) } });
      expect(stderr).toContain(`belongs to another user (uid ${ANOTHER_USER})`);
      expect(code).toBe(4);
    },
  );

  test.runIf(process.getuid?.() === 0)("refuses a link to one too", async () => {
    const box = new Sandbox();
    const place = sharedPlace(box, "theirs");
    symlinkSync("theirs", join(place, "agent"));
    const { code } = await box.run(["tools"], { env: { XDG_STATE_HOME: place } });
    expect(code).toBe(4);
  });

  test("closes the user's own directory to others who could enter it", async () => {
    const box = new Sandbox();
    const state = join(box.home, ".local", "state", "agent");
    mkdirSync(state, { recursive: true });
    chmodSync(state, 0o777);
    expect((await box.run(["tools"])).code).toBe(0);
    expect(statSync(state).mode & 0o777).toBe(0o700);
  });

  test("keeps stored files closed to others with a umask that forbids nothing", async () => {
    const box = new Sandbox();
    box.write("agent.config.mjs", "export default {};");
    const before = process.umask(0);
    try {
      expect((await box.run(["--trust", "write hello into a.txt"])).code).toBe(0);
    } finally {
      process.umask(before);
    }
    expect(openBelow(join(box.home, ".local"))).toEqual([]);
  });
});
