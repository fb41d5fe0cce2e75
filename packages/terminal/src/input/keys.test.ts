import { describe, expect, test } from "vitest";
import { type Key, KeyDecoder } from "./keys.js";

function decode(...chunks: (string | Buffer)[]): string[] {
  const decoder = new KeyDecoder();
  const name = (key: Key): string => (key.type === "key" ? `<${key.name}>` : `${key.type}:${key.text}`);
  return [...chunks.flatMap((chunk) => decoder.write(chunk)), ...decoder.flush()].map(name);
}

describe("KeyDecoder", () => {
  test("names keys, whatever the terminal sends for them", () => {
    expect(decode("a\r\x1b[A\x1bOB\x1b[1~\x1b[F\x7f\x01\x1bb\x1b\r\n\t")).toEqual([
      ..."text:a <enter> <up> <down> <home> <end> <backspace> <ctrl-a> <alt-b> <newline> <newline> <tab>".split(
        " ",
      ),
    ]);
  });

  test("waits for the rest of a character, a sequence and a paste", () => {
    const bytes = Buffer.from("日");
    expect(decode(bytes.subarray(0, 1), bytes.subarray(1))).toEqual(["text:日"]);
    expect(decode("\x1b", "[", "A")).toEqual(["<up>"]);
    expect(decode("\x1b[200~one\r", "two\x1b[20", "1~x")).toEqual(["paste:one\ntwo", "text:x"]);
  });

  test("an answer of the terminal is no text, whole or in parts", () => {
    const report = "report:11;rgb:ffff/ffff/ffff";
    expect(decode("a\x1b]11;rgb:ffff/ffff/ffff\x07b")).toEqual(["text:a", report, "text:b"]);
    expect(decode("\x1b]11;rgb:ffff/", "ffff/ffff\x1b", "\\b")).toEqual([report, "text:b"]);
    const late = new KeyDecoder();
    expect([...late.write("\x1b]11;rgb:ff"), ...late.flush()]).toEqual([]);
    expect(late.write("ff/ffff/ffff\x1b\\")).toEqual([{ type: "report", text: "11;rgb:ffff/ffff/ffff" }]);
    expect(decode("\x1b]")).toEqual(["<alt-]>"]);
    expect(decode("\x1bOP\x1b[24~")).toEqual(["<f1>", "<f12>"]);
  });

  test("decodes an escape that stays alone as the key", () => {
    expect(decode("\x1b")).toEqual(["<escape>"]);
    expect(decode("\x1b\x1b")).toEqual(["<escape>", "<escape>"]);
  });

  test("treats sequences in a paste as text, and drops unknown ones outside", () => {
    expect(decode("\x1b[200~a\x1b[Ab\x03\x1b[201~")).toEqual(["paste:a\x1b[Ab\x03"]);
    expect(decode("\x1b[99;99zx\x1b[<0;1;1Mx")).toEqual(["text:x", "text:x"]);
  });

  test("joins a large paste in small pieces in time that grows with its size", () => {
    const decoder = new KeyDecoder();
    decoder.write("\x1b[200~");
    for (let index = 0; index < 20_000; index++) decoder.write("0123456789".repeat(10));
    const [key] = decoder.write("\x1b[201~");
    expect(key?.type === "paste" && key.text.length).toBe(2_000_000);
  });
});
