import { describe, expect, test } from "vitest";
import {
  aboutOf,
  boundDiffs,
  type CallTarget,
  completeDescription,
  type DescribedCall,
  isWithinShown,
  kindOf,
  readDescription,
  readPreview,
} from "./callDescription.js";
import type { ToolCapability } from "./tool.js";

const TARGETS: readonly CallTarget[] = [
  { type: "file", path: "/p/a", realPath: "/p/b", access: "read", tree: true, line: 3 },
  { type: "file", path: "/p/a", access: "write" },
  { type: "file", path: "/p/a", access: "delete", open: true },
  { type: "command", text: "npm test", cwd: "/p", reads: true },
  { type: "url", url: "https://example.com/" },
  { type: "text", text: "anything" },
];

const described = (more: Partial<DescribedCall> = {}): DescribedCall => ({
  title: "",
  kind: "edit",
  needs: [],
  ...more,
});

test.each<[readonly ToolCapability[], string]>([
  [["read", "write", "execute", "destroy"], "delete"],
  [["write", "execute", "network"], "execute"],
  [["network", "write"], "edit"],
  [["read", "network"], "fetch"],
  [["read"], "read"],
  [[], "other"],
])("derives the kind of a tool that can %j: %s", (capabilities, kind) => {
  expect(kindOf(capabilities)).toBe(kind);
});

