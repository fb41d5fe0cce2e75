import type { MentionSource } from "@agent/core";
import { expect, test } from "vitest";
import { CompletionMenu } from "./completionMenu.js";
import { LineEditor } from "./editor.js";
import type { Menu } from "./menu.js";

/** A line with a list below it, and a source that answers when the test says so. */
function line() {
  let resolve: (found: { id: string }[]) => void = () => undefined;
  const promise = new Promise<{ id: string }[]>((done) => {
    resolve = done;
  });
  const source: MentionSource = { name: "docs", list: () => promise, read: async () => "" };
  const place: { readonly editor: LineEditor; menu: Menu | undefined } = {
    editor: new LineEditor(),
    menu: undefined,
  };
  const completions = new CompletionMenu(
    place,
    () => [{ value: "/help", label: "/help" }],
    () => [source],
  );
  const shown = (): string[] => place.menu?.items.map(({ value }) => value) ?? [];
  const answer = async (): Promise<void> => {
    resolve([{ id: "intro" }]);
    await new Promise((done) => setImmediate(done));
  };
  place.editor.set("see @docs:in");
  completions.update();
  return { place, completions, shown, answer };
}

test("shows what a source offers when it answers", async () => {
  const { shown, answer } = line();
  expect(shown()).toEqual([]);
  await answer();
  expect(shown()).toEqual(["docs:intro"]);
});

test("does not show what a source offers below another line", async () => {
  const { place, completions, shown, answer } = line();
  place.editor.set("/he");
  completions.update();
  await answer();
  expect(shown()).toEqual(["/help"]);
});

test("does not show what a source offers after the line was sent", async () => {
  const { place, shown, answer } = line();
  place.editor.take();
  await answer();
  expect(shown()).toEqual([]);
});
