import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermitAnswer, PermitRequest } from "@agent/core";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { expectNoProcessWith, leaveNoProcessBehind, ownTag } from "../../../test/processes.js";
import { useWorkspace } from "../../../test/workspace.js";
import type { RunBashResult } from "../../command/result.js";
import { resolveLimits } from "../../processes/limits.js";
import { CommandRunner } from "../../tools/commandRunner.js";
import { Sandbox } from "../sandbox.js";
import { resolveSandbox } from "../settings.js";
import type { Outside } from "./dial.js";
import type { Permit } from "./hostAccess.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox(resolveSandbox("auto")).status();
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const canRun = program !== undefined && hasCurl && hasOpenssl;
const reason = problem ?? "curl or openssl is missing";

const at = useWorkspace();
/** A public address, which the tests connect to their own servers. */
const PUBLIC = "93.184.215.14";
const PROXY_PORT = 61_080;
const NAMES = ["allowed.example", "sub.git.example", "other.example"];
const keys = canRun ? makeCertificate() : undefined;
afterAll(() => keys && rmSync(keys.directory, { recursive: true, force: true }));

function makeCertificate() {
  const directory = mkdtempSync(join(tmpdir(), "tools-bash-tls-"));
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=allowed.example"].concat(
      ["-addext", `subjectAltName=${NAMES.map((name) => `DNS:${name}`).join(",")}`],
      ["-keyout", key, "-out", cert],
    ),
    { stdio: "ignore" },
  );
  return { directory, key: readFileSync(key), cert: readFileSync(cert) };
}

/** The servers of one test, and the network through which the proxy sees them. */
interface Servers {
  readonly outside: Outside;
  /** What the proxy connected to, as `address:port`. */
  readonly dialled: string[];
  /** The requests that arrived, as `scheme host path`. */
  readonly seen: string[];
  readonly sockets: Set<Socket>;
  /** The port of the plain server on this machine. */
  readonly port: number;
}

async function startServers(resolve: Outside["resolve"] = async () => [PUBLIC]): Promise<Servers> {
  const [dialled, seen, sockets] = [[] as string[], [] as string[], new Set<Socket>()];
  const answer =
    (scheme: string) =>
    (request: http.IncomingMessage, response: http.ServerResponse): void => {
      seen.push(`${scheme} ${request.headers.host} ${request.url}`);
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => response.end(`${scheme} ${request.headers.host} ${request.url} ${body}\n`));
    };
  const plain = http.createServer(answer("http"));
  plain.on("upgrade", (request: http.IncomingMessage, socket: Socket) => {
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  const secure = https.createServer({ key: keys?.key, cert: keys?.cert }, answer("https"));
  // A server that speaks first, as SSH does.
  const speaking = createServer((socket) => void socket.end("SSH-2.0-test\r\n"));
  for (const server of [plain, secure, speaking]) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
  }
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
  const ports: Record<number, number> = { 80: portOf(plain), 443: portOf(secure), 22: portOf(speaking) };
  const outside: Outside = {
    resolve,
    connect: (address, port) => {
      dialled.push(`${address}:${port}`);
      const local = address === "127.0.0.1" ? port : (ports[port] ?? 1);
      return connect({ host: "127.0.0.1", port: local, allowHalfOpen: true });
    },
  };
  return { outside, dialled, seen, sockets, port: portOf(plain) };
}

interface RunOptions {
  readonly hosts?: readonly string[];
  readonly permit?: Permit;
  readonly signal?: AbortSignal;
  readonly env?: Record<string, string>;
  readonly timeout?: number;
}

let runners: CommandRunner[] = [];
beforeEach(() => {
  runners = [];
});

async function run(
  { outside }: Pick<Servers, "outside">,
  command: string,
  { hosts = ["allowed.example", "*.git.example"], permit, signal, env, timeout }: RunOptions = {},
): Promise<RunBashResult> {
  if (keys) writeFileSync(join(at.workspace, "cert.pem"), keys.cert);
  const runner = new CommandRunner({
    shell: "/bin/sh",
    limits: resolveLimits(),
    hideEnv: undefined,
    hostSecrets: [],
    policy: undefined,
    sandbox: resolveSandbox({ network: { hosts } }),
    surroundings: { outside, permit },
  });
  runners.push(runner);
  onTestFinished(() => runner.host.dispose());
  const args = { command, ...(env && { env }), ...(timeout && { timeout }) };
  return JSON.parse(
    await runner.run(args, { signal: signal ?? new AbortController().signal, onOutput() {} }),
  );
}

