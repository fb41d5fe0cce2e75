import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type CallPreview, type PackHost, ToolRegistry } from "@agent/core";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../test/support.js";
import { type FsOptions, register } from "./index.js";

interface Question {
  readonly preview: CallPreview;
  /** Approves the call and runs it. */
  approve(): Promise<string>;
}

type Ask = (name: string, args: Record<string, unknown>) => Promise<Question>;

/** Prepares and previews a call as an agent does before it asks the user. */
function asking(host: Partial<PackHost<FsOptions>> = {}): Ask {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, ...host });
  return async (name, args) => {
    const prepared = await registry.prepare(name, args);
    if ("outcome" in prepared) throw new Error(prepared.text);
    const { needs } = await prepared.describe();
    const preview = await prepared.preview();
    if (preview === undefined) throw new Error("There is no preview.");
    const { basis } = preview;
    return {
      preview,
      approve: async () =>
        (await prepared.run({ granted: needs, ...(basis !== undefined && { basis }) })).text,
    };
  };
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe("the preview of write_file", () => {
  test("shows a new file", async () => {
    const path = join(temporaryDirectory(), "new.txt");
    const { preview, approve } = await asking()("write_file", { path, content: "a\nb\n" });
    expect(preview).toMatchObject({
      changes: [
        { path, change: "created", added: 2, removed: 0, hunks: [{ newStart: 1, lines: ["+a", "+b"] }] },
      ],
      shows: ["content"],
    });
    expect(existsSync(path)).toBe(false);
    expect(await approve()).toContain("Created");
  });

  test("shows only what changes, with the numbers of both versions", async () => {
    const path = join(temporaryDirectory(), "a.txt");
    const lines = numbered(2000);
    writeFileSync(path, `${lines.join("\n")}\n`);
    lines.splice(1500, 1);
    lines.splice(99, 1, "changed", "and added");
    const { preview, approve } = await asking()("write_file", { path, content: `${lines.join("\n")}\n` });
    expect(preview.changes).toEqual([
      {
        path,
        change: "edited",
        added: 2,
        removed: 2,
        hunks: [
          {
            oldStart: 98,
            newStart: 98,
            lines: [" line 98", " line 99", "-line 100", "+changed", "+and added", " line 101", " line 102"],
          },
          {
            oldStart: 1499,
            newStart: 1500,
            lines: [" line 1499", " line 1500", "-line 1501", " line 1502", " line 1503"],
          },
        ],
      },
    ]);
    expect(preview.shows).toEqual(["content"]);
    expect(await approve()).toContain("Replaced");
  });

  test("leaves the content to be shown whole if the diff is cut or there is none", async () => {
    const directory = temporaryDirectory();
    const ask = asking();
    const long = await ask("write_file", { path: join(directory, "long"), content: "x\n".repeat(50_000) });
    expect(long.preview.changes[0]).toMatchObject({ added: 50_000 });
    expect(long.preview.changes[0]?.more).toBeGreaterThan(0);
    expect(long.preview.shows).toBeUndefined();
    writeFileSync(join(directory, "binary"), Buffer.from([0, 1, 2]));
    const binary = await ask("write_file", { path: join(directory, "binary"), content: "x" });
    expect(binary.preview).toEqual({ changes: [], basis: expect.any(String) });
  });

  test("shows that line breaks change", async () => {
    const path = join(temporaryDirectory(), "a.txt");
    writeFileSync(path, "a\r\nb\r\n");
    const { preview } = await asking()("write_file", { path, content: "a\nb\r\n" });
    expect(preview.changes[0]?.hunks[0]?.lines).toEqual(["-a\r", "+a", " b\r"]);
  });

  test("refuses what the call would refuse", async () => {
    const path = temporaryDirectory();
    const { preview, approve } = await asking()("write_file", { path, content: "x" });
    expect(preview.refusal).toContain("only regular files can be written");
    expect(await approve()).toContain(preview.refusal);
  });
});

