import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileEngine } from "@agent/durable";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createRunsServer } from "./server.js";

const TOKEN = "0b6f5a0e-token";
const directory = mkdtempSync(join(tmpdir(), "agent-runs-page-"));
const engine = createFileEngine(directory);
const server = createRunsServer(engine, { admin: TOKEN }, {});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Not `fetch`, which sends no Host of the caller's choice. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body = "",
  asked = server,
): Promise<Answer> {
  const { port } = asked.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on("error", reject).end(body);
  });
}

const withToken = { authorization: `Bearer ${TOKEN}` };

describe("the page of runs", () => {
  test.each(["//", "http://", "//:0/"])("refuses %j, which is not a valid address", async (path) => {
    expect(await ask(path, withToken)).toMatchObject({ status: 400 });
  });

  test("gives data to no one without the token, wherever they put it", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer " },
      { authorization: `Bearer ${TOKEN}x` },
      { authorization: TOKEN },
      { cookie: `token=${TOKEN}` },
    ] as Record<string, string>[]) {
      expect((await ask("/api/runs", headers)).status).toBe(401);
    }
    expect((await ask(`/api/runs?token=${TOKEN}`)).status).toBe(401);
    expect((await ask("/api/runs", withToken)).status).toBe(200);
  });

  test("answers no request that came under another name, which a page elsewhere can make a browser send", async () => {
    for (const host of [
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example:80",
      "evil@127.0.0.1",
    ]) {
      expect((await ask("/", { host })).status).toBe(403);
      expect((await ask("/api/runs", { host, ...withToken })).status).toBe(403);
    }
    expect((await ask("/", { host: "localhost:1234" })).status).toBe(200);
  });

  test("changes nothing by a request without the token, which a form of another site would be", async () => {
    const form = { "content-type": "text/plain", origin: "https://evil.example" };
    for (const path of ["/api/runs/x/cancel", "/api/runs/x/decide"]) {
      expect((await ask(path, form, "POST", "{}")).status).toBe(401);
    }
    const { headers } = await ask("/api/runs", withToken);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("runs its own script alone, whatever the text of a run holds, and is shown in no frame", async () => {
    const { headers, body } = await ask("/");
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toMatch(/default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/);
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(body).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write/);
  });

  test("shows and changes only the runs of its tenant", async () => {
    const run = { definition: "d", version: "1", labels: [], priority: 0, input: "secret" };
    await engine.create({ ...run, id: "own", tenant: "acme" });
    await engine.create({ ...run, id: "foreign", tenant: "evil" });
    const acme = createRunsServer(engine, { admin: TOKEN }, { tenant: "acme" });
    await new Promise<void>((resolve) => acme.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void acme.close().closeAllConnections());
    const of = (path: string, method = "GET", body = method === "POST" ? "{}" : "") =>
      ask(path, withToken, method, body, acme);
    const { runs } = JSON.parse((await of("/api/runs")).body) as { runs: { id: string }[] };
    expect(runs.map(({ id }) => id)).toEqual(["own"]);
    for (const path of ["/api/runs?tenant=evil", "/api/activity?tenant=evil"]) {
      expect((await of(path)).status).toBe(400);
    }
    for (const part of ["", "/events", "/cancel", "/retry", "/decide"]) {
      expect(await of(`/api/runs/foreign${part}`, part === "" ? "GET" : "POST")).toMatchObject({
        status: 404,
      });
    }
    expect((await engine.get("foreign"))?.state).toBe("queued");
    expect((await of("/api/runs/own")).status).toBe(200);
    const bulk = JSON.stringify({ action: "cancel", ids: ["foreign", "own", "gone"] });
    expect(JSON.parse((await of("/api/bulk", "POST", bulk)).body)).toEqual({ changed: 1, unchanged: 2 });
    for (const [path, body] of [
      ["/api/bulk", { action: "remove", ids: ["own"] }],
      ["/api/bulk", { action: "retry", ids: [1] }],
      ["/api/bulk", { action: "retry", ids: Array(501).fill("own") }],
    ] as const) {
      expect((await of(path, "POST", JSON.stringify(body))).status).toBe(400);
    }
    // This page was made without a version for new runs.
    expect((await of("/api/runs", "POST", '{"task":"x"}')).status).toBe(403);
  });

  test("refuses a large body and unknown paths", async () => {
    expect((await ask("/api/runs", withToken, "POST", "x".repeat(100_000))).status).toBe(413);
    for (const path of ["/../../etc/passwd", "/api/runs/..%2f..%2fetc", "/api/runs/__proto__"]) {
      expect((await ask(path, withToken)).status).toBe(404);
    }
  });
});