/** A script of node that runs in the sandbox. */
function node(script: string): string {
  writeFileSync(join(at.workspace, "script.cjs"), script);
  return `'${process.execPath}' script.cjs`;
}

/** A command that sends bytes to the proxy and prints what comes back. */
function send(...parts: readonly string[]): string {
  return node(`
    const socket = require("net").connect(${PROXY_PORT}, "127.0.0.1");
    const parts = ${JSON.stringify(parts)};
    let text = "";
    const next = () => parts.length > 0 && socket.write(parts.shift(), "latin1");
    socket.on("connect", next);
    socket.on("data", (chunk) => { text += chunk.toString("latin1"); process.stdout.write(chunk); next(); });
    socket.on("error", (error) => console.log(error.code));
    socket.on("close", () => process.exit());
    setTimeout(() => process.exit(), 60000);
  `);
}

const curl = "curl -sS --max-time 60 --cacert cert.pem";

describe.skipIf(!canRun)(`network by host${canRun ? "" : ` (skipped: ${reason})`}`, () => {
  describe("allowed hosts", () => {
    test("reaches an allowed host with curl, over TLS and plain", async () => {
      const servers = await startServers();
      const { stdout } = await run(
        servers,
        `${curl} https://allowed.example/a; ${curl} http://ALLOWED.example./b -d body; ${curl} https://sub.git.example/c`,
      );
      expect(stdout).toBe(
        "https allowed.example /a \nhttp allowed.example /b body\nhttps sub.git.example /c \n",
      );
      expect(servers.dialled).toEqual([`${PUBLIC}:443`, `${PUBLIC}:80`, `${PUBLIC}:443`]);
    });

    test("reaches an allowed host through SOCKS and through a tunnel to port 80", async () => {
      const servers = await startServers();
      const { stdout } = await run(
        servers,
        `${curl} -x socks5h://127.0.0.1:${PROXY_PORT} https://allowed.example/a; ${curl} -x socks5h://127.0.0.1:${PROXY_PORT} http://allowed.example/b; ${curl} -p http://allowed.example/c`,
      );
      expect(stdout).toBe("https allowed.example /a \nhttp allowed.example /b \nhttp allowed.example /c \n");
    });

    test("transfers large bodies whole, in both directions", async () => {
      const servers = await startServers();
      const size = 3_000_000;
      const command = `head -c ${size} /dev/zero | tr '\\0' x > big; ${curl} --data-binary @big https://allowed.example/ | wc -c; ${curl} -T big -H 'Transfer-Encoding: chunked' http://allowed.example/ | wc -c`;
      const { stdout } = await run(servers, command);
      const [secure = 0, plain = 0] = stdout.split("\n").map(Number);
      expect(secure).toBe(size + "https allowed.example / \n".length);
      expect(plain).toBe(size + "http allowed.example /big \n".length);
    });

    test("upgrades to a WebSocket, and to nothing else", async () => {
      const servers = await startServers();
      const upgrade = (to: string) =>
        `GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
      const command = node(`
        const socket = require("net").connect(${PROXY_PORT}, "127.0.0.1", () => socket.write(${JSON.stringify(upgrade("websocket"))}));
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk;
          if (text.includes("echoed")) { console.log(text.split("\\r\\n")[0], "echoed"); process.exit(); }
          if (text.endsWith("\\r\\n\\r\\n")) socket.write("echoed");
        });`);
      expect((await run(servers, command)).stdout).toBe("HTTP/1.1 101 Switching Protocols echoed\n");
      const other = await run(servers, send(upgrade("h2c")));
      expect(other.stdout).toMatch(/^HTTP\/1\.1 400 .*only a WebSocket/s);
    });

    test("allows any protocol on a port that a pattern names, also where the server speaks first", async () => {
      const servers = await startServers();
      const command = send("CONNECT allowed.example:22 HTTP/1.1\r\nHost: allowed.example:22\r\n\r\n");
      const allowed = await run(servers, command, { hosts: ["allowed.example:22"] });
      expect(allowed.stdout).toContain("SSH-2.0-test");
      const refused = await run(servers, command, { hosts: ["allowed.example"] });
      expect(refused.stdout).toMatch(/^HTTP\/1\.1 403 [\s\S]*Add "allowed\.example:22"/);
    });

    test("reaches a private address only if a pattern is that address", async () => {
      const servers = await startServers();
      const command = `curl -sS --noproxy '' http://127.0.0.1:${servers.port}/x`;
      const named = await run(servers, command, { hosts: [`127.0.0.1:${servers.port}`] });
      expect(named.stdout).toBe(`http 127.0.0.1:${servers.port} /x \n`);
      const other = await run(servers, command, { hosts: ["127.0.0.1"] });
      expect(other.stdout).toMatch(/is refused: A private or reserved address/);
    });
  });

  describe("everything else", () => {
    test("has no route: direct connections, datagrams, name servers", async () => {
      const servers = await startServers();
      const command = node(`
        const dgram = require("dgram").createSocket("udp4");
        const tried = (name) => (error) => console.log(name, error?.code ?? "reached");
        require("net").connect(443, "${PUBLIC}").on("connect", tried("tcp")).on("error", tried("tcp"));
        require("net").connect(${servers.port}, "127.0.0.1").on("connect", tried("loopback")).on("error", tried("loopback"));
        dgram.send("x", 53, "${PUBLIC}", (error) => { tried("udp")(error); dgram.close(); });
        require("dns").promises.resolve4("allowed.example").then(() => console.log("dns reached"), () => console.log("dns failed"));
      `);
      const { stdout } = await run(servers, command, { timeout: 120_000 });
      expect(stdout.trim().split("\n").sort()).toEqual([
        "dns failed",
        "loopback ECONNREFUSED",
        "tcp ENETUNREACH",
        "udp ENETUNREACH",
      ]);
      expect(servers.dialled).toEqual([]);
    });

    test("names the option if no one can be asked about an unknown host", async () => {
      const servers = await startServers();
      const { stdout, stderr, exit_code } = await run(
        servers,
        `${curl} http://other.example/; ${curl} https://other.example/`,
      );
      expect(stdout).toMatch(
        /other\.example:80 is refused: it is not in sandbox\.network\.hosts, and no one answered/,
      );
      expect(exit_code).not.toBe(0);
      expect(stderr).toMatch(
        /\[connections that the sandbox refused: other\.example:80: .* other\.example:443: .*Add "other\.example" to sandbox\.network\.hosts/,
      );
      expect(servers.dialled).toEqual([]);
    });

    test("does not resolve a name before it is allowed", async () => {
      const resolved: string[] = [];
      const servers = await startServers(async (host) => {
        resolved.push(host);
        return [PUBLIC];
      });
      await run(servers, `${curl} https://secret.other.example/`, { permit: async () => "refused" });
      expect(resolved).toEqual([]);
    });
  });

  describe("questions", () => {
    test("asks once for all connections of a command to an unknown host", async () => {
      const servers = await startServers();
      const asked: PermitRequest[] = [];
      let answer: (answer: PermitAnswer) => void = () => undefined;
      const permit: Permit = (request) => {
        asked.push(request);
        return new Promise((resolve) => {
          answer = resolve;
          // Answered when all connections have arrived: their number is in the file that the command writes.
          const started = join(at.workspace, "started");
          const timer = setInterval(() => {
            if (!existsSync(started)) return;
            clearInterval(timer);
            answer("allowed");
          }, 20);
        });
      };
      const command = `for i in 1 2 3 4 5 6 7 8; do ${curl} https://other.example/$i & done; sleep 1; touch started; wait; ${curl} http://other.example/9`;
      const { stdout } = await run(servers, command, { permit });
      expect(stdout.trim().split("\n")).toHaveLength(9);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatchObject({
        source: "A command in the sandbox",
        permission: "net.connect(other.example)",
      });
      expect(asked[0]?.message).toMatch(/connect to other\.example, port (80|443)\.\nCommand: for i in 1 2/);
    });

    test("asks once about a host that the user refuses, and asks again for the next command", async () => {
      const servers = await startServers();
      let questions = 0;
      const permit: Permit = async () => {
        questions++;
        return "refused";
      };
      const command = `${curl} http://other.example/; ${curl} http://other.example/`;
      const { stdout, stderr } = await run(servers, command, { permit });
      expect(stdout.match(/the user did not allow it/g)).toHaveLength(2);
      expect(stderr).toContain("other.example:80: the user did not allow it.");
      await run(servers, command, { permit });
      expect(questions).toBe(2);
    });

    test("asks about at most 20 hosts for one command", async () => {
      const servers = await startServers();
      let questions = 0;
      const permit: Permit = async () => {
        questions++;
        return "refused";
      };
      const command = `i=0; while [ $i -lt 40 ]; do curl -s http://h$i.example/ > /dev/null; i=$((i + 1)); done`;
      await run(servers, command, { permit });
      expect(questions).toBe(20);
    });

    test("never asks about a private address, and an answer never opens one", async () => {
      const servers = await startServers(async () => ["10.0.0.1"]);
      const asked: string[] = [];
      const permit: Permit = async ({ permission }) => {
        asked.push(permission);
        return "allowed";
      };
      const { stdout } = await run(
        servers,
        `curl -s --noproxy '' http://192.168.1.1/; curl -s http://inside.example/`,
        { permit },
      );
      expect(stdout).toMatch(
        /192\.168\.1\.1:80 is refused[\s\S]*inside\.example:80 is refused: it resolves to 10\.0\.0\.1/,
      );
      expect(asked).toEqual(["net.connect(inside.example)"]);
      expect(servers.dialled).toEqual([]);
    });

    test("does not count the time for which a question is open", async () => {
      const servers = await startServers();
      for (let timeout = 1000; ; timeout *= 3) {
        let isAsked = false;
        const permit: Permit = async () => {
          isAsked = true;
          const asked = performance.now();
          await expect.poll(() => performance.now() - asked, { timeout: 120_000 }).toBeGreaterThan(timeout);
          return "refused";
        };
        const result = await run(servers, `${curl} http://other.example/; echo end`, { permit, timeout });
        // A machine that is too busy to ask in that time gets more.
        if (result.timed_out && timeout < 10_000) continue;
        expect(isAsked).toBe(true);
        expect(result).toMatchObject({ timed_out: false, exit_code: 0 });
        return;
      }
    });
  });

  describe("hostile clients", () => {
    const tls = (options: string) =>
      `echo | openssl s_client -proxy 127.0.0.1:${PROXY_PORT} -connect allowed.example:443 ${options} 2>&1 | grep -E 'alert|Verification|CONNECTED' ; true`;

    test("refuses TLS for another host than CONNECT named, and TLS without a host", async () => {
      const servers = await startServers();
      const right = await run(servers, tls("-servername allowed.example -CAfile cert.pem"));
      expect(right.stdout).toContain("Verification: OK");
      const dialled = servers.sockets.size;
      const wrong = await run(servers, tls("-servername other.example"));
      expect(wrong.stdout).toContain("alert");
      expect(wrong.stderr).toContain(
        "allowed.example:443: its TLS handshake is for another host, other.example.",
      );
      const none = await run(servers, tls("-noservername"));
      expect(none.stderr).toContain("allowed.example:443: its TLS handshake names no host (SNI).");
      expect(servers.sockets.size).toBeLessThanOrEqual(dialled);
      expect(servers.seen).toEqual([]);
    });

    test("refuses a tunnel to port 443 that is not TLS", async () => {
      const servers = await startServers();
      const connectTo = "CONNECT allowed.example:443 HTTP/1.1\r\nHost: allowed.example:443\r\n\r\n";
      const { stderr } = await run(servers, send(connectTo, "GET / HTTP/1.1\r\nHost: evil\r\n\r\n"));
      expect(stderr).toContain("allowed.example:443: the connection cannot be checked");
    });

    test.each([
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "0",
      "169.254.169.254",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[fd00:ec2::254]",
      "168.63.129.16",
      "100.100.100.200",
    ])("refuses CONNECT to %s without a question", async (host) => {
      const servers = await startServers();
      const permit: Permit = async () => "allowed";
      const { stdout } = await run(servers, send(`CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`), {
        permit,
      });
      expect(stdout).toMatch(/^HTTP\/1\.1 403 [\s\S]*private or reserved address/);
      expect(servers.dialled).toEqual([]);
    });

    test("checks the addresses of every connection anew, and uses the ones it checked", async () => {
      const answers = [[PUBLIC], ["127.0.0.1"], [PUBLIC, "::1"], ["2606:2800:21f:cb07:6820:80da:af6b:8b2c"]];
      const servers = await startServers(async () => answers.shift() ?? []);
      const { stdout } = await run(servers, `for i in 1 2 3 4 5; do ${curl} http://allowed.example/$i; done`);
      expect(stdout).toMatch(
        /^http allowed\.example \/1 \n.*resolves to 127\.0\.0\.1.*\n.*resolves to ::1.*\nhttp allowed\.example \/4 \n.*cannot be resolved/,
      );
      expect(servers.dialled).toEqual([`${PUBLIC}:80`, "2606:2800:21f:cb07:6820:80da:af6b:8b2c:80"]);
    });

    test.each([
      ["another Host", "GET http://allowed.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"],
      ["another port in Host", "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example:81\r\n\r\n"],
      [
        "two Hosts",
        "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nHost: other.example\r\n\r\n",
      ],
      [
        "user information",
        "GET http://allowed.example@other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n",
      ],
      [
        "user information in CONNECT",
        "CONNECT allowed.example@other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
      ],
      ["a path alone", "GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n"],
      ["an https address", "GET https://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"],
      ["another scheme", "GET ftp://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"],
      ["a backslash", "GET http://other.example\\.allowed.example/ HTTP/1.1\r\nHost: x\r\n\r\n"],
      ["no port", "CONNECT allowed.example HTTP/1.1\r\nHost: allowed.example\r\n\r\n"],
      ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      [
        "two lengths",
        "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ],
      ["no protocol at all", "hello\r\n\r\n"],
    ])("refuses %s", async (_name, request) => {
      const servers = await startServers();
      const { stdout } = await run(servers, send(request));
      expect(stdout).toMatch(/^HTTP\/1\.1 (400|403) /);
      expect(servers.dialled).toEqual([]);
    });

    test("checks every request of a connection, in a tunnel too", async () => {
      const servers = await startServers();
      const get = (url: string, host: string) => `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
      const first = get("http://allowed.example/1", "allowed.example");
      const direct = await run(servers, send(first, get("http://other.example/2", "other.example")));
      expect(direct.stdout).toMatch(/http allowed\.example \/1[\s\S]*other\.example:80 is refused/);
      const tunnel = "CONNECT allowed.example:80 HTTP/1.1\r\nHost: allowed.example:80\r\n\r\n";
      const inside = await run(
        servers,
        send(tunnel, get("/3", "allowed.example"), get("/4", "other.example")),
      );
      expect(inside.stdout).toMatch(
        /http allowed\.example \/3[\s\S]*400 Bad Request[\s\S]*must name the same host/,
      );
      const again = await run(servers, send(tunnel, tunnel));
      expect(again.stdout).toMatch(/400 Bad Request/);
      expect(servers.seen).toEqual(["http allowed.example /1", "http allowed.example /3"]);
    });

    test("refuses HTTP/2 without an upgrade inside a tunnel to port 80", async () => {
      const servers = await startServers();
      await run(servers, `curl -sS -p --max-time 60 --http2-prior-knowledge http://allowed.example/`);
      expect(servers.dialled).toEqual([]);
    });

    test("survives 1000 connections at the same time, and a header of 10 MB", async () => {
      const servers = await startServers();
      const command = `${node(`
        const net = require("net");
        let closed = 0, opened = 0;
        for (let i = 0; i < 1000; i++) {
          const socket = net.connect(${PROXY_PORT}, "127.0.0.1");
          socket.on("error", () => undefined);
          socket.on("close", () => closed++);
          socket.on("connect", () => {
            if (++opened < 1000) return;
            const big = net.connect(${PROXY_PORT}, "127.0.0.1");
            const check = setInterval(() => { if (closed >= 700) { console.log("excess closed"); process.exit(); } }, 20);
          });
        }`)}; (printf 'X-Big: '; head -c 10000000 /dev/zero | tr '\\0' x) > big; curl -s -H @big http://allowed.example/ -o answer -w '%{http_code}\\n'; ${curl} http://allowed.example/after`;
      const { stdout } = await run(servers, command);
      expect(stdout).toMatch(/^excess closed\n(431|400|000)\nhttp allowed\.example \/after/);
    });

    test("does not run what the variables of the command name before the proxy is ready", async () => {
      const servers = await startServers();
      const evil = join(at.workspace, "evil.cjs");
      writeFileSync(
        evil,
        `if (process.send) require("fs").writeFileSync("${join(at.workspace, "took-channel")}", "");`,
      );
      const env = { NODE_OPTIONS: `--require ${evil}`, "odd-name": "it's", LD_PRELOAD: "", UID: "7" };
      const command = `${curl} http://allowed.example/; tr '\\0' '\\n' < /proc/$$/environ | grep -E '^(odd-name|NODE_OPTIONS|UID)='; ls -l /proc/self/fd | grep -c socket; env | grep -c NODE_CHANNEL`;
      const { stdout } = await run(servers, command, { env });
      expect(stdout.split("\n").sort().filter(Boolean)).toEqual(
        [
          "0",
          "0",
          "UID=7",
          "http allowed.example / ",
          `NODE_OPTIONS=--require ${evil}`,
          "odd-name=it's",
        ].sort(),
      );
      expect(existsSync(join(at.workspace, "took-channel"))).toBe(false);
    });

    test("passes variables that a shell does not allow to be set", async () => {
      const names = ["BASHOPTS", "BASH_VERSINFO", "EUID", "LINENO", "OPTIND", "PPID", "SHELLOPTS", "UID"];
      const env = Object.fromEntries(names.map((name) => [name, "7"]));
      const command = `tr '\\0' '\\n' < /proc/$$/environ | grep '=7$'`;
      const { stdout } = await run(await startServers(), command, { env });
      expect(stdout.split("\n").sort().filter(Boolean)).toEqual(names.map((name) => `${name}=7`));
    });

    test("keeps the proxy of one command out of reach of another", async () => {
      const servers = await startServers();
      const gate = join(at.workspace, "checked");
      const first = run(
        servers,
        `touch ready; while [ ! -e checked ]; do sleep 0.05; done; ${curl} http://allowed.example/`,
      );
      await expect.poll(() => existsSync(join(at.workspace, "ready")), { timeout: 60_000 }).toBe(true);
      // The second has a proxy under the same address, which knows other hosts, and there is no socket with a path.
      const second = await run(servers, `${curl} http://allowed.example/; grep -c / /proc/net/unix`, {
        hosts: [],
      });
      writeFileSync(gate, "");
      expect(second.stdout).toMatch(/allowed\.example:80 is refused[\s\S]*\n0\n$/);
      expect((await first).stdout).toBe("http allowed.example / \n");
    });
  });

  describe("the end of a command", () => {
    const openTunnel = () =>
      node(`
        const socket = require("net").connect(${PROXY_PORT}, "127.0.0.1", () => socket.write("CONNECT allowed.example:22 HTTP/1.1\\r\\n\\r\\n"));
        require("http").request({ port: ${PROXY_PORT}, path: "http://allowed.example/", headers: { Host: "allowed.example" }, method: "POST" }).write("x");
        setInterval(() => undefined, 1000);`);

    test("closes all connections when the command ends, and when it is aborted", async () => {
      for (const isAborted of [false, true]) {
        const servers = await startServers();
        const controller = new AbortController();
        const command = isAborted ? openTunnel() : `${openTunnel()} & while [ ! -e go ]; do sleep 0.05; done`;
        const running = run(servers, command, { hosts: ["allowed.example"], signal: controller.signal });
        await expect.poll(() => servers.sockets.size, { timeout: 60_000 }).toBe(1);
        if (isAborted) controller.abort();
        else writeFileSync(join(at.workspace, "go"), "");
        await running;
        await expect.poll(() => servers.sockets.size, { timeout: 60_000 }).toBe(0);
        rmSync(join(at.workspace, "go"), { force: true });
      }
      await expectNoProcessWith(ownTag);
    });

    test("withdraws an open question when the command is aborted", async () => {
      const servers = await startServers();
      const controller = new AbortController();
      let question: PermitRequest | undefined;
      const permit: Permit = (request) => {
        question = request;
        return new Promise((resolve) =>
          request.signal.addEventListener("abort", () => resolve("unanswered")),
        );
      };
      const running = run(servers, `${curl} http://other.example/`, { permit, signal: controller.signal });
      await expect.poll(() => question, { timeout: 60_000 }).toBeDefined();
      controller.abort();
      expect(await running).toMatchObject({ aborted: true });
      expect(question?.signal.aborted).toBe(true);
    });
  });
});
