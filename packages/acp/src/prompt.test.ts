import { expect, test } from "vitest";
import { toContent } from "./session.js";

test.each([
  ["file:///home/me/a%20b.txt", "/home/me/a b.txt"],
  ["file:///home/me/100%.txt", "file:///home/me/100%.txt"],
  ["https://docs.example/a%20b", "https://docs.example/a%20b"],
])("sends a link to %s to the model as %s", (uri, shown) => {
  expect(toContent([{ type: "resource_link", name: "it", uri }])).toBe(`[it: ${shown}]`);
});
