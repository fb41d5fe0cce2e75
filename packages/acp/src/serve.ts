import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { errorMessage } from "@agent/core/toolkit";
import {
  type AgentContext,
  agent as agentApp,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { AcpHost, EditorServer } from "./host.js";
import { modeState } from "./modes.js";
import { AcpSession } from "./session.js";

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Serves an editor until it goes away. Without a stream: over this process's standard input and output, to which
 * nothing else may be written meanwhile.
 */
export async function serveAcp(
  host: AcpHost,
  stream: Stream = standardStream(process.stdout),
): Promise<void> {
  const sessions = new Map<string, AcpSession>();
  const find = (id: string): AcpSession => {
    const session = sessions.get(id);
    if (!session) throw RequestError.invalidParams(undefined, `there is no session "${id}"`);
    return session;
  };
  const open = async (
    request: { cwd: string; mcpServers?: readonly McpServer[]; additionalDirectories?: readonly string[] },
    client: AgentContext,
    signal: AbortSignal,
    resume?: string,
  ): Promise<AcpSession> => {
    if (!isAbsolute(request.cwd)) throw RequestError.invalidParams(undefined, "cwd must be an absolute path");
    const session = new AcpSession(client, request.cwd);
    try {
      session.attach(
        await host.openSession({
          cwd: request.cwd,
          additionalDirectories: request.additionalDirectories ?? [],
          servers: toServers(request.mcpServers ?? []),
          approve: (call) => session.approve(call),
          signal,
          ...(resume !== undefined && { resume }),
        }),
      );
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw RequestError.internalError(undefined, errorMessage(error));
    }
    await sessions.get(session.id)?.dispose();
    sessions.set(session.id, session);
    return session;
  };
  const started = (session: AcpSession) => {
    // After the answer: an editor does not know the session before.
    setImmediate(() => void session.announce().catch(() => undefined));
    return { modes: modeState(session.mode), configOptions: session.configOptions() };
  };
  const connection = agentApp({ name: host.name })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: host.name, version: host.version },
      authMethods: [],
      agentCapabilities: {
        loadSession: host.listSessions !== undefined,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: {
          close: {},
          additionalDirectories: {},
          ...(host.listSessions && { list: {}, resume: {} }),
        },
      },
    }))
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, async ({ params, client, signal }) => {
      const session = await open(params, client, signal);
      return { sessionId: session.id, ...started(session) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client, signal }) => {
      const session = await open(params, client, signal, params.sessionId);
      await session.replay();
      return started(session);
    })
    .onRequest(methods.agent.session.resume, async ({ params, client, signal }) =>
      started(await open(params, client, signal, params.sessionId)),
    )
    .onRequest(methods.agent.session.list, async ({ params }) => ({
      sessions: ((await host.listSessions?.(params.cwd ?? undefined)) ?? []).map(({ id, ...about }) => ({
        sessionId: id,
        ...about,
      })),
    }))
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      find(params.sessionId).setMode(params.modeId);
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params }) => ({
      configOptions: await find(params.sessionId).setConfigOption(params.configId, params.value),
    }))
    .onRequest(methods.agent.session.prompt, async ({ params, signal }) =>
      find(params.sessionId).prompt(params.prompt, signal),
    )
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await find(params.sessionId).dispose();
      sessions.delete(params.sessionId);
      return {};
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel())
    .connect(stream);
  await connection.closed;
  await Promise.all([...sessions.values()].map((session) => session.dispose()));
}

/** What is written to: a stream of Node, by its shape. */
export interface StreamOutput {
  write(chunk: Uint8Array, done: () => void): unknown;
}

/** Standard input, and `output` in place of standard output for a program that keeps that for itself. */
export function standardStream(output: StreamOutput): Stream {
  return ndJsonStream(
    new WritableStream<Uint8Array>({
      write: (chunk) => new Promise<void>((resolve) => output.write(chunk, () => resolve())),
    }),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
}

/** The editor's servers in the form our pack takes. Names are made such that tools can be named after them. */
function toServers(servers: readonly McpServer[]): Record<string, EditorServer> {
  const found: Record<string, EditorServer> = {};
  for (const server of servers) {
    const name =
      server.name
        .replace(/[^A-Za-z0-9-]+/g, "-")
        .replace(/^-+|-+$/g, "")
        .slice(0, 32) || "server";
    if ("command" in server) {
      const { command, args, env } = server;
      found[name] = {
        command,
        args,
        env: Object.fromEntries(env.map(({ name: key, value }) => [key, value])),
      };
    } else if (server.type === "http") {
      const headers = Object.fromEntries(server.headers.map(({ name: key, value }) => [key, value]));
      found[name] = { url: server.url, headers };
    }
  }
  return found;
}
