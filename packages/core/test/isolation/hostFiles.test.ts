import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { PackHost } from "../../src/index.js";
import { HostFiles } from "../../src/isolation/hostFiles.js";

function project() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "agent-host-files-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const host = {
    directory,
    protectedNames: ["tools/agent.json"],
    protectedPaths: [join(directory, "State")],
  };
  const files = new HostFiles(host as unknown as PackHost);
  const call = { signal: new AbortController().signal, onOutput: () => undefined };
  const write = async (path: string, flag = "w") =>
    await files.write({ path: join(directory, path), flag }, Buffer.from("pack"), call).then(
      () => "written",
      ({ message }: Error) => message,
    );
  return { directory, files, write };
}

test("refuses protected paths of more than one name, installed packages and other spellings", async () => {
  const { directory, write } = project();
  for (const path of [
    "tools",
    "mise",
    "Library/LaunchAgents",
    "node_modules/other",
    "sub/Node_Modules/other",
  ]) {
    mkdirSync(join(directory, path), { recursive: true });
  }
  for (const [path, why] of [
    ["tools/bazel", "protected"],
    ["mise/config.toml", "protected"],
    ["Library/LaunchAgents/x.plist", "protected"],
    ["tools/Agent.json", "protected"],
    ["state", "protected"],
    ["node_modules/other/index.js", "an installed package"],
    ["sub/Node_Modules/other/index.js", "an installed package"],
    ["\u200c.npmrc", "hidden"],
  ] as const) {
    expect([path, await write(path)]).toEqual([path, expect.stringContaining(`: it is ${why}`)]);
    expect(existsSync(join(directory, path))).toBe(false);
  }
  expect(await write("tools/bazel.txt")).toBe("written");
});

test.skipIf(process.platform !== "linux")(
  "follows no link that takes the place of a directory after it was checked",
  async () => {
    const { directory, files } = project();
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "agent-host-outside-")));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    const place = join(directory, "place");
    const path = join(place, "a");
    const call = {
      signal: new AbortController().signal,
      onOutput: () => undefined,
      // Read last of what is checked.
      get granted() {
        renameSync(place, join(directory, `${readdirSync(directory).length}`));
        symlinkSync(outside, place);
        return [];
      },
    };
    for (const change of [
      () => files.write({ path, flag: "w" }, Buffer.from("pack"), call),
      async () => files.makeDirectory({ path }, call),
      async () => files.makeDirectory({ path: join(path, "b"), recursive: true }, call),
    ]) {
      rmSync(place, { force: true });
      mkdirSync(place);
      await expect(change()).rejects.toThrow(/ELOOP|ENOTDIR/);
      expect(readdirSync(outside)).toEqual([]);
    }
  },
);

test("makes directories as usual", () => {
  const { directory, files } = project();
  const call = { signal: new AbortController().signal, onOutput: () => undefined };
  const make = (path: string, recursive = true) =>
    files.makeDirectory({ path: join(directory, path), recursive }, call);
  expect(make("a/b/c")).toBe(join(directory, "a"));
  expect(make("a/b/c")).toBeUndefined();
  expect(make("a/b/d", false)).toBeUndefined();
  writeFileSync(join(directory, "file"), "");
  expect(() => make("file")).toThrow("EEXIST");
  expect(() => make("a/b", false)).toThrow("EEXIST");
  expect(() => make("x/y", false)).toThrow("ENOENT");
});

test("refuses a file that has another name, without emptying it", async () => {
  const { directory, write } = project();
  mkdirSync(join(directory, ".git"));
  writeFileSync(join(directory, ".git/config"), "[core]");
  linkSync(join(directory, ".git/config"), join(directory, "notes.txt"));
  for (const flag of ["w", "a"]) expect(await write("notes.txt", flag)).toContain("hard link");
  expect(readFileSync(join(directory, ".git/config"), "utf8")).toBe("[core]");
  expect(await write("own.txt")).toBe("written");
  expect(await write("own.txt", "a")).toBe("written");
  expect(readFileSync(join(directory, "own.txt"), "utf8")).toBe("packpack");
  expect(await write("own.txt")).toBe("written");
  expect(readFileSync(join(directory, "own.txt"), "utf8")).toBe("pack");
});
