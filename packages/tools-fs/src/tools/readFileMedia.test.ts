import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type ChatMessage, type ChatProvider, type ContentPart, ToolRegistry } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support.js";
import { type FsOptions, register } from "../index.js";
import { readFileTool } from "./readFile.js";

/** Pictures of 3 × 2 red pixels, each as its usual encoder writes it. */
const PICTURES = {
  "image/png":
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP8zwAFTDAGAwATKQED8NgHhAAAAABJRU5ErkJggg==",
  "image/jpeg":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////////2wBDAaq0tPDS8P//////////////////////////////////////////////////////////////////////////////wgARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAVAQEBAAAAAAAAAAAAAAAAAAABAv/aAAwDAQACEAMQAAABkF//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAEFAn//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/AX//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/AX//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAY/An//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/IX//2gAMAwEAAgADAAAAEPP/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/EH//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/EH//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/EH//2Q==",
  "image/gif": "R0lGODdhAwACAIEAAP8AAAAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7",
  "image/webp":
    "UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoDAAIAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA=",
} as const;
const LOSSLESS_WEBP = "UklGRhwAAABXRUJQVlA4TA8AAAAvAkAAAAcQ/Y/+ByKi/wEA";
const ANIMATED_WEBP =
  "UklGRsQAAABXRUJQVlA4WAoAAAACAAAAAgAAAQAAQU5JTQYAAAAAAAAAAABBTk1GSgAAAAAAAAAAAAIAAAEAAAAAAAJWUDggMgAAADABAJ0BKgMAAgABQCYloAADcAD+8ut///mwP/bz/wR6Af//0uD//pcH//S4P/SkAAAAQU5NRkYAAAAAAAAAAAACAAABAAAAAAAAVlA4IC4AAAA0AQCdASoDAAIAAAAmJaAAA3AA/vtV4///S4P/+lwf/9Lg/9Lg//rV5Vesq6AA";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
const PNG = Buffer.from(PICTURES["image/png"], "base64");

interface Shown {
  readonly text: string;
  readonly parts: readonly ContentPart[];
}

/** Writes a file and reads it with the tool. */
async function show(
  content: Uint8Array,
  args: Record<string, unknown> = {},
  options: FsOptions = {},
): Promise<Shown> {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, content);
  return await read(path, args, options);
}

async function read(
  path: string,
  args: Record<string, unknown> = {},
  options: FsOptions = {},
): Promise<Shown> {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, options });
  const { text, parts = [] } = await registry.run("read_file", { path, ...args });
  return { text, parts };
}

test.each([...Object.entries(PICTURES), ["image/webp", LOSSLESS_WEBP], ["image/webp", ANIMATED_WEBP]])(
  "attaches a picture as it is, with its size as text: %s",
  async (mediaType, data) => {
    const { text, parts } = await show(Buffer.from(data, "base64"));
    expect(parts).toEqual([{ type: "image", mediaType, data, name: expect.stringMatching(/\/file$/) }]);
    expect(text).toMatch(/file is a (PNG|JPEG|GIF|WebP) image \(3 × 2 pixels, \d+ bytes\)\. It is attached/);
  },
);

test("attaches a PDF as a document, also if its first bytes look like text", async () => {
  const { text, parts } = await show(PDF);
  const data = PDF.toString("base64");
  expect(parts).toEqual([{ type: "file", mediaType: "application/pdf", data, name: expect.any(String) }]);
  expect(text).toContain(`is a PDF document (${PDF.length} bytes). It is attached to this result.`);
});

test("attaches a picture larger than the cap for text whole, whatever lines were asked for", async () => {
  const chunk = Buffer.alloc(12 + 200_000);
  chunk.writeUInt32BE(200_000, 0);
  chunk.write("tEXt", 4);
  const large = Buffer.concat([PNG.subarray(0, 33), chunk, PNG.subarray(33)]);
  for (const args of [{}, { offset: 1, limit: 2000 }]) {
    const { parts } = await show(large, args);
    expect(parts).toMatchObject([{ type: "image", data: large.toString("base64") }]);
  }
});

