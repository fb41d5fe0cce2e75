import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bindMount } from "@agent/core/sandbox";
import { expect, onTestFinished, test, vi } from "vitest";
import { planMounts, privatePlaces } from "./mounts.js";

test.runIf(process.platform === "linux").each([
  ["/usr", true],
  ["usr", false],
  ["/nowhere/at/all", false],
  ["/etc/passwd", false],
  [undefined, false],
])("hides the runtime directory if it is an absolute path of a directory: %s", (runtime, isHidden) => {
  vi.stubEnv("XDG_RUNTIME_DIR", runtime);
  const places = privatePlaces();
  vi.unstubAllEnvs();
  expect(places).toContain("/tmp");
  expect(places.filter((path) => !/^\/(?:tmp|run|var\/run)$/.test(path))).toEqual(isHidden ? [runtime] : []);
});

test.runIf(process.platform === "linux")("hides a runtime directory with the one around it", () => {
  vi.stubEnv("XDG_RUNTIME_DIR", "/run/lock");
  const places = privatePlaces();
  vi.unstubAllEnvs();
  expect(places).not.toContain("/run/lock");
});

test.runIf(process.platform === "linux")(
  "guards no file inside a directory that is hidden, where it would have no mount point",
  () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-mounts-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [open, secret, shown] = [join(root, "open"), join(root, "secret"), join(root, "shown")];
    mkdirSync(shown);
    const files = [open, secret].map((directory) => {
      mkdirSync(directory);
      const file = join(directory, "settings");
      writeFileSync(file, "");
      return file;
    });
    const mounts = planMounts(
      { writable: [root], shown: [shown], hidden: [secret] },
      files.map((file) => bindMount(file, false)),
      undefined,
    );
    const below = mounts.filter(({ path }) => path.startsWith(`${root}/`));
    expect(below).toMatchObject([
      { kind: "tmpfs", path: secret },
      { kind: "bind", path: shown, isWritable: false },
      { kind: "bind", path: open, isWritable: true },
      { kind: "bind", path: join(open, "settings"), isWritable: false },
    ]);
  },
);
