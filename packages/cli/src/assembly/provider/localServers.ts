import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage, isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { note } from "../../process/output.js";
import { stateDirectory } from "../../process/paths.js";
import { checkFileSafety } from "../../settings/config/fileSafety.js";
import { describeOwner, listenerOwner, ownerKind } from "./listeners.js";

const PRIVATE_FILE = 0o600;

/** The default ports of local model servers. */
const SERVERS: readonly KnownServer[] = [
  { name: "Ollama", port: 11434 },
  { name: "llama.cpp", port: 8080 },
  { name: "LM Studio", port: 1234 },
  { name: "vLLM", port: 8000 },
];

interface KnownServer {
  readonly name: string;
  readonly port: number;
}

/** A server that listens on this machine, and the owner of its process. */
interface ListeningServer extends KnownServer {
  readonly owner: number;
}

/** A model server the user approved. */
export interface LocalServer extends ProbedServer {
  readonly owner: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `127.0.0.1:11434 of user 998` → whether it may answer. */
type Decisions = Readonly<Record<string, boolean>>;

/**
 * Servers on well-known local ports that the user may be asked about. A server that another human runs is excluded,
 * because a model decides what the tools do. `AGENT_LOCAL_PORTS` replaces the ports; if it is empty, there are none.
 */
export function listeningServers(env: Environment): ListeningServer[] {
  const self = process.getuid?.();
  if (self === undefined) return [];
  return servers(env.AGENT_LOCAL_PORTS).flatMap((server) => {
    const owner = listenerOwner(server.port);
    return owner === undefined || ownerKind(owner, self) === "other" ? [] : [{ ...server, owner }];
  });
}

/** The first approved server that still has the same owner and answers. */
export async function findLocalServer(env: Environment): Promise<LocalServer | undefined> {
  const decisions = readDecisions();
  for (const server of listeningServers(env)) {
    if (decisions[keyOf(server)] !== true) continue;
    const found = await probeServer(server);
    if (found) return { ...found, owner: server.owner };
  }
  return undefined;
}

/**
 * Asks the user about each model server without a recorded decision, and stores the answer for this address and owner.
 * Stops at the first approved server.
 */
export async function askAboutLocalServer(
  env: Environment,
  ask: (question: string) => Promise<boolean>,
): Promise<void> {
  const decisions = readDecisions();
  for (const server of listeningServers(env)) {
    const known = decisions[keyOf(server)];
    if (known === true) return;
    const found = known === undefined ? await probeServer(server) : undefined;
    if (!found) continue;
    const allowed = await ask(
      [
        `A model server answers at 127.0.0.1:${server.port} (${server.name}, model ${escapeToLine(found.model)}), run by ${describeOwner(server.owner)}.`,
        "The server sees what you write and decides what the tools do.",
        "Use it, now and later?",
      ].join("\n"),
    );
    await remember(server, allowed);
    if (allowed) return;
  }
}

/** Throws if another user's process has replaced the server. */
export function checkSameOwner({ port, owner }: LocalServer): void {
  const now = listenerOwner(port);
  if (now === owner) return;
  const who = now === undefined ? "a program you have not approved" : describeOwner(now);
  throw new Error(
    `127.0.0.1:${port} now belongs to ${who}, not to ${describeOwner(owner)}. Nothing was sent. Start the server again, or name one with --base-url.`,
  );
}

function servers(ports: string | undefined): readonly KnownServer[] {
  if (ports === undefined) return SERVERS;
  return ports
    .split(/[\s,]+/)
    .filter((port) => /^\d+$/.test(port))
    .map(
      (port) =>
        SERVERS.find((known) => known.port === Number(port)) ?? { name: "local server", port: Number(port) },
    );
}

function keyOf({ port, owner }: ListeningServer): string {
  return `127.0.0.1:${port} of user ${owner}`;
}

function readDecisions(): Decisions {
  try {
    checkFileSafety(storePath());
    const store: unknown = JSON.parse(readFileSync(storePath(), "utf8"));
    return isRecord(store) && isRecord(store.servers) ? (store.servers as Decisions) : {};
  } catch {
    // Without a trustworthy store no server counts as approved.
    return {};
  }
}

async function remember(server: ListeningServer, allowed: boolean): Promise<void> {
  const servers = { ...readDecisions(), [keyOf(server)]: allowed };
  try {
    ensurePrivateDirectory(dirname(storePath()));
    const text = `${JSON.stringify({ version: 1, servers }, undefined, 1)}\n`;
    await writeFileAtomic(storePath(), text, { mode: PRIVATE_FILE });
  } catch (error) {
    note(`agent: your answer could not be saved, so the server is not used: ${errorMessage(error)}`);
  }
}

function storePath(): string {
  return join(stateDirectory(), "servers.json");
}

const MAX_WAIT_MS = 300;

const MAX_ANSWER_BYTES = 256 * 1024;

/** An OpenAI-compatible server that answered on this machine, and the first model it offers. */
interface ProbedServer {
  readonly name: string;
  readonly port: number;
  readonly baseURL: string;
  readonly model: string;
}

/** Asks a loopback port for its models; `undefined` if it is not a model server or does not answer within 300 ms. */
async function probeServer({
  name,
  port,
}: {
  readonly name: string;
  readonly port: number;
}): Promise<ProbedServer | undefined> {
  const baseURL = `http://127.0.0.1:${port}/v1`;
  // Loaded only if a server listens, so that the first prompt does not wait for it.
  const { get } = await import("node:http");
  return await new Promise((resolve) => {
    const finish = (model?: string): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(model === undefined ? undefined : { name, port, baseURL, model });
    };
    const timer = setTimeout(finish, MAX_WAIT_MS);
    const request = get(`${baseURL}/models`, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("error", () => finish());
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) finish();
      });
      response.on("end", () => finish(response.statusCode === 200 ? firstModel(text) : undefined));
    });
    request.on("error", () => finish());
  });
}

/** The first model in the answer; `undefined` if it is not the answer of a model server. */
function firstModel(text: string): string | undefined {
  try {
    const id: unknown = JSON.parse(text)?.data?.[0]?.id;
    return typeof id === "string" && id !== "" ? id : undefined;
  } catch {
    return undefined;
  }
}
