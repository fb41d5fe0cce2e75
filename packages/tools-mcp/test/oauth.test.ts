import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type McpHttpBehaviour, McpHttpServer } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import type { OAuthOptions } from "../src/config/options.js";
import { createConnectionHost } from "../src/connection/connectionHost.js";
import { inspectServer, loginServer } from "../src/manage/inspect.js";
import { LoginNeededError } from "../src/oauth/provider.js";
import { LoginStore } from "../src/oauth/store.js";
import { connected, registryOf, temporaryDirectory } from "./harness.js";

const HOST = fileURLToPath(new URL("fixtures/host.mjs", import.meta.url));

async function serverWith(behaviour: McpHttpBehaviour = {}): Promise<McpHttpServer> {
  const fixture = await McpHttpServer.start({ oauth: true, ...behaviour });
  onTestFinished(() => fixture.close());
  return fixture;
}

/** The browser of a user who agrees. */
async function agree(address: URL): Promise<void> {
  const page = await fetch(address, { redirect: "manual" });
  await fetch(page.headers.get("location") ?? "");
}

function login(
  { url }: McpHttpServer,
  directory: string,
  {
    oauth = {},
    ...options
  }: {
    oauth?: OAuthOptions;
    scope?: string;
    openBrowser?: (url: URL) => Promise<void>;
    signal?: AbortSignal;
  } = {},
) {
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  const signal = options.signal ?? AbortSignal.timeout(60_000);
  return loginServer("docs", { url, oauth }, host, { openBrowser: agree, ...options, signal });
}

const call = { name: "mcp__docs__echo", args: { a: 1 } };

test("logs in through discovery, registration and PKCE, bound to the server, and then needs no user", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  const { locked } = await login(fixture, directory);
  expect(locked.tools.map(({ tool }) => tool)).toContain("echo");
  const [asked] = fixture.seen.authorizations;
  expect(asked).toMatchObject({ code_challenge_method: "S256", resource: fixture.url, scope: "read" });
  expect(asked?.state?.length).toBeGreaterThan(20);
  expect(new URL(asked?.redirect_uri ?? "").hostname).toBe("127.0.0.1");
  expect(fixture.seen.tokenRequests[0]).toMatchObject({ resource: fixture.url });
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  expect((await registry.run(call.name, call.args)).text).toBe('{"a":1}');
  expect(fixture.seen.authorizations).toHaveLength(1);
});

test("uses a client metadata document as the client: its address is the id, and nothing is registered", async () => {
  const clientMetadataUrl = "https://agent.example/client.json";
  const fixture = await serverWith({ client: { id: clientMetadataUrl } });
  await login(fixture, temporaryDirectory(), { oauth: { clientMetadataUrl } });
  expect(fixture.seen.authorizations[0]).toMatchObject({ client_id: clientMetadataUrl });
  expect(fixture.seen.registrations).toBe(0);
});

test("logs in and refreshes with the secret of a variable, which is in no file, for a client that was registered by hand", async () => {
  process.env.FIXTURE_CLIENT_SECRET = "secret-of-the-client";
  onTestFinished(() => void delete process.env.FIXTURE_CLIENT_SECRET);
  const client = { id: "by-hand", secret: "secret-of-the-client" };
  const fixture = await serverWith({ client, firstExpiresIn: 30 });
  const directory = temporaryDirectory();
  const oauth = { clientId: "by-hand", clientSecretVariable: "FIXTURE_CLIENT_SECRET" };
  await login(fixture, directory, { oauth });
  expect(fixture.seen.authorizations[0]).toMatchObject({ client_id: "by-hand" });
  expect(fixture.seen.registrations).toBe(0);
  const registry = await connected({ docs: { url: fixture.url, oauth, enable: true } }, { directory });
  expect((await registry.run(call.name, call.args)).text).toBe('{"a":1}');
  expect(fixture.seen.refreshes).toBe(1);
  expect(readFileSync(join(directory, "logins.json"), "utf8")).not.toContain("secret-of-the-client");
});