describe("the preview of edit_file", () => {
  test("shows where the text was found, also with other line breaks", async () => {
    const path = join(temporaryDirectory(), "a.txt");
    const lines = numbered(50);
    writeFileSync(path, lines.join("\r\n"));
    const edits = [
      { old_text: "line 10\nline 11", new_text: "ten\neleven\nmore" },
      { old_text: "line 40", new_text: "forty" },
    ];
    const { preview, approve } = await asking()("edit_file", { path, edits });
    expect(preview).toMatchObject({
      changes: [
        {
          path,
          change: "edited",
          added: 4,
          removed: 3,
          hunks: [
            { oldStart: 8, newStart: 8 },
            {
              oldStart: 38,
              newStart: 39,
              lines: [" line 38", " line 39", "-line 40", "+forty", " line 41", " line 42"],
            },
          ],
        },
      ],
    });
    expect(preview.shows).toContain("edits");
    expect(await approve()).toContain("2 replacements");
  });

  test("refuses an edit that finds no match, with the message that the call would get", async () => {
    const path = join(temporaryDirectory(), "a.txt");
    writeFileSync(path, "one\n");
    const ask = asking();
    const absent = await ask("edit_file", { path, old_text: "two", new_text: "x" });
    expect(absent.preview.refusal).toContain("was not found");
    expect(await absent.approve()).toContain(absent.preview.refusal);
    const missing = await ask("edit_file", { path: `${path}x`, old_text: "two", new_text: "x" });
    expect(missing.preview.refusal).toContain("Did you mean");
  });

  test("neither shows nor quotes a file that is read only after approval", async () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, ".ssh"));
    const path = join(home, ".ssh/id");
    writeFileSync(path, "KEY\n");
    const ask = asking({ access: { writable: [home], secret: [join(home, ".ssh")] } });
    for (const [name, args] of [
      ["edit_file", { path, old_text: "KEYS", new_text: "x" }],
      ["edit_file", { path: `${path}s`, old_text: "KEYS", new_text: "x" }],
      ["write_file", { path, content: "x\n" }],
    ] as const) {
      expect((await ask(name, args)).preview).toEqual({ changes: [], basis: expect.any(String) });
    }
    const { approve } = await ask("write_file", { path, content: "x\n" });
    writeFileSync(path, "OTHER\n");
    expect(await approve()).toContain("was changed after the user was shown");
    const again = await ask("edit_file", { path, old_text: "OTHER", new_text: "x" });
    expect(await again.approve()).toContain("Edited");
  });
});

describe("a file that changes while the user decides", () => {
  const calls = (path: string): [string, Record<string, unknown>][] => [
    ["write_file", { path, content: "new\n" }],
    ["edit_file", { path, old_text: "old", new_text: "new" }],
  ];

  test("is not overwritten, and one that was only touched is", async () => {
    for (const [name, args] of calls(join(temporaryDirectory(), "a.txt"))) {
      const path = String(args.path);
      writeFileSync(path, "old\n");
      const first = await asking()(name, args);
      writeFileSync(path, "old\nmore\n");
      expect(await first.approve(), name).toContain("was changed after the user was shown");
      expect(readFileSync(path, "utf8"), name).toBe("old\nmore\n");

      writeFileSync(path, "old\n");
      const second = await asking()(name, args);
      utimesSync(path, 1, 1);
      expect(await second.approve(), name).not.toContain("Error");
      expect(readFileSync(path, "utf8"), name).toBe("new\n");
    }
  });

  test("is not overwritten if it was created, and not created if it was removed", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "deep/a.txt");
    const ask = asking();
    const create = await ask("write_file", { path, content: "new\n" });
    mkdirSync(join(directory, "deep"));
    writeFileSync(path, "theirs\n");
    expect(await create.approve()).toContain("was changed after the user was shown");
    expect(readFileSync(path, "utf8")).toBe("theirs\n");

    const replace = await ask("write_file", { path, content: "new\n" });
    rmSync(join(directory, "deep"), { recursive: true });
    expect(await replace.approve()).toContain("was changed after the user was shown");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("is not written through if it was replaced by a link, whatever the link points to", async () => {
    const directory = temporaryDirectory();
    for (const [name, args] of calls(join(directory, "a.txt"))) {
      const path = String(args.path);
      const other = join(directory, "other.txt");
      for (const file of [path, other]) writeFileSync(file, "old\n");
      const { approve } = await asking()(name, args);
      rmSync(path);
      symlinkSync("other.txt", path);
      expect(await approve(), name).toContain("was changed after the user was shown");
      expect(lstatSync(path).isSymbolicLink(), name).toBe(true);
      expect(readFileSync(other, "utf8"), name).toBe("old\n");
      rmSync(path);
    }
  });
});
