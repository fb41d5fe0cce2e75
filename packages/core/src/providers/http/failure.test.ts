import { describe, expect, test } from "vitest";
import { statusError } from "./failure.js";

const PAGE = `<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title><style>body { color: red }</style></head>
<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>`;

async function messageOf(body: string, status = 502): Promise<string> {
  return (await statusError(new Response(body, { status }))).message;
}

describe("the message of an answer that is no success", () => {
  test("an HTML page is one line: its title", async () => {
    expect(await messageOf(PAGE)).toBe("502 Bad Gateway (an HTML page, not an answer of the API)");
  });

  test("a page without a title has its heading, and one without either has its words", async () => {
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
  ])("a page made to be slow is read in one pass: %s", async (_, piece) => {
    const page = `<html>${piece.repeat(60_000 / piece.length)}`;
    for (let at = 0; at < 10; at++) {
      expect(await messageOf(page)).toBe("502 (an HTML page, not an answer of the API)");
    }
  });

  test("a title of 60,000 letters without an end is read in one pass", async () => {
    expect(await messageOf(`<html><title>${"a".repeat(60_000)}`)).toMatch(/^502 a{200,}/);
  });

  test("what the API itself says stays as it is", async () => {
    expect(await messageOf('{"error":{"message":"<html> is not allowed"}}', 400)).toBe(
      "400 <html> is not allowed",
    );
    expect(await messageOf("plain\ntext")).toBe("502 plain\ntext");
    expect(await messageOf("")).toBe("502 (no body)");
  });
});
