import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";
import { readFileTool } from "./readFile.js";

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
}

/** The arguments that the notice at the end of a result offers for reading on. */
function readOn(text: string): Record<string, unknown> {
  const notice = text.slice(text.lastIndexOf("["));
  return JSON.parse(notice.slice(notice.indexOf("{"), notice.lastIndexOf("}") + 1));
}

/** A result without its notice. */
function withoutNotice(text: string): string {
  const notice = text.lastIndexOf("[Truncated");
  return notice === -1 ? text : text.slice(0, notice);
}

test("Scenario: Read file tool behavior preserved", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "één\r\nzwei\n\n  drei");
  expect(await readFileTool().execute({ path: file })).toBe("één\r\nzwei\n\n  drei");
});

test("returns an empty text for an empty file", async () => {
  const file = join(temporaryDirectory(), "empty");
  writeFileSync(file, "");
  expect(await fileTools()("read_file", { path: file })).toBe("");
});

test("returns whole lines, as they are, for offset and limit", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "a\r\nb\nc\nd");
  const run = fileTools();
  expect(await run("read_file", { path: file, offset: 2, limit: 2 })).toBe("b\nc\n");
  expect(await run("read_file", { path: file, limit: 1 })).toBe("a\r\n");
  expect(await run("read_file", { path: file, offset: 4, limit: 9 })).toBe("d");
});

test("reports how many lines there are for an offset past the end", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "a\nb\n");
  expect(await fileTools()("read_file", { path: file, offset: 3 })).toMatch(
    /"offset" is 3, but .*a\.txt has 2 lines/,
  );
});

test("reports an error for a byte offset past the end of an empty file, not an empty text", async () => {
  const file = join(temporaryDirectory(), "empty");
  writeFileSync(file, "");
  expect(await fileTools()("read_file", { path: file, byte_offset: 0 })).toBe("");
  expect(await fileTools()("read_file", { path: file, byte_offset: 5 })).toContain("has 0 bytes");
});

test("reports how many bytes there are for a byte offset past the end", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "one\n");
  await expect(readFileTool().execute({ path: file, byte_offset: 5 })).rejects.toThrow(
    /"byte_offset" is 5, but .*a\.txt has 4 bytes/,
  );
  expect(await readFileTool().execute({ path: file, byte_offset: 4 })).toBe("");
});

test("guides through the whole file past the cap with notices, without a gap or a repetition", async () => {
  const directory = temporaryDirectory();
  const content = numbered(5000);
  writeFileSync(join(directory, "big.txt"), content);
  const run = fileTools({ maxReadBytes: 7000 });
  let text = await run("read_file", { path: join(directory, "big.txt") });
  expect(text).toMatch(/Truncated: lines 1-\d+, bytes 0-\d+ of 5000 lines and 48893 bytes/);
  let all = withoutNotice(text);
  while (text.includes("[Truncated")) {
    text = await run("read_file", readOn(text));
    all += withoutNotice(text);
  }
  expect(all).toBe(content);
});

test("respects the limit of the call in the cap in lines", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, numbered(100));
  const run = fileTools({ maxReadLines: 10 });
  const text = await run("read_file", { path: file, offset: 5, limit: 15 });
  expect(text.split("\n").slice(0, 10)).toEqual(numbered(14).split("\n").slice(4, 14));
  expect(readOn(text)).toEqual({ path: file, offset: 15, limit: 5 });
  expect(await run("read_file", readOn(text))).toBe("line 15\nline 16\nline 17\nline 18\nline 19\n");
});

test("applies the cap in lines also to a file that fits the cap in bytes", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, numbered(25));
  const run = fileTools({ maxReadLines: 10 });
  const first = await run("read_file", { path: file });
  expect(first.split("\n").slice(0, 10)).toEqual(numbered(10).split("\n").slice(0, 10));
  expect(first).toContain("[Truncated: lines 1-10, bytes 0-70 of 25 lines and 191 bytes are shown.");
  expect(readOn(first)).toEqual({ path: file, offset: 11 });
  writeFileSync(file, numbered(10));
  expect(await run("read_file", { path: file })).toBe(numbered(10));
  writeFileSync(file, Buffer.from(`\ufeff${numbered(25)}`, "utf16le"));
  expect(readOn(await run("read_file", { path: file }))).toEqual({ path: file, offset: 11 });
});

test("continues inside a line longer than the cap, never cut within a character", async () => {
  const file = join(temporaryDirectory(), "long.txt");
  const content = `${"€😀".repeat(700)}\nend\n`;
  writeFileSync(file, content);
  const run = fileTools({ maxReadBytes: 1000 });
  let text = await run("read_file", { path: file });
  let all = "";
  for (;;) {
    expect(text).not.toContain("\ufffd");
    const piece = withoutNotice(text);
    if (!text.includes("[Truncated")) {
      all += piece;
      break;
    }
    // The newline before the notice is not part of the content.
    all += piece.replace(/\n$/, "");
    text = await run("read_file", readOn(text));
  }
  expect(all).toBe(content);
});