test("returns the bytes of a picture as text for a call with an encoding", async () => {
  expect(await show(PNG, { encoding: "base64" })).toEqual({ text: PICTURES["image/png"], parts: [] });
  expect((await show(PDF, { byte_offset: 0 })).text).toBe(PDF.toString());
});

test("describes an image to a caller that takes no attachments", async () => {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, PNG);
  expect(await readFileTool().execute({ path })).toContain("is a binary file (PNG image, 73 bytes)");
});

// A server refuses a request with a picture it cannot decode; all later requests of the conversation repeat the picture.
test.each([
  ["cut off", PNG.subarray(0, -12)],
  ["only a signature", PNG.subarray(0, 16)],
  ["without pixels", Buffer.concat([PNG.subarray(0, 33), PNG.subarray(-12)])],
  ["a chunk past the end", Buffer.concat([PNG.subarray(0, 33), Buffer.alloc(20, 0xff)])],
  ["a JPEG cut off", Buffer.from(PICTURES["image/jpeg"], "base64").subarray(0, -2)],
  ["a JPEG of noise", Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(100, 7)])],
  ["a GIF of words", Buffer.from("GIF89a is an old format")],
  ["a WebP cut off", Buffer.from(LOSSLESS_WEBP, "base64").subarray(0, -1)],
  ["a PDF cut off", PDF.subarray(0, 40)],
])("does not attach a damaged file: %s", async (_, content) => {
  const { text, parts } = await show(content);
  expect(parts).toEqual([]);
  expect(text).toContain("is not shown, because it is damaged or cut off");
});

test("does not attach a picture with more pixels than servers take", async () => {
  const wide = Buffer.from(PNG);
  wide.writeUInt32BE(8001, 16);
  const { text, parts } = await show(wide);
  expect(parts).toEqual([]);
  expect(text).toContain("has 8001 × 2 pixels, and servers take at most 8000 a side");
});

test("does not attach an encrypted PDF", async () => {
  const { text, parts } = await show(Buffer.from(PDF.toString().replace("/Root", "/Encrypt 2 0 R/Root")));
  expect(parts).toEqual([]);
  expect(text).toContain("because it is encrypted");
});

test.each([
  ["a picture", PNG, 3_932_160],
  ["a PDF", PDF, 10_485_760],
])("names %s of 50 MB with the limit, and does not read it", async (_, head, limit) => {
  const path = join(temporaryDirectory(), "large");
  writeFileSync(path, head);
  truncateSync(path, 50_000_000);
  const { text, parts } = await read(path);
  expect(parts).toEqual([]);
  expect(text).toContain(`50000000 bytes) and is not shown, because it is larger than ${limit} bytes`);
});

test("sends the model the picture if its provider takes it, and a description if not", async () => {
  const path = join(temporaryDirectory(), "logo.png");
  writeFileSync(path, PNG);
  for (const takes of [true, false]) {
    const seen: ChatMessage[] = [];
    const script = scriptedProvider([{ calls: [{ name: "read_file", args: { path } }] }, "Red."]);
    const provider: ChatProvider = {
      accepts: () => takes,
      respond: (request) => {
        seen.splice(0, seen.length, ...request.messages);
        return script.respond(request);
      },
    };
    const agent = new Agent(provider, { tools: [{ register }] });
    expect(await agent.chat("What colour is it?")).toBe("Red.");
    const content = seen.findLast((message) => message.role === "tool")?.content;
    if (takes) {
      expect(content).toMatchObject([
        { type: "text", text: expect.stringContaining("is a PNG image") },
        { type: "image", mediaType: "image/png", data: PNG.toString("base64") },
      ]);
    } else {
      expect(content).toMatch(/logo\.png, image\/png, 73 bytes\] \(not shown: this model does not take/);
    }
  }
});
