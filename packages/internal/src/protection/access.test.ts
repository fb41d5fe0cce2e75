import { expect, test } from "vitest";
import { assertAccess, findAccessNeed } from "./access.js";

const rules = {
  writable: ["/home/me/project", "/tmp"],
  secret: ["/home/me/.ssh", "/home/me/project/.aws", "/home/me/.netrc"],
};

test("needs no grant without rules", () => {
  expect(findAccessNeed(undefined, "write", "/etc/passwd")).toBeUndefined();
  expect(findAccessNeed({}, "write", "/etc/passwd")).toBeUndefined();
  expect(findAccessNeed({}, "read", "/home/me/.ssh/id")).toBeUndefined();
});

test("needs a grant for writing outside the writable directories, and compares directories by whole names", () => {
  for (const path of ["/home/me/project", "/home/me/project/a/b", "/tmp/x"]) {
    expect(findAccessNeed(rules, "write", path), path).toBeUndefined();
  }
  for (const path of ["/home/me/project-2/x", "/home/me/.bashrc", "/home/me", "/"]) {
    expect(findAccessNeed(rules, "write", path), path).toEqual({
      kind: "write",
      path,
      reason: "outside the project",
    });
  }
  expect(findAccessNeed({ writable: [] }, "write", "/tmp/x")).toBeDefined();
});

test("needs a grant for reading and writing a secret place, also inside a writable directory and in another case", () => {
  for (const path of ["/home/me/.ssh", "/home/me/.ssh/id", "/home/me/.SSH/id", "/home/me/.netrc"]) {
    expect(findAccessNeed(rules, "read", path), path).toMatchObject({ kind: "read", path });
  }
  expect(findAccessNeed(rules, "write", "/home/me/project/.aws/credentials")).toMatchObject({
    reason: "a place of keys or credentials",
  });
  expect(findAccessNeed(rules, "read", "/home/me/.sshrc")).toBeUndefined();
});

test("allows listing a directory with a secret place, but not moving or copying it whole", () => {
  expect(findAccessNeed(rules, "read", "/home/me")).toBeUndefined();
  expect(findAccessNeed(rules, "read", "/home/me", { withContents: true })).toMatchObject({
    reason: "a place of keys or credentials (/home/me/.ssh)",
  });
  expect(findAccessNeed(rules, "write", "/home/me/project", { withContents: true })).toMatchObject({
    reason: "a place of keys or credentials (/home/me/project/.aws)",
  });
});

test("limits a grant to its kind, its path and what is below", () => {
  const granted = [{ kind: "write", path: "/srv/data", reason: "outside the project" }] as const;
  assertAccess(rules, "write", "/srv/data", granted);
  assertAccess(rules, "write", "/srv/data/a", granted);
  expect(() => assertAccess(rules, "write", "/srv/data2", granted)).toThrow("--add-dir DIR");
  expect(() => assertAccess(rules, "write", "/srv", granted)).toThrow("outside the project");
  expect(() => assertAccess(rules, "read", "/home/me/.ssh/id", granted)).toThrow("Ask the user");
  expect(() => assertAccess(rules, "write", "/etc/passwd", undefined)).toThrow(
    '"/etc/passwd" is outside the project, and changing it needs the user\'s permission',
  );
});
