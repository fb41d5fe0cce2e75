import { expect, test } from "vitest";
import type { ContentPart } from "../../conversation/content.js";
import type { ChatMessage } from "../interface.js";
import { MediaFitter, type MediaLimits, readImageHeader } from "./media.js";
import { Notices } from "./notices.js";

const base64 = (...bytes: (string | readonly number[])[]): string =>
  Buffer.concat(
    bytes.map((piece) => (typeof piece === "string" ? Buffer.from(piece, "latin1") : Buffer.from(piece))),
  ).toString("base64");
const big = (value: number): number[] => [
  (value >>> 24) & 255,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
];
const little = (value: number): number[] => [value & 255, value >>> 8];

const png = (width: number, height: number): string =>
  base64("\x89PNG\r\n\x1a\n", big(13), "IHDR", big(width), big(height), [8, 6, 0, 0, 0], big(0));
const gif = (width: number, height: number): string =>
  base64("GIF89a", little(width), little(height), [0, 0, 0]);
const jpeg = (width: number, height: number, before: number): string =>
  base64(
    [0xff, 0xd8, 0xff, 0xe1, ...big(before + 2).slice(2)],
    "x".repeat(before),
    [0xff, 0xff, 0xc4, 0, 3, 0, 0xff, 0xc2, 0, 17, 8, ...big(height).slice(2), ...big(width).slice(2)],
    "rest".repeat(4),
  );
const riff = (kind: string, ...bytes: (string | readonly number[])[]): string =>
  base64("RIFF", big(0), "WEBP", kind, big(0), ...bytes, "\0".repeat(20));
const uint24 = (value: number): number[] => [value & 255, (value >>> 8) & 255, value >>> 16];

test.each([
  ["PNG", png(640, 480), "image/png"],
  ["GIF", gif(640, 480), "image/gif"],
  ["JPEG", jpeg(640, 480, 10), "image/jpeg"],
  ["JPEG after a long comment", jpeg(640, 480, 60_000), "image/jpeg"],
  ["WebP, lossy", riff("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a], little(640), little(480)), "image/webp"],
  [
    "WebP, lossless",
    riff("VP8L", [0x2f], [...little((639 | (479 << 14)) & 0xffff), ...little((639 | (479 << 14)) >>> 16)]),
    "image/webp",
  ],
  ["WebP, extended", riff("VP8X", [0, 0, 0, 0], uint24(639), uint24(479)), "image/webp"],
])("reads the size of an image from its header: %s", (_name, data, mediaType) => {
  expect(readImageHeader(data)).toEqual({ mediaType, width: 640, height: 480 });
});

test.each([
  ["nothing", ""],
  ["text", base64("not an image, but long enough to be looked at in full: 0123456789")],
  ["a beginning", png(640, 480).slice(0, 16)],
  ["no width", png(0, 480)],
  ["a JPEG without a frame", base64([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0], "x".repeat(40))],
  ["not base64", "*".repeat(400)],
])("returns no header for bytes that are not an image: %s", (_name, data) => {
  expect(readImageHeader(data)).toBeUndefined();
});

const image = (data = png(10, 10), mediaType = "image/png"): ContentPart => ({
  type: "image",
  mediaType,
  data,
});
const asked = (...content: ContentPart[]): ChatMessage => ({ role: "user", content });

function fit(limits: MediaLimits, ...messages: ChatMessage[]) {
  const notices: string[] = [];
  const fitter = new MediaFitter(limits, new Notices());
  const fitted = () => fitter.fit({ messages, onNotice: (text: string) => notices.push(text) }).messages;
  return { messages: fitted(), again: fitted(), notices };
}

const partsOf = (messages: readonly ChatMessage[]): string[] =>
  messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.map((part) => (part.type === "text" ? part.text : part.mediaType)) : [],
  );

test("returns the same object for a conversation within the limits", () => {
  const message = asked(image(), { type: "text", text: "What is it?" });
  const { messages, notices } = fit({ imageSide: 10, images: 1, imageBytes: 1000 }, message);
  expect(messages[0]).toBe(message);
  expect(notices).toEqual([]);
});

test.each<[string, MediaLimits, ContentPart, string]>([
  ["too heavy", { imageBytes: 20 }, image(), "the server takes at most 20 bytes. Scale it down"],
  [
    "a file that is too heavy",
    { fileBytes: 2 },
    { type: "file", mediaType: "application/pdf", data: "JVBERi0x", name: "a.pdf" },
    "[file a.pdf, application/pdf, 6 bytes] (not shown: the server takes at most 2 bytes.",
  ],
  [
    "too many pixels",
    { imageSide: 8000 },
    image(png(9000, 20)),
    "at most 8000 × 8000 pixels, and this one has 9000 × 20. Scale it down",
  ],
  ["no image at all", {}, image(base64("<html>")), "its bytes are not an image that can be read"],
  ["another format", { imageTypes: /png/ }, image(gif(1, 1)), "this model does not take image/gif."],
])("reports in plain text what a server would refuse: %s", (_name, limits, part, words) => {
  const { messages, again, notices } = fit(limits, asked(part));
  expect(partsOf(messages)).toEqual([expect.stringContaining(words)]);
  expect(notices).toEqual(partsOf(messages));
  expect(again[0]).toBe(messages[0]);
});

test("corrects the wrong format name of an image", () => {
  expect(partsOf(fit({}, asked(image(gif(1, 1)))).messages)).toEqual(["image/gif"]);
});

test("drops the oldest of too many images, several in one step, and always keeps the newest", () => {
  const shown = (count: number, limits: MediaLimits): number =>
    partsOf(fit(limits, ...Array.from({ length: count }, () => asked(image()))).messages).filter(
      (part) => part === "image/png",
    ).length;
  const counts = Array.from({ length: 12 }, (_, index) => shown(index + 1, { images: 8 }));
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 7, 8, 7, 8]);
  const bytes = Buffer.from(png(10, 10), "base64").length;
  expect(shown(5, { totalBytes: 4 * bytes })).toBe(4);
  expect(shown(3, { totalBytes: 1 })).toBe(1);
});

test("states in the text of what is left out that newer images follow", () => {
  const { notices } = fit({ images: 1 }, asked(image()), asked(image()));
  expect(notices).toEqual([expect.stringContaining("at most 1 images in a request, and newer ones follow")]);
});

test("allows only smaller images in a crowded request", () => {
  const limits = { imageSide: 100, crowded: { images: 2, imageSide: 20 } };
  const [large, small] = [asked(image(png(50, 50))), asked(image())];
  expect(partsOf(fit(limits, large, small).messages)).toEqual(["image/png", "image/png"]);
  expect(partsOf(fit(limits, large, small, small).messages)[0]).toMatch(/at most 20 × 20 pixels/);
});
