import type { ChatRequest } from "@agent/core";
import { describe, expect, test } from "vitest";
import { MessageReader } from "./answer.js";

const request: ChatRequest = { messages: [], tools: [], signal: new AbortController().signal };
const delta = (text: string) =>
  JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });

/** Reads an event as the stream reader does, and reports whether JSON.parse was needed. */
function read(data: string): { readonly text: string | null; readonly isParsed: boolean } {
  const reader = new MessageReader("m", request);
  const isParsed = !reader.addUnparsed(data);
  if (isParsed) reader.add(JSON.parse(data));
  reader.add({ type: "message_stop" });
  return { text: reader.end().content, isParsed };
}

describe("more text is read without parsing the event", () => {
  test.each(["word ", "naïve 🎉", "a/b {c} [d]: e,", " ", "  }", "text_delta"])("%j", (text) => {
    expect(read(delta(text))).toEqual({ text, isParsed: false });
  });

  test("includes the spaces by which the server hides its length", () => {
    expect(read(delta("word").replace(/\}\}$/, "}        }"))).toEqual({ text: "word", isParsed: false });
  });
});

describe("what is not plain text in the server's own form is parsed", () => {
  test.each(['say "hi"', "C:\\dir", "line\nbreak", "\u0007", "\ud800"])("%j", (text) => {
    expect(read(delta(text))).toEqual({ text, isParsed: true });
  });

  test.each([
    ["other spacing", delta("a").replaceAll(":", ": ")],
    ["another order", '{"index":0,"type":"content_block_delta","delta":{"text":"a","type":"text_delta"}}'],
    ["one field more", delta("a").replace(/\}\}$/, '},"p":"xyz"}')],
  ])("%s", (_, data) => {
    expect(read(data)).toEqual({ text: "a", isParsed: true });
  });

  test("a field that is there twice counts as it does in JSON", () => {
    expect(read(delta("a").replace('"text":"a"', '"text":"a","text":"b"'))).toEqual({
      text: "b",
      isParsed: true,
    });
  });
});
