import { isAbsolute } from "node:path";
import { quote } from "@agent/core/toolkit";
import {
  type AgentContext,
  agent as agentApp,
  type ClientCapabilities,
  type InitializeResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { EditorClient } from "./editor.js";
import type { AcpHost, EditorServer } from "./host.js";
import { FORK_SESSION, type OpenParams, readForkParams } from "./openParams.js";
import { invalidParams, withReadableErrors } from "./requestErrors.js";
import { AcpSession } from "./session.js";
import { standardStream } from "./stream.js";
import { routeSessions } from "./workers/routeSessions.js";
import { inChildProcess, inThisProcess, type ProgramStart } from "./workers/workerProcesses.js";

export interface ServeOptions {
  /** Default: this process's standard input and output, to which nothing else may be written meanwhile. */
  readonly stream?: Stream;
  /**
   * How to start this program again. If set, each further session of the editor runs in its own process, for a host
   * that depends on the working directory or changes the environment.
   */
  readonly program?: ProgramStart;
}

/** Serves an editor until it closes the connection. */
export async function serveAcp(host: AcpHost, options: ServeOptions = {}): Promise<void> {
  const { stream = standardStream(process.stdout), program } = options;
  if (!program) return await serveStream(host, stream);
  const first = inThisProcess((inner) => serveStream(host, inner));
  await routeSessions(stream, first, () => inChildProcess(program));
}

async function serveStream(host: AcpHost, stream: Stream): Promise<void> {
  const sessions = new Sessions(host);
  const { session } = methods.agent;
  const connection = agentApp({ name: host.name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.capabilities = params.clientCapabilities ?? {};
      return initialized(host);
    })
    .onRequest(
      methods.agent.authenticate,
      withReadableErrors(async ({ params }) => {
        await host.authenticate?.(params.methodId);
        return {};
      }),
    )
    .onRequest(
      session.new,
      withReadableErrors(async ({ params, client, signal }) => {
        const opened = await sessions.open(params, client, signal);
        return { sessionId: opened.id, ...announceSoon(opened) };
      }),
    )
    .onRequest(
      session.load,
      withReadableErrors(async ({ params, client, signal }) => {
        const opened = await sessions.open(params, client, signal, params.sessionId);
        await opened.replay();
        return announceSoon(opened);
      }),
    )
    .onRequest(
      session.resume,
      withReadableErrors(async ({ params, client, signal }) =>
        announceSoon(await sessions.open(params, client, signal, params.sessionId)),
      ),
    )
    .onRequest(
      FORK_SESSION,
      readForkParams,
      withReadableErrors(async ({ params, client, signal }) => {
        const opened = await sessions.open(params, client, signal, params.sessionId, true);
        return { sessionId: opened.id, ...announceSoon(opened) };
      }),
    )
    .onRequest(
      session.list,
      withReadableErrors(async ({ params }) => ({
        sessions: ((await host.listSessions?.(params.cwd ?? undefined)) ?? []).map(({ id, ...about }) => ({
          sessionId: id,
          ...about,
        })),
      })),
    )
    .onRequest(
      session.delete,
      withReadableErrors(async ({ params }) => {
        if (!host.deleteSession) throw RequestError.methodNotFound(session.delete);
        await sessions.close(params.sessionId);
        await host.deleteSession(params.sessionId);
        return {};
      }),
    )
    .onRequest(
      session.setMode,
      withReadableErrors(async ({ params }) => {
        await sessions.find(params.sessionId).setMode(params.modeId);
        return {};
      }),
    )
    .onRequest(
      session.setConfigOption,
      withReadableErrors(async ({ params }) => ({
        configOptions: await sessions.find(params.sessionId).setConfigOption(params.configId, params.value),
      })),
    )
    .onRequest(
      session.prompt,
      withReadableErrors(({ params, signal }) =>
        sessions.find(params.sessionId).prompt(params.prompt, signal),
      ),
    )
    .onRequest(
      session.close,
      withReadableErrors(async ({ params }) => {
        sessions.find(params.sessionId);
        await sessions.close(params.sessionId);
        return {};
      }),
    )
    .onNotification(session.cancel, ({ params }) => sessions.cancel(params.sessionId))
    .connect(stream);
  await connection.closed;
  await sessions.closeAll();
}

/** The sessions of one editor. */
class Sessions {
  capabilities: ClientCapabilities = {};
  readonly #host: AcpHost;
  readonly #open = new Map<string, AcpSession>();
  #isOver = false;

  constructor(host: AcpHost) {
    this.#host = host;
  }

  find(id: string): AcpSession {
    const session = this.#open.get(id);
    if (!session) throw invalidParams(`there is no session "${id}"`);
    return session;
  }

  cancel(id: string): void {
    this.#open.get(id)?.cancel();
  }

  async open(
    params: OpenParams,
    client: AgentContext,
    signal: AbortSignal,
    resume?: string,
    fork = false,
  ): Promise<AcpSession> {
    const { cwd } = params;
    const additionalDirectories = params.additionalDirectories ?? [];
    for (const directory of [cwd, ...additionalDirectories]) {
      if (isAbsolute(directory)) continue;
      throw invalidParams(`"${directory}" must be an absolute path`);
    }
    // The session may already be open: stop its work before the stored conversation is read.
    if (resume !== undefined && !fork) await this.close(resume);
    const editor = new EditorClient(client, this.capabilities);
    const session = new AcpSession(editor, cwd);
    const { servers, problems } = toServers(params.mcpServers ?? []);
    const editorFiles = editor.files();
    const opened = await this.#host.openSession({
      cwd,
      additionalDirectories,
      servers,
      approve: (call) => session.approve(call),
      choose: (call, choices) => session.choose(call, choices),
      ask: (question) => editor.ask(question),
      signal,
      ...(editorFiles && { editorFiles }),
      ...(resume !== undefined && { resume, ...(fork && { fork }) }),
    });
    await session.attach(opened, problems);
    await this.close(session.id);
    this.#open.set(session.id, session);
    // The editor disconnected while the session was opened.
    if (this.#isOver) await this.close(session.id);
    return session;
  }

  async close(id: string): Promise<void> {
    const session = this.#open.get(id);
    this.#open.delete(id);
    await session?.dispose();
  }

  async closeAll(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }
}

