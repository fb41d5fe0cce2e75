import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 60_000;
// A killed run leaves no registry behind.
const END_WITH_PARENT = "data:text/javascript,process.on('disconnect',()=>process.exit())";

/** The registry for third-party packages, or why it cannot be used. */
export async function findPublicRegistry(): Promise<{ url: string; problem?: string }> {
  const { stdout } = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" });
  const url = (stdout?.trim() || "https://registry.npmjs.org/").replace(/\/?$/, "/");
  try {
    const response = await fetch(new URL("commander", url), {
      method: "HEAD",
      signal: AbortSignal.timeout(10_000),
    });
    return response.ok ? { url } : { url, problem: `the npm registry answered ${response.status}` };
  } catch (error) {
    return { url, problem: `the npm registry cannot be reached (${(error as Error).message})` };
  }
}

/** A registry on loopback that holds only what is published to it. */
export interface LocalRegistry {
  readonly url: string;
  /** Lines for an .npmrc that assign a scope to it. */
  npmrc(...scopes: readonly string[]): string[];
  stop(): Promise<void>;
}

export async function startRegistry(directory: string): Promise<LocalRegistry> {
  await mkdir(directory, { recursive: true });
  const config = join(directory, "verdaccio.yaml");
  await writeFile(
    config,
    [
      `storage: ${join(directory, "storage")}`,
      "web: { enable: false }",
      `auth: { htpasswd: { file: ${join(directory, "htpasswd")} } }`,
      "uplinks: {}",
      "packages: { '**': { access: $all, publish: $authenticated } }",
      "log: { type: stdout, format: pretty, level: warn }",
    ].join("\n"),
  );
  const host = `127.0.0.1:${await freePort()}`;
  const child = fork(verdaccioProgram(), ["--config", config, "--listen", host], {
    cwd: directory,
    execArgv: ["--no-warnings", "--import", END_WITH_PARENT],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const url = `http://${host}/`;
  try {
    await ready(url, child);
    const token = await createUser(url);
    return {
      url,
      npmrc: (...scopes) => [
        ...scopes.map((scope) => `${scope}:registry=${url}`),
        `//${host}/:_authToken=${token}`,
      ],
      stop: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function verdaccioProgram(): string {
  const manifest = createRequire(import.meta.url).resolve("verdaccio/package.json");
  return join(dirname(manifest), "bin", "verdaccio");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const answer = await fetch(new URL("-/ping", url)).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(
    `verdaccio did not start${child.exitCode === null ? " in time" : `: exit code ${child.exitCode}`}`,
  );
}

async function createUser(url: string): Promise<string> {
  const response = await fetch(new URL("-/user/org.couchdb.user:release-tests", url), {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "release-tests", password: "only-for-this-run" }),
  });
  const { token } = (await response.json()) as { token?: string };
  if (token === undefined) throw new Error(`verdaccio gave no token: HTTP ${response.status}`);
  return token;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