test("honours an encoding, and names an unknown one with those that are known", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  const run = fileTools();
  expect(await run("read_file", { path: file, encoding: "latin1" })).toBe("café");
  expect(await run("read_file", { path: file, encoding: "HEX" })).toBe("636166e9");
  expect(await run("read_file", { path: file, encoding: "base64" })).toBe("Y2Fm6Q==");
  expect(await run("read_file", { path: file, encoding: "bogus" })).toMatch(/"encoding" is "bogus".*latin1/);
});

test("makes bytes that are not UTF-8 readable, and reports it", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, Buffer.from("caf\xe9 au lait", "latin1"));
  const text = await fileTools()("read_file", { path: file });
  expect(text).toMatch(/^caf\ufffd au lait\n\[Some bytes are not valid UTF-8.*latin1/);
});

test.each(["utf8", "utf-16le", "ucs2", "ascii", "binary", "base64url"])(
  "accepts Node's encoding %s",
  async (encoding) => {
    const file = join(temporaryDirectory(), "a.txt");
    writeFileSync(file, Buffer.from("ab\n", encoding as BufferEncoding));
    expect(await fileTools()("read_file", { path: file, encoding })).not.toContain("Error");
  },
);

test("recognises UTF-16 with a byte order mark, in both byte orders, also in windows", async () => {
  const directory = temporaryDirectory();
  const content = "\ufeffa ਊ\nzwei\ndrei\n"; // U+0A0A holds the byte of a newline twice
  const little = Buffer.from(content, "utf16le");
  writeFileSync(join(directory, "le"), little);
  writeFileSync(join(directory, "be"), Buffer.from(little).swap16());
  const run = fileTools();
  for (const path of [join(directory, "le"), join(directory, "be")]) {
    expect(await run("read_file", { path })).toBe(content);
    expect(await run("read_file", { path, offset: 2, limit: 1 })).toBe("zwei\n");
    expect(await run("read_file", { path, offset: 4 })).toContain("has 3 lines");
  }
});

test("treats a byte order mark in UTF-8 as part of the content", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "\ufeffabc");
  expect(await fileTools()("read_file", { path: file })).toBe("\ufeffabc");
});

test("reports a binary file with type and size instead of dumping it; its bytes can be requested", async () => {
  const file = join(temporaryDirectory(), "logo");
  writeFileSync(file, Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
  const run = fileTools();
  expect(await run("read_file", { path: file })).toMatch(/binary file \(PNG image, 16 bytes\)/);
  expect(await run("read_file", { path: file, offset: 1, limit: 1 })).toMatch(
    /binary file \(PNG image, 16 bytes\)/,
  );
  expect(await run("read_file", { path: file, encoding: "hex" })).toBe("89504e470d0a1a0a0000000d49484452");
});

test("continues hex and base64 of a large file to the end", async () => {
  const file = join(temporaryDirectory(), "bin");
  const content = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));
  writeFileSync(file, content);
  const run = fileTools({ maxReadBytes: 1000 });
  for (const encoding of ["hex", "base64"] as const) {
    let text = await run("read_file", { path: file, encoding });
    let all = withoutNotice(text).trimEnd();
    while (text.includes("[Truncated")) {
      text = await run("read_file", readOn(text));
      all += withoutNotice(text).trimEnd();
    }
    expect(Buffer.from(all, encoding).equals(content)).toBe(true);
  }
});

test("offers the nearest existing name for a missing path", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "source"));
  writeFileSync(join(directory, "source", "index.ts"), "");
  const run = fileTools();
  const typo = await run("read_file", { path: join(directory, "source", "idnex.ts") });
  expect(typo).toContain(`Did you mean ${join(directory, "source", "index.ts")}?`);
  const parent = await run("read_file", { path: join(directory, "sourse", "index.ts") });
  expect(parent).toContain(
    `${join(directory, "sourse")} does not exist. Did you mean ${join(directory, "source")}?`,
  );
});

test("offers a name with look-alike characters with those characters escaped", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "e\u0301.txt"), "");
  writeFileSync(join(directory, "blank "), "");
  const run = fileTools();
  const composed = await run("read_file", { path: join(directory, "\u00e9.txt") });
  expect(composed).toContain(`Did you mean "${join(directory, "e\\u0301.txt")}"?`);
  const bare = await run("read_file", { path: join(directory, "blank") });
  expect(bare).toContain(`Did you mean "${join(directory, "blank ")}"?`);
});

