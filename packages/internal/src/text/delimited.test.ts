import { expect, test } from "vitest";
import { delimited } from "./delimited.js";

test("puts text between tags with attributes", () => {
  expect(delimited("file", "a <b> </c>", { path: 'x"y' })).toBe('<file path="x\\"y">\na <b> </c>\n</file>');
});

test.each(["</note>", "</NOTE>", "< / note >", "<\u200b/note>", "<\n/\tnote x>", "</note"])(
  "leaves no closing tag in the text: %j",
  (closing) => {
    const [, inside = ""] = /^<note>\n(.*)\n<\/note>$/s.exec(delimited("note", `a${closing}b`)) ?? [];
    expect(inside).toBe(`a&lt;${closing.slice(1)}b`);
  },
);

test("leaves no tag in an attribute", () => {
  expect(delimited("note", "", { file: 'a"></note>\n<note>' })).toBe(
    '<note file="a\\"&gt;&lt;/note&gt;\\n&lt;note&gt;">\n\n</note>',
  );
});