describe("reading a description", () => {
  test("takes every part that is valid", () => {
    const whole = {
      title: "a",
      kind: "edit",
      targets: TARGETS,
      needs: [
        { kind: "read", path: "/etc", reason: "outside" },
        { kind: "write", path: "/etc", reason: "outside" },
      ],
      refusal: "no",
      caution: "careful",
      contained: false,
      always: [{ pattern: "npm test *", label: "npm test …" }],
    };
    expect(readDescription(whole)).toEqual(whole);
    expect(readDescription({})).toEqual({});
  });

  test.each<[string, unknown]>([
    ["title", 1],
    ["kind", "planning"],
    ["refusal", true],
    ["caution", ["x"]],
    ["contained", "yes"],
    ["targets", { type: "url", url: "x" }],
    ["needs", "write"],
    ["always", { pattern: "x", label: "x" }],
  ])("refuses the whole description if its %s is %j", (name, value) => {
    expect(() => readDescription({ targets: [], [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });

  test.each<unknown>([
    null,
    "/p/a",
    { type: "planet" },
    { type: "file", access: "read" },
    { type: "file", path: "/p/a" },
    { type: "file", path: "/p/a", access: "execute" },
    { type: "file", path: "/p/a", access: "read", realPath: null },
    { type: "file", path: "/p/a", access: "read", tree: false },
    { type: "file", path: "/p/a", access: "read", line: "3" },
    { type: "file", path: "/p/a", access: "read", open: false },
    { type: "command" },
    { type: "command", text: "ls", cwd: 1 },
    { type: "command", text: "ls", reads: false },
    { type: "url", text: "https://example.com/" },
    { type: "text" },
  ])("refuses a list with the target %j", (target) => {
    expect(() => readDescription({ targets: [...TARGETS, target] })).toThrow("targets must be a list");
  });

  test.each<unknown>([
    null,
    { kind: "delete", path: "/etc", reason: "x" },
    { kind: "read", reason: "x" },
    { kind: "write", path: "/etc" },
  ])("refuses a list with the need %j", (need) => {
    expect(() => readDescription({ needs: [need] })).toThrow("needs must be a list of access needs");
  });

  test.each<unknown>([null, { label: "x" }, { pattern: "x" }, { pattern: "", label: "everything" }])(
    "refuses a list with the offer %j",
    (offer) => {
      expect(() => readDescription({ always: [offer] })).toThrow("always must be a list");
    },
  );

  test("refuses what is not an object in JSON of at most 256 KiB", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(() => readDescription(cyclic)).toThrow("the description is not JSON: ");
    expect(() => readDescription(undefined)).toThrow("the description is nothing");
    expect(() => readDescription([])).toThrow("the description must be an object, got an empty array");
    const room = 256 * 1024 - JSON.stringify({ title: "" }).length;
    expect(readDescription({ title: "x".repeat(room) }).title).toHaveLength(room);
    expect(() => readDescription({ title: "x".repeat(room + 1) })).toThrow("more than 262144");
  });
});

describe("completing a description", () => {
  const defaults = { title: "by default", kind: "other" } as const;
  const redact = (text: string): string => text.replaceAll("s3cret", "[secret]");

  test("fills in what the tool left out", () => {
    expect(completeDescription({}, defaults, redact)).toEqual({
      title: "by default",
      kind: "other",
      needs: [],
    });
    expect(completeDescription({}, defaults, redact, "it failed").problem).toBe("it failed");
  });

  test("keeps what the tool said, without secrets and on one line", () => {
    const need = { kind: "read", path: "/etc", reason: "x" } as const;
    const offer = { pattern: "x", label: "x" };
    expect(
      completeDescription(
        {
          title: "s3cret\nand more",
          kind: "fetch",
          targets: [],
          needs: [need],
          refusal: "no s3cret",
          caution: "a s3cret",
          contained: true,
          always: [offer],
        },
        defaults,
        redact,
      ),
    ).toEqual({
      title: "[secret] and more",
      kind: "fetch",
      targets: [],
      needs: [need],
      refusal: "no [secret]",
      caution: "a [secret]",
      contained: true,
      always: [offer],
    });
  });

  test("bounds what the user and the model read", () => {
    const long = "x".repeat(10_000);
    const { refusal, caution } = completeDescription({ refusal: long, caution: long }, defaults, redact);
    expect([refusal?.length, caution?.length]).toEqual([8192, 8192]);
  });
});

test("stores twenty files with a result, at most 4 KB of paths", () => {
  const file = (path: string): CallTarget => ({ type: "file", path, access: "read" });
  const many = Array.from({ length: 25 }, (_, index) => file(`/${index}`));
  expect(aboutOf(described({ targets: [{ type: "text", text: "x" }, ...many] })).files).toHaveLength(20);
  const targets = [file("/a".repeat(1000)), file("/b".repeat(1000)), file("/c".repeat(1000)), file("/d")];
  expect(aboutOf(described({ targets })).files).toHaveLength(2);
  expect(aboutOf(described({ targets: TARGETS })).files?.slice(0, 2)).toEqual([
    { path: "/p/a", line: 3 },
    { path: "/p/a" },
  ]);
  expect(aboutOf(described({ title: "t", targets: [{ type: "text", text: "x" }] }))).toEqual({
    title: "t",
    kind: "edit",
  });
});

describe("a decision for what was shown", () => {
  const shown = described({
    targets: TARGETS,
    needs: [{ kind: "write", path: "/etc", reason: "outside the project" }],
    contained: true,
  });

  test.each<[string, Partial<DescribedCall>]>([
    ["the same, in another order of keys", {}],
    ["less", { targets: TARGETS.slice(1), needs: [] }],
    ["another reason", { needs: [{ kind: "write", path: "/etc", reason: "not in the project" }] }],
    [
      "another line",
      { targets: [{ type: "file", path: "/p/a", realPath: "/p/b", access: "read", tree: true }] },
    ],
    ["no target", { targets: [] }],
  ])("is valid for %s", (_, now) => {
    const sorted = Object.fromEntries(Object.entries({ ...shown, ...now }).toReversed()) as never;
    expect(isWithinShown(sorted, shown)).toBe(true);
  });

  test("is valid for a target whose keys come in another order", () => {
    const target = { access: "write", path: "/p/a", type: "file" } as const;
    expect(isWithinShown({ ...shown, targets: [target] }, shown)).toBe(true);
  });

  test.each<[string, Partial<DescribedCall>]>([
    ["a need to write that was one to read", { needs: [{ kind: "read", path: "/etc", reason: "x" }] }],
    ["a need elsewhere", { needs: [{ kind: "write", path: "/usr", reason: "x" }] }],
    ["another access", { targets: [{ type: "file", path: "/p/b", access: "write" }] }],
    ["a target that is open now", { targets: [{ type: "file", path: "/p/a", access: "write", open: true }] }],
    ["unknown targets", { targets: undefined as never }],
    ["a call outside of the sandbox", { contained: false }],
  ])("is not valid for %s", (_, now) => {
    expect(isWithinShown({ ...shown, ...now }, shown)).toBe(false);
  });

  test("is not valid if nothing was shown, nor for targets that were unknown", () => {
    const { targets: _, ...unknown } = shown;
    expect(isWithinShown(shown, undefined)).toBe(false);
    expect(isWithinShown(shown, unknown)).toBe(false);
    expect(isWithinShown(unknown, unknown)).toBe(true);
  });
});

describe("reading a preview", () => {
  const hunk = { oldStart: 1, newStart: 1, lines: [" a", "-b", "+c"] };
  const diff = { path: "a", change: "edited", added: 1, removed: 1, hunks: [hunk] };

  test("takes every part that is valid", () => {
    const changes = [
      { ...diff, oldPath: "b", more: 2 },
      ...["created", "deleted", "moved"].map((change) => ({ ...diff, change })),
      ...["old", "new", "both"].map((noFinalNewline) => ({ ...diff, hunks: [{ ...hunk, noFinalNewline }] })),
    ];
    const preview = { changes, shows: ["content"], basis: "v1", refusal: "no" };
    expect(readPreview(preview)).toEqual(preview);
    expect(readPreview(undefined)).toBeUndefined();
    expect(readPreview(null)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["changes", undefined],
    ["shows", "content"],
    ["shows", [1]],
    ["basis", 1],
    ["refusal", false],
  ])("refuses it if its %s is %j", (name, value) => {
    expect(() => readPreview({ changes: [], [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });

  test.each<unknown>([
    null,
    { ...diff, path: undefined },
    { ...diff, oldPath: 1 },
    { ...diff, change: "renamed" },
    { ...diff, added: "1" },
    { ...diff, removed: undefined },
    { ...diff, more: "2" },
    { ...diff, hunks: {} },
    { ...diff, hunks: [null] },
    { ...diff, hunks: [{ ...hunk, oldStart: "1" }] },
    { ...diff, hunks: [{ ...hunk, newStart: undefined }] },
    { ...diff, hunks: [{ ...hunk, lines: [1] }] },
    { ...diff, hunks: [{ ...hunk, noFinalNewline: "none" }] },
  ])("refuses the diff %j", (change) => {
    expect(() => readPreview({ changes: [diff, change] })).toThrow("changes must be a list of file diffs");
  });

  test("shortens long diffs and counts the lines that it leaves out", () => {
    const file = (...hunks: string[][]) => ({
      path: "a",
      change: "edited" as const,
      added: 0,
      removed: 0,
      hunks: hunks.map((lines) => ({ oldStart: 1, newStart: 1, lines, noFinalNewline: "new" as const })),
    });
    // Each line counts with its line break.
    const [first, second, third] = boundDiffs(
      [file(["1234", "1234"]), file(["1234", "1234"], ["x"]), { ...file([]), more: 7 }],
      15,
    );
    expect(first).toEqual(file(["1234", "1234"]));
    expect(second).toEqual({
      ...file(),
      hunks: [{ oldStart: 1, newStart: 1, lines: ["1234"] }],
      more: 2,
    });
    expect(third?.more).toBe(7);
  });
});
