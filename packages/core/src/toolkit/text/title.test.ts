import { expect, test } from "vitest";
import { draftTitle } from "./title.js";

test("reads the title from every start of a call, and never anything but its start", () => {
  const args = { edits: [{ path: "wrong" }], path: 'a "b"\\ \u00e9 c', content: '{[,"path":"no"' };
  const json = JSON.stringify(args);
  for (let length = 0; length <= json.length; length++) {
    expect(args.path.startsWith(draftTitle(["path"], json.slice(0, length)))).toBe(true);
  }
  expect(draftTitle(["path"], json)).toBe(args.path);
  expect(draftTitle(["path"], json.slice(0, json.indexOf('"content"') + 4))).toBe(args.path);
});

test.each(["", "[", "{", "nonsense", '"', "[1,2", '{"path":', '{"path":nul', "}}}", '{"path":5,"x":"'])(
  "returns no title for %j",
  (json) => {
    expect(draftTitle(["path"], json)).toBe("");
  },
);

test("joins several arguments and lists", () => {
  expect(draftTitle(["source", "destination"], '{"source":"a","destination":"b')).toBe("a → b");
  expect(draftTitle(["query", "paths"], '{"query":"x","paths":["src","lib"')).toBe("x → src, lib");
});
