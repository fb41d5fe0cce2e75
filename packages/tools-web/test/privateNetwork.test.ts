import { execFile, execFileSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PermitRequest } from "@agent/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { dataOf, WebServer, webRegistry } from "./webServer.js";

// Names of other networks cannot be resolved in a test, so the resolver's answers are given by each test.
vi.mock("node:dns/promises", async (original) => {
  const actual = await original<typeof import("node:dns/promises")>();
  return { ...actual, lookup: vi.fn(actual.lookup) };
});
const resolves = vi.mocked(lookup) as unknown as ReturnType<typeof vi.fn>;

let server: WebServer;
beforeAll(async () => {
  server = await new WebServer().listen();
  server.page("/", "text/plain", "internal").redirect("/out", "/");
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  resolves.mockReset();
});

const answers = (...addresses: string[]) =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("addresses that are not public", () => {
  test.for([
    "http://127.0.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://017700000001:PORT/",
    "http://2130706433:PORT/",
    "http://127.1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[::ffff:169.254.169.254]/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://192.168.0.1/",
    "http://224.0.0.1/",
  ])("are not reached: %s", async (url) => {
    const { outcome, text } = await webRegistry({}).run("web_fetch", {
      url: url.replace("PORT", String(server.port)),
    });
    expect(outcome).toBe("error");
    expect(text).toMatch(/Nothing was sent\..*allow: \["/);
    expect(server.requests).toEqual([]);
  });

  test.for(["localhost", "localhost.", "LOCALHOST", "intranet.example"])(
    "are not reached by the name %s",
    async (name) => {
      resolves.mockResolvedValue(answers("127.0.0.1"));
      const { text } = await webRegistry({}).run("web_fetch", { url: `http://${name}:${server.port}/` });
      expect(text).toContain("is at 127.0.0.1: this machine. Nothing was sent.");
      expect(server.requests).toEqual([]);
    },
  );

  test("are not reached by a name that has a public address as well", async () => {
    resolves.mockResolvedValue(answers("93.184.215.14", "127.0.0.1"));
    const { text } = await webRegistry({}).run("web_fetch", { url: `http://both.example:${server.port}/` });
    expect(text).toContain("is at 127.0.0.1: this machine");
    expect(server.requests).toEqual([]);
  });

  test("are reached if the configuration names the host", async () => {
    resolves.mockResolvedValue(answers("127.0.0.1"));
    const registry = webRegistry({ allow: [`intranet.example:${server.port}`] });
    const { text } = await registry.run("web_fetch", { url: `http://intranet.example:${server.port}/` });
    expect(dataOf(text)).toBe("internal");
    expect(server.requests[0]?.headers.host).toBe(`intranet.example:${server.port}`);
  });

  test("are reached if the user allows it, and the question names host and address", async () => {
    resolves.mockResolvedValue(answers("127.0.0.1"));
    const permit = vi.fn(async (_request: PermitRequest) => "allowed" as const);
    const url = `http://intranet.example:${server.port}/`;
    const { text } = await webRegistry({}, { permit }).run("web_fetch", { url });
    expect(dataOf(text)).toBe("internal");
    expect(permit.mock.calls[0]?.[0]).toMatchObject({
      source: "web_fetch",
      permission: `net.private(intranet.example:${server.port})`,
      message: `web_fetch wants to connect to intranet.example:${server.port}, which is at 127.0.0.1: this machine.`,
    });
    const refused = await webRegistry({}, { permit: async () => "refused" }).run("web_fetch", { url });
    expect(refused.text).toContain("The user refused the connection.");
    expect(server.requests).toHaveLength(1);
  });

  test("are asked about without a time limit: only the request has one", async () => {
    resolves.mockResolvedValue(answers("127.0.0.1"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const permit = vi.fn(async ({ signal }: PermitRequest) => {
        await vi.advanceTimersByTimeAsync(60_000);
        return signal.aborted ? ("unanswered" as const) : ("refused" as const);
      });
      const registry = webRegistry({ timeoutMs: 1000 }, { permit });
      const { text } = await registry.run("web_fetch", { url: `http://intranet.example:${server.port}/` });
      expect(text).toContain("The user refused the connection.");
    } finally {
      vi.useRealTimers();
    }
  });

  test("are not even asked about if they are link-local", async () => {
    const permit = vi.fn(async () => "allowed" as const);
    const { outcome } = await webRegistry({}, { permit }).run("web_fetch", {
      url: "http://169.254.169.254/latest/meta-data/",
    });
    expect(outcome).toBe("error");
    expect(permit).not.toHaveBeenCalled();
  });
});

describe("DNS rebinding", () => {
  test("changes nothing: a name is resolved once, and the connection uses that answer", async () => {
    // The system's resolver does not know the name: only the pinned answer can lead to the server.
    resolves.mockResolvedValueOnce(answers("127.0.0.1")).mockResolvedValue(answers("169.254.169.254"));
    const registry = webRegistry({ allow: [`rebind.example:${server.port}`] });
    const { text } = await registry.run("web_fetch", { url: `http://rebind.example:${server.port}/` });
    expect(dataOf(text)).toBe("internal");
    expect(resolves).toHaveBeenCalledTimes(1);
  });

  test("is noticed when a redirect of the same host resolves to another address", async () => {
    // The first answer is a host that the user allows for this call only.
    resolves.mockResolvedValueOnce(answers("127.0.0.1")).mockResolvedValue(answers("169.254.169.254"));
    const permit = async () => "allowed" as const;
    const { outcome, text } = await webRegistry({}, { permit }).run("web_fetch", {
      url: `http://rebind.example:${server.port}/out`,
    });
    expect([outcome, server.paths]).toEqual(["error", ["/out"]]);
    expect(text).toContain("is at 169.254.169.254: a link-local address");
  });
});

test("explains a name that does not exist", async () => {
  resolves.mockRejectedValue(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));
  expect((await webRegistry({}).run("web_fetch", { url: "https://nowhere.example/" })).text).toContain(
    'Cannot resolve the host "nowhere.example": there is no such name.',
  );
});

describe("HTTPS", () => {
  const directory = mkdtempSync(join(tmpdir(), "agent-web-tls-"));
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  let secure: Server;
  let host = "";

  beforeAll(async () => {
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
    const out = ["-keyout", key, "-out", certificate];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...names, ...out],
      {
        stdio: "ignore",
      },
    );
    secure = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain" }).end("secure");
      },
    );
    await new Promise<void>((listening) => {
      secure.listen(0, "127.0.0.1", listening);
    });
    host = `127.0.0.1:${(secure.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    secure.close();
    rmSync(directory, { recursive: true });
  });

  test("refuses a certificate that is not trusted, also if the environment turns the check off", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      const { outcome, text } = await webRegistry({ allow: [host] }).run("web_fetch", {
        url: `https://${host}/`,
      });
      expect(outcome).toBe("error");
      expect(text).toContain("the TLS connection failed: self-signed certificate");
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  test("accepts one that the system trusts", async () => {
    const program = `
      import { registerPack, ToolRegistry } from "@agent/core";
      import * as pack from "./dist/index.js";
      const registry = new ToolRegistry();
      const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
      registerPack(registry, pack, { context, options: { allow: ["${host}"] } });
      registry.enable("web_fetch");
      console.log((await registry.run("web_fetch", { url: "https://${host}/" })).text);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { cwd: join(import.meta.dirname, ".."), env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate } },
    );
    expect(stdout).toContain("\nsecure\n");
  });
});
