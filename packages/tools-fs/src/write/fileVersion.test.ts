import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolCall } from "@agent/core";
import { expect, test } from "vitest";
import { makeFifo, temporaryDirectory } from "../../test/support.js";
import { Workspace } from "../workspace.js";
import { assertShown, readToShow, readVersion } from "./fileVersion.js";

const CALL: ToolCall = {
  wantsView: true,
  signal: new AbortController().signal,
  onOutput: () => undefined,
};

test("reads a file of up to 4 MB for a display, and not a larger one", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  const workspace = new Workspace();
  writeFileSync(path, "x".repeat(4 * 1024 * 1024));
  expect((await readToShow(workspace, path, path, CALL))?.whole?.bytes.length).toBe(4 * 1024 * 1024);
  writeFileSync(path, "x".repeat(4 * 1024 * 1024 + 1));
  expect(await readToShow(workspace, path, path, CALL)).toBeUndefined();
});

test("shows a missing file as new, and neither a directory nor a FIFO", async () => {
  const directory = temporaryDirectory();
  const [missing, fifo] = [join(directory, "missing"), join(directory, "fifo")];
  makeFifo(fifo);
  const workspace = new Workspace();
  expect(await readToShow(workspace, missing, missing, CALL)).toEqual({ token: expect.any(String) });
  expect(await readToShow(workspace, directory, directory, CALL)).toBeUndefined();
  expect(await readToShow(workspace, fifo, fifo, CALL)).toBeUndefined();
});

test("names a state by the place and the content of the file", async () => {
  const directory = temporaryDirectory();
  const [one, other] = [join(directory, "one"), join(directory, "other")];
  const workspace = new Workspace();
  const tokenOf = async (path: string) => (await readVersion(workspace, path, path, CALL)).token;
  const absent = await tokenOf(one);
  writeFileSync(one, "text");
  const first = await tokenOf(one);
  writeFileSync(one, "text");
  expect(await tokenOf(one)).toBe(first);
  linkSync(one, other);
  expect(new Set([absent, first, await tokenOf(other)]).size).toBe(3);
  writeFileSync(one, "tex2");
  const changed = await readVersion(workspace, one, one, CALL);
  expect(() => assertShown(changed, one, first)).toThrow("was changed after the user was shown");
  expect(() => assertShown(changed, one, changed.token)).not.toThrow();
});

test("keeps the content of a file that needs approval to read, and its digest, out of the version", async () => {
  const path = join(temporaryDirectory(), "key");
  writeFileSync(path, "secret");
  const open = await readVersion(new Workspace(), path, path, CALL);
  const restricted = new Workspace({}, { access: { secret: [path] } });
  const version = await readVersion(restricted, path, path, CALL);
  expect(version.whole).toBeUndefined();
  expect(version.info?.size).toBe(6n);
  expect(version.token).not.toBe(open.token);
});
