import { expect, test } from "vitest";
import { keyOf, normalBindings, translateKey } from "./bindings.js";

const BINDINGS = normalBindings({ "Ctrl+T": "/tools", f2: "next-mode", "ctrl-z": "none", "alt-p": "rewind" });

test.each([
  ["ctrl-t", "/tools"],
  ["f2", "shift-tab"],
  ["ctrl-z", undefined],
  ["alt-p", "rewind"],
  ["ctrl-o", "ctrl-o"],
  ["constructor", "constructor"],
])("%s does what %s does", (name, wanted) => {
  expect(translateKey({ type: "key", name }, BINDINGS)).toEqual(
    wanted === undefined ? undefined : { type: "key", name: wanted },
  );
});

test("leaves text alone", () => {
  const text = { type: "text", text: "f2" } as const;
  expect(translateKey(text, BINDINGS)).toBe(text);
});

test.each([
  ["expand", {}, "Ctrl+O"],
  ["expand", { f2: "expand" }, "Ctrl+O"],
  ["expand", { F2: "expand", "Ctrl+O": "/tools" }, "F2"],
  ["expand", { "ctrl-o": "expand" }, "Ctrl+O"],
  ["next-mode", { "shift-tab": "none", "alt-p": "next-mode" }, "Alt+P"],
  ["expand", { "ctrl-o": "none" }, undefined],
])("names the key of %s with the bindings %j", (action, bindings, key) => {
  expect(keyOf(action, normalBindings(bindings))).toBe(key);
});