function initialized(host: AcpHost): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: host.name, version: host.version },
    authMethods: (host.authMethods ?? []).map((method) => ({ ...method })),
    agentCapabilities: {
      loadSession: host.listSessions !== undefined,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        close: {},
        additionalDirectories: {},
        ...(host.listSessions && { list: {}, resume: {}, fork: {} }),
        ...(host.deleteSession && { delete: {} }),
      },
    },
  };
}

function announceSoon(session: AcpSession) {
  // Send updates after the response: the editor does not know the session id before.
  setImmediate(() => void session.announce().catch(() => undefined));
  return session.state();
}

interface EditorServers {
  readonly servers: Readonly<Record<string, EditorServer>>;
  /** The problems of those that cannot be used. */
  readonly problems: readonly string[];
}

/**
 * The editor's MCP servers as options of `@agent/tools-mcp`. Names are converted to characters that tool names may
 * contain.
 */
function toServers(servers: readonly McpServer[]): EditorServers {
  const found: Record<string, EditorServer> = {};
  const problems: string[] = [];
  for (const server of servers) {
    const name = freeName(server.name, found);
    if ("command" in server) {
      const { command, args, env } = server;
      found[name] = { command, args, env: toRecord(env) };
    } else if (server.type === "http") {
      found[name] = { url: server.url, headers: toRecord(server.headers) };
    } else {
      const type = quote(String(server.type));
      problems.push(`MCP server ${name}: it is left out, because its type ${type} is not supported here.`);
    }
  }
  return { servers: found, problems };
}

/** A unique server name: two names may differ only in characters that a tool name cannot contain. */
function freeName(given: string, taken: Readonly<Record<string, unknown>>): string {
  const name =
    given
      .replace(/[^A-Za-z0-9-]+/g, "-")
      .slice(0, 32)
      .replace(/^-+|-+$/g, "") || "server";
  for (let n = 1; ; n++) {
    const tried = n === 1 ? name : `${name.slice(0, 28)}-${n}`;
    if (!Object.hasOwn(taken, tried)) return tried;
  }
}

function toRecord(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
