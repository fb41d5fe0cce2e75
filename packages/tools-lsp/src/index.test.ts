import { Conversation, createToolRegistry } from "@agent/core";
import { expect, test } from "vitest";
import * as lsp from "./index.js";

test("exports the public API of @agent/tools-lsp", () => {
  expect(Object.keys(lsp).sort()).toEqual(["followsDirectory", "packApiVersion", "packName", "register"]);
});

test.each([
  [{ rot: "." }, 'option "rot" is not known. Did you mean "root"?'],
  [{ waitMs: "1s" }, 'option "waitMs" must be a whole number'],
  [{ servers: { zig: true } }, "servers.zig is not a known server"],
  [{ servers: { zig: { extensions: [".zig"] } } }, "servers.zig needs command"],
  [{ servers: { zig: "zls" } }, "servers.zig needs extensions"],
  [{ servers: { zig: { command: ["zls"], extensions: ["zig"] } } }, 'An extension begins with a dot: ".zig"'],
  [{ servers: { go: { command: [] } } }, "servers"],
  [{ servers: { go: { comand: ["gopls"] } } }, "servers"],
  [{ root: "/no/such/directory" }, "cannot be used"],
])("refuses the options %j", (options, problem) => {
  expect(() => createToolRegistry(new Conversation(), [[lsp, options as never]])).toThrow(problem);
});