test("keeps logins in one file that only the user can read, keyed by server and issuer", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const path = join(directory, "logins.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { servers } = JSON.parse(readFileSync(path, "utf8"));
  expect(servers[fixture.url]).toMatchObject({ current: fixture.origin, issuers: { [fixture.origin]: {} } });
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("does not use logins that others could read, and explains how to fix that", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  const path = join(directory, "logins.json");
  await login(fixture, directory);
  chmodSync(path, 0o644);
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  await expect(inspectServer("docs", { url: fixture.url }, host)).rejects.toThrow(`chmod 600 "${path}"`);
  await expect(login(fixture, directory)).rejects.toThrow("could be read or changed by others");
  chmodSync(path, 0o600);
  await inspectServer("docs", { url: fixture.url }, host);
});

test("names what to run without a login, and applies a login to the chat that is running", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  await new LoginStore(join(directory, "logins.json")).forget(fixture.url);
  // A model that tries again and again does not use up what a login would make possible.
  for (let attempt = 0; attempt < 4; attempt++) {
    const refused = await registry.run(call.name, call.args);
    expect(refused.outcome).toBe("error");
    expect(refused.text).toContain("Run in a terminal: agent mcp login docs");
  }
  await login(fixture, directory);
  expect((await registry.run(call.name, call.args)).text).toBe('{"a":1}');
});

test("shares one login between two chats: one of them refreshes an expiring token, once", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const server = { url: fixture.url, enable: true as const };
  await connected({ docs: server }, { directory });
  fixture.behaviour.firstExpiresIn = 30;
  await login(fixture, directory);
  // Slow enough for the other to come meanwhile.
  fixture.behaviour.beforeRefreshAnswer = () => new Promise((resolve) => setTimeout(resolve, 300));
  const chats = Array.from({ length: 3 }, () =>
    spawn(process.execPath, [HOST, directory, JSON.stringify({ docs: server }), "once", "logins.json"], {
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  expect(await Promise.all(chats.map(({ stdout }) => text(stdout)))).toEqual(["{}", "{}", "{}"]);
  expect(fixture.seen).toMatchObject({ refreshes: 1, reused: 0 });
  expect(fixture.seen.tokenRequests.at(-1)).toMatchObject({ resource: fixture.url });
});

test("uses a refreshed token whose issuer does not report its expiry until the server refuses it", async () => {
  const fixture = await serverWith({ firstExpiresIn: 30, refreshExpiresIn: null });
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  for (let time = 0; time < 3; time++) {
    expect((await registry.run(call.name, call.args)).text).toBe('{"a":1}');
  }
  expect(fixture.seen.refreshes).toBe(1);
});

test("lets an issuer that never answers a refresh block neither the call nor the logins of others", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const server = { url: fixture.url, enable: true as const, timeoutMs: 300 };
  await connected({ docs: server }, { directory });
  fixture.behaviour.firstExpiresIn = 30;
  await login(fixture, directory);
  fixture.behaviour.beforeRefreshAnswer = () => new Promise(() => undefined);
  const registry = registryOf({ docs: server }, { directory });
  expect(await registry.run(call.name, call.args)).toMatchObject({
    outcome: "error",
    text: expect.stringContaining("the issuer of its logins did not answer within 300 ms"),
  });
  expect(existsSync(join(directory, "logins.json.lock"))).toBe(false);
});

test("does not show what an issuer repeats of a request for a token", async () => {
  process.env.FIXTURE_CLIENT_SECRET = "secret-of-the-client";
  onTestFinished(() => void delete process.env.FIXTURE_CLIENT_SECRET);
  const client = { id: "by-hand", secret: "secret-of-the-client" };
  const fixture = await serverWith({ client, firstExpiresIn: 30, repeatsRequests: true });
  const directory = temporaryDirectory();
  const oauth = { clientId: "by-hand", clientSecretVariable: "FIXTURE_CLIENT_SECRET" };
  await login(fixture, directory, { oauth });
  const token = new LoginStore(join(directory, "logins.json")).read(fixture.url)?.tokens?.refresh_token ?? "";
  fixture.behaviour.client = { id: "by-hand", secret: "another one" };
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  const errors = [
    await inspectServer("docs", { url: fixture.url, oauth }, host).catch(String),
    await login(fixture, directory, { oauth }).catch(String),
  ].map(String);
  for (const error of errors) {
    expect(error).toContain("[secret]");
    expect(error).not.toContain(token);
    expect(error).not.toContain("secret-of-the-client");
  }
});

test("reports with a clear error a refresh that the issuer refuses, and keeps the login unchanged", async () => {
  const fixture = await serverWith({ firstExpiresIn: 30 });
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const before = readFileSync(join(directory, "logins.json"), "utf8");
  fixture.behaviour.refuseRefresh = true;
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  const error = await inspectServer("docs", { url: fixture.url }, host).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LoginNeededError);
  expect(String(error)).toContain("agent mcp login docs");
  expect(readFileSync(join(directory, "logins.json"), "utf8")).toBe(before);
});