test("reads a file that grew or shrank between two windows as it is now", async () => {
  const file = join(temporaryDirectory(), "log");
  writeFileSync(file, numbered(3000));
  const run = fileTools({ maxReadBytes: 1000 });
  await run("read_file", { path: file, offset: 2999, limit: 1 });
  appendFileSync(file, "added\n");
  expect(await run("read_file", { path: file, offset: 3001 })).toBe("added\n");
  truncateSync(file, 14);
  expect(await run("read_file", { path: file, offset: 3001 })).toContain("has 2 lines");
});

test("gives each of fifty readers of one file its own window", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, numbered(200_000));
  const run = fileTools();
  const lines = Array.from({ length: 50 }, (_, index) => 1 + index * 3999);
  const texts = await Promise.all(lines.map((offset) => run("read_file", { path: file, offset, limit: 1 })));
  expect(texts).toEqual(lines.map((line) => `line ${line}\n`));
});

test.each([0, -1, 1.5, "1", null])("refuses an offset of %j by name", async (offset) => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, "a\n");
  expect(await fileTools()("read_file", { path: file, offset })).toMatch(
    /^Error executing read_file: .*offset/,
  );
});

test("refuses offset and byte_offset together", async () => {
  expect(await fileTools()("read_file", { path: "x", offset: 1, byte_offset: 1 })).toContain("not both");
});

test.each([1, 2, 4])(
  "finds no line after the last newline of a file that ends exactly where the index or a read ends (%i MiB)",
  async (mebibytes) => {
    const file = join(temporaryDirectory(), "a.txt");
    const run = fileTools();
    writeFileSync(file, `${"x".repeat(mebibytes * 1024 * 1024 - 1)}\n`);
    expect(await run("read_file", { path: file, offset: 2 })).toContain("has 1 line.");
    writeFileSync(file, `${"x".repeat(mebibytes * 1024 * 1024 - 2)}\ny`);
    expect(await run("read_file", { path: file, offset: 2 })).toBe("y");
    expect(await run("read_file", { path: file, offset: 3 })).toContain("has 2 lines.");
  },
);

test("leaves the next read undisturbed after an aborted one", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, numbered(2_000_000));
  const tool = readFileTool();
  const read = (offset: number, signal?: AbortSignal): Promise<string> => {
    return tool.execute({ path: file, offset, limit: 1 }, signal && { signal, onOutput: () => undefined });
  };
  const controller = new AbortController();
  const given = read(1_999_999, controller.signal);
  setImmediate(() => controller.abort());
  await expect(given).rejects.toThrow();
  expect(await read(1_234_567)).toBe("line 1234567\n");
});

test.each([
  ["little", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ["big", Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61])],
])("names UTF-32 and does not take it for UTF-16 (%s-endian)", async (order, bytes) => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, bytes);
  const run = fileTools();
  expect(await run("read_file", { path: file })).toContain(`UTF-32 text, ${order}-endian`);
  expect(await run("read_file", { path: file, offset: 1, limit: 1 })).toContain("UTF-32 text");
  expect(await run("edit_file", { path: file, old_text: "a", new_text: "b" })).toContain("UTF-32 text");
});

test.each([
  ["an odd byte at the end", "utf-16le", Buffer.from("a\0b", "latin1"), "not valid UTF-16"],
  ["half a character in UTF-16", undefined, Buffer.from("\ufeffa\ud83db", "utf16le"), "not valid UTF-16"],
  ["a byte above 127 in ASCII", "ascii", Buffer.from("caf\xe9", "latin1"), "not valid ASCII"],
])("reports what is lost in decoding: %s", async (_, encoding, bytes, notice) => {
  const file = join(temporaryDirectory(), "a.txt");
  writeFileSync(file, bytes);
  const text = await fileTools()("read_file", { path: file, ...(encoding && { encoding }) });
  expect(text).toContain(notice);
  expect(text.isWellFormed()).toBe(true);
});

test("shows 2,000 lines or 64 KiB by default, and explains how to read on", async () => {
  const directory = temporaryDirectory();
  const run = fileTools();
  const path = join(directory, "lines.txt");
  writeFileSync(path, Array.from({ length: 2001 }, (_, index) => `${index + 1}\n`).join(""));
  const lines = await run("read_file", { path });
  expect(lines).toContain("\n2000\n[Truncated: lines 1-2000,");
  expect(lines).toContain(`call read_file with {"path":"${path}","offset":2001}]`);
  writeFileSync(path, "0123456789abcde\n".repeat(4097));
  const bytes = await run("read_file", { path });
  expect(bytes).toContain("[Truncated: lines 1-2000,");
  writeFileSync(path, `${"x".repeat(99)}\n`.repeat(1000));
  expect(await run("read_file", { path })).toContain("[Truncated: lines 1-655, bytes 0-65499 of 1000 lines");
});
