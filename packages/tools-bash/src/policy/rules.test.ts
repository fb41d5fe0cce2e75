import { describe, expect, test } from "vitest";
import { allowed, verdict } from "../../test/verdicts.js";
import { createPolicy } from "./policy.js";

describe("how a rule matches", () => {
  test.each([
    "rm -rf x",
    "rm -fr x",
    "rm -r -f x",
    "rm -v x -rf",
    "rm -R -rf",
    "rm -f $X",
    'rm "$X"',
    "rm *",
  ])('"rm -rf" refuses %s', (command) => expect(allowed(command, { deny: ["rm -rf"] })).toBe(false));
  test.each(["rm x", "rm -r x", "rm -- -rf", 'rm -- "$X"'])('"rm -rf" lets %s run', (command) => {
    expect(allowed(command, { deny: ["rm -rf"] })).toBe(true);
  });
  test.each(["git -C dir push", "git --no-pager push", "git -c a=b push -f", "git $X", "git -C $X push"])(
    '"git push" refuses %s',
    (command) => expect(allowed(command, { deny: ["git push"] })).toBe(false),
  );
  test.each(["git log push", "git commit -m push", "git stash"])('"git push" lets %s run', (command) => {
    expect(allowed(command, { deny: ["git push"] })).toBe(true);
  });
  test.each(["find . -delete", "find -delete", "find . -name x -delete", 'find "$X" -delete', "find $X"])(
    'a long option with one dash, "find -delete", refuses %s',
    (command) => {
      expect(allowed(command, { deny: ["find -delete"] })).toBe(false);
      expect(allowed(command.replace("delete", "print").replace("$X", "."), { deny: ["find -delete"] })).toBe(
        true,
      );
    },
  );
  test.each(["deploy main", "deploy x main", "deploy $X", "deploy x $X"])(
    '"deploy * main" refuses %s',
    (command) => expect(allowed(command, { deny: ["deploy * main"] })).toBe(false),
  );
  test('"deploy * main" lets another branch be deployed', () => {
    expect(allowed("deploy x next", { deny: ["deploy * main"] })).toBe(true);
  });
  test("matches an option before the last word of a rule with * in between", () => {
    for (const command of ["deploy push --force", "deploy --force push", "deploy push x --force"])
      expect(allowed(command, { deny: ["deploy push * --force"] }), command).toBe(false);
    expect(allowed("deploy --force pull", { deny: ["deploy push * --force"] })).toBe(true);
  });
  test("matches an option by a pattern, and says whether it is certain", () => {
    const options = { deny: ["git push --force*"] };
    expect(verdict("git push --force-with-lease", options)).toMatchObject({
      reason: expect.stringContaining("matches the deny rule"),
    });
    expect(verdict("git push -f", options)).toMatchObject({
      reason: expect.stringContaining("may turn out to match the deny rule"),
    });
    expect(verdict("git push origin", options)).toEqual({ allowed: true });
  });
  test("reads a long row of options once, not in every way it could be read", () => {
    expect(allowed(`program ${"-c ".repeat(2000)}x`, { deny: ["program push"] })).toBe(true);
    expect(allowed(`program ${"-c ".repeat(2000)}push`, { deny: ["program push"] })).toBe(false);
  });
  test("matches a long option by its abbreviation and its value form", () => {
    for (const option of ["--force", "--forc", "--force=x"]) {
      expect(allowed(`git push ${option}`, { deny: ["git push --force"] })).toBe(false);
    }
    expect(allowed("git push --follow-tags", { deny: ["git push --force"] })).toBe(true);
  });
});

describe("rules that cannot work are refused when they load", () => {
  test.each(["*", "r* x", "rm;ls", "'rm'", "$X", "rm > x", "a|b", " ", "rm\n-rf\u0000["])("%j", (rule) => {
    expect(() => createPolicy({ deny: [rule] })).toThrow(/deny\[0\] is/);
  });
  test("distinguishes an empty list from none", () => {
    expect(() => createPolicy({ deny: [] })).toThrow(/deny is empty/);
    expect(createPolicy({})).toBeUndefined();
  });
  test("reports a policy of a wrong type, and never takes it for no policy", () => {
    expect(() => createPolicy("rm" as never)).toThrow('options must be an object, got string "rm"');
    expect(() => createPolicy({ deny: "rm" as never })).toThrow("deny must be an array of rules, got string");
  });
  test("checks a rule with its examples", () => {
    const rule = { command: "git push", match: ["git push -f"], notMatch: ["git pull"] };
    expect(createPolicy({ deny: [rule], allow: [rule] })).toBeDefined();
    expect(() => createPolicy({ deny: [{ command: "git push", match: ["git pull"] }] })).toThrow(
      'deny rule "git push" does not match its own example "git pull".',
    );
    expect(() => createPolicy({ allow: [{ command: "git", notMatch: ["git push"] }] })).toThrow(
      'allow rule "git" matches its own example "git push".',
    );
  });
});
