import { describe, expect, test } from "vitest";
import { allowed, verdict } from "../../test/verdicts.js";

describe("an allow list", () => {
  const allow = ["ls", "git status", "npm test"];
  test.each([
    "ls -la",
    "git status -s",
    "cd src && npm test",
    "timeout 60 npm test",
    "timeout --signal KILL 60 npm test",
    "timeout --signal=KILL 60 npm test",
    "ls | ls",
    "if ls; then exit 1; fi",
  ])("lets %s run", (command) => expect(allowed(command, { allow })).toBe(true));
  test.each([
    "rm x",
    "git push",
    "git -c a=b status",
    "./ls",
    "/tmp/ls",
    "ls; rm x",
    "ls $(rm x)",
    "sh -c ls",
    "xargs ls",
    "sudo ls",
    "PATH=. ls",
    "ls() { :; }; cat x",
    "export PATH=x; ls",
    "./env ls",
  ])("refuses %s", (command) => expect(allowed(command, { allow })).toBe(false));

  test("applies deny before allow", () => {
    expect(allowed("git push", { allow: ["git"], deny: ["git push"] })).toBe(false);
    expect(allowed("git pull", { allow: ["git"], deny: ["git push"] })).toBe(true);
  });

  test("allows arguments that cannot be known with an allow rule that names a command", () => {
    const options = { allow: ["sh scripts/build.sh", "ls"], deny: ["rm"] };
    expect(allowed("sh scripts/build.sh --fast", options)).toBe(true);
    expect(allowed("sh scripts/other.sh", options)).toBe(false);
    expect(allowed("sh -c 'rm x'", { allow: ["sh"], deny: ["rm"] })).toBe(false);
  });

  test("examines variables of the call too", () => {
    expect(verdict("ls", { allow }, { PATH: "/tmp" }).allowed).toBe(false);
    expect(verdict("ls", { deny: ["rm"] }, { LD_PRELOAD: "/tmp/x.so" }).allowed).toBe(false);
    expect(verdict("ls", { deny: ["rm"] }, { LANG: "C" }).allowed).toBe(true);
  });
});