test("asks for more permissions by name, adds them to the existing ones, and uses them in the running chat", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  const refused = await registry.run("mcp__docs__write", {});
  expect(refused.text).toContain('agent mcp login docs --scope "files:write"');
  await login(fixture, directory, { scope: "files:write" });
  expect(fixture.seen.authorizations.at(-1)?.scope?.split(" ").sort()).toEqual(["files:write", "read"]);
  expect((await registry.run("mcp__docs__write", {})).outcome).toBe("ok");
});

test("does not put permissions with a shell's characters into a command", async () => {
  const fixture = await serverWith({ wantedScope: "$(rm -rf ~)" });
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  const { text: message } = await registry.run("mcp__docs__write", {});
  expect(message).toContain("agent mcp login docs (");
  expect(message).not.toContain("rm -rf");
});

test("reports a server that refuses every token after a few requests, without a loop", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const registry = await connected({ docs: { url: fixture.url, enable: true } }, { directory });
  fixture.behaviour.refuseAll = true;
  const before = fixture.seen.requests.length;
  const result = await registry.run(call.name, call.args);
  expect(result.outcome).toBe("error");
  expect(result.text).toContain("Run in a terminal: agent mcp login docs");
  expect(fixture.seen.requests.length - before).toBeLessThan(6);
  expect(fixture.seen.refreshes).toBeLessThan(3);
  await expect(login(fixture, directory)).rejects.toThrow("the server still refuses the new login");
});

test.each([
  ["the user refuses", { refuse: true }, /the login was refused: access_denied/],
  ["the metadata is for another server", { resource: "https://elsewhere.example/mcp" }, /resource/i],
])("fails a login with a message if %s, and keeps nothing", async (_, behaviour, message) => {
  const fixture = await serverWith(behaviour);
  const directory = temporaryDirectory();
  await expect(login(fixture, directory)).rejects.toThrow(message);
  expect(existsSync(join(directory, "logins.json"))).toBe(false);
});

test.each<[string, McpHttpBehaviour]>([
  ["with a code", { answeringIssuer: "https://attacker.example" }],
  ["with an error", { answeringIssuer: "https://attacker.example", refuse: true }],
  ["that names no issuer, where the issuer says that it always does", { answeringIssuer: null }],
])(
  "refuses an answer of another issuer %s, without redeeming its code or showing its text",
  async (_, behaviour) => {
    const fixture = await serverWith(behaviour);
    const directory = temporaryDirectory();
    const error = await login(fixture, directory).catch(String);
    expect(error).toContain("its answer does not come from the issuer that was asked");
    expect(error).not.toMatch(/attacker|access_denied/);
    expect(fixture.seen.tokenRequests).toEqual([]);
    expect(existsSync(join(directory, "logins.json"))).toBe(false);
  },
);

test("ignores an answer without the right state", async () => {
  const fixture = await serverWith();
  const openBrowser = async (address: URL): Promise<void> => {
    const forged = new URL(address.searchParams.get("redirect_uri") ?? "");
    forged.searchParams.set("code", "stolen");
    forged.searchParams.set("state", "guessed");
    expect((await fetch(forged)).status).toBe(404);
    await agree(address);
  };
  await login(fixture, temporaryDirectory(), { openBrowser });
});

test("leaves nothing locked after a login that is given up, and keeps the one before", async () => {
  const fixture = await serverWith();
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const controller = new AbortController();
  const given = login(fixture, directory, {
    signal: controller.signal,
    openBrowser: async () => controller.abort(),
  });
  await expect(given).rejects.toThrow();
  expect(existsSync(join(directory, "logins.json.lock"))).toBe(false);
  const registry = registryOf({ docs: { url: fixture.url } }, { directory });
  await registry.dispose();
  expect(new LoginStore(join(directory, "logins.json")).read(fixture.url)?.tokens).toBeDefined();
});

test("refreshes in a chat while a user is logging in, without waiting for them", async () => {
  const fixture = await serverWith({ firstExpiresIn: 30 });
  const directory = temporaryDirectory();
  await login(fixture, directory);
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  await login(fixture, directory, {
    openBrowser: async (address) => {
      await inspectServer("docs", { url: fixture.url }, host);
      await agree(address);
    },
  });
  expect(fixture.seen.reused).toBe(0);
});
