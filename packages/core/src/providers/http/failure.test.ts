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

  test("what the API itself says stays as it is", async () => {
    expect(await messageOf('{"error":{"message":"<html> is not allowed"}}', 400)).toBe(
      "400 <html> is not allowed",
    );
    expect(await messageOf("plain\ntext")).toBe("502 plain\ntext");
    expect(await messageOf("")).toBe("502 (no body)");
  });
});
