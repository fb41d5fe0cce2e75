import { describe, expect, test } from "vitest";
import { createRedactor } from "../../toolkit/text/text.js";
import { bodyError, statusError } from "./failure.js";

const PAGE = `<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title><style>body { color: red }</style></head>
<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>`;

async function messageOf(body: string, status = 502): Promise<string> {
  return (await statusError(new Response(body, { status }))).message;
}

describe("the message of an answer with an error status", () => {
  test("is one line for an HTML page: its title", async () => {
    expect(await messageOf(PAGE)).toBe("502 Bad Gateway (an HTML page, not an answer of the API)");
  });

  test("is the heading of a page without a title, or its text if it has neither", async () => {
    expect(await messageOf("<html><h1>\nToo  large\n</h1></html>", 413)).toBe(
      "413 Too large (an HTML page, not an answer of the API)",
    );
    expect(await messageOf("<html><style>a{}</style><p>No\nservice</p></html>")).toBe(
      "502 No service (an HTML page, not an answer of the API)",
    );
    expect((await messageOf(`<html>${"x ".repeat(10_000)}`)).length).toBeLessThan(300);
  });

  test.each([
    ["openings of tags", "<"],
    ["titles without an end", "<title"],
    ["styles without an end", "<style "],
  ])("reads a page made to be slow in one pass: %s", async (_, piece) => {
    const page = `<html>${piece.repeat(60_000 / piece.length)}`;
    for (let at = 0; at < 10; at++) {
      expect(await messageOf(page)).toBe("502 (an HTML page, not an answer of the API)");
    }
  });

  test("reads a title of 60,000 letters without an end in one pass", async () => {
    expect(await messageOf(`<html><title>${"a".repeat(60_000)}`)).toMatch(/^502 a{200,}/);
  });

  test("keeps the message of the API itself unchanged", async () => {
    expect(await messageOf('{"error":{"message":"<html> is not allowed"}}', 400)).toBe(
      "400 <html> is not allowed",
    );
    expect(await messageOf("plain\ntext")).toBe("502 plain\ntext");
    expect(await messageOf("")).toBe("502 (no body)");
  });
});

describe("a key is removed before the text is shortened", () => {
  const key = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
  const redact = createRedactor(() => [key]);
  const shown = async (body: string): Promise<string> =>
    redact((await statusError(new Response(body, { status: 403 }), {}, redact)).message);

  test.each([150, 170, 190, 199])("in a page whose title has it after %d letters", async (letters) => {
    expect(await shown(`<html><title>${"x".repeat(letters)}${key}</title>`)).not.toContain("sk-0");
  });

  test("in base64 over several lines of a page", async () => {
    const lines = btoa(`user:${key}`)
      .match(/.{1,20}/g)
      ?.join("\n");
    expect(await shown(`<html><h1>${lines}</h1>`)).toContain("[secret]");
  });

  test.each([
    ["words", `${"key ".repeat(16_380)}${key.repeat(9)}`],
    ["keys", `${key.repeat(10)}${"token".repeat(300)}`.repeat(80)],
  ])("in a body of %s that is cut inside it", async (_name, body) => {
    const long = createRedactor(() => [key, "token".repeat(300)]);
    const { message } = await statusError(new Response(body, { status: 403 }), {}, long);
    expect(long(message)).not.toMatch(/sk-0|token/);
  });
});

test("reports that an error has no message", () => {
  expect(bodyError(undefined).message).toBe("the server reports an error and does not say which");
});
