import { expect, test, vi } from "vitest";
import { privatePlaces } from "./mounts.js";

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
