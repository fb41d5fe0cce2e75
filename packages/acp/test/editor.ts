import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Conversation, createToolRegistry, type Session } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import * as preset from "@agent/preset-default";
import {
  type AnyMessage,
  type ClientCapabilities,
  client as clientApp,
  methods,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { expect, onTestFinished } from "vitest";
import type { AcpHost, HostSession, OpenSessionRequest } from "../src/host.js";
import { serveAcp } from "../src/serve.js";
import { EditorTerminals } from "./editorTerminals.js";
import { schemaProblem } from "./schema.js";

export interface EditorOptions {
  readonly answers?: readonly ScriptedAnswer[];
  readonly session?: Session;
  readonly permission?: (request: RequestPermissionRequest) => string | undefined;
  readonly host?: Partial<AcpHost>;
  readonly onOpen?: (request: OpenSessionRequest) => void;
  /** Adds to the sessions of the host. */
  readonly extend?: (opened: HostSession, resume: string | undefined) => HostSession;
  readonly packs?: Parameters<typeof createToolRegistry>[1];
  /** The tools of `packs` to turn on. */
  readonly enable?: readonly string[];
  /** Confines the file tools to the session's directory. */
  readonly confined?: boolean;
  readonly capabilities?: ClientCapabilities;
  /** The unsaved texts in the editor, by path. */
  readonly buffers?: Map<string, string>;
  readonly elicit?: (params: unknown) => unknown;
}

/** A new directory, as a canonical path; it is removed when the test ends. */
export function project(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "agent-acp-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An editor connected to an agent with a scripted model. It checks every message against the schema. */
export function openEditor(options: EditorOptions = {}) {
  const sent: AnyMessage[] = [];
  const problems: string[] = [];
  const asked = new Map<unknown, string>();
  let hangUp = (): void => undefined;
  const toAgent = new TransformStream<AnyMessage, AnyMessage>({
    start: (controller) => {
      hangUp = () => controller.terminate();
    },
    transform(message, controller) {
      if ("method" in message && "id" in message) asked.set(message.id, message.method);
      controller.enqueue(message);
    },
  });
  const toEditor = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      sent.push(message);
      const problem = schemaProblem(message, "method" in message ? undefined : asked.get(message.id));
      if (problem !== undefined) problems.push(problem);
      controller.enqueue(message);
    },
  });
  const updates: SessionUpdate[] = [];
  const looking = new Set<() => void>();
  /** Resolves when an update has come that matches. */
  const until = (matches: (update: SessionUpdate) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!updates.some(matches)) return;
        looking.delete(look);
        resolve();
      };
      looking.add(look);
      look();
    });
  const permissions: RequestPermissionRequest[] = [];
  const terminals = new EditorTerminals();
  const buffers = options.buffers ?? new Map<string, string>();
  const { fs, session, terminal, elicitation } = methods.client;
  const connection = clientApp({ name: "test editor" })
    .onNotification(session.update, ({ params }: { params: SessionNotification }) => {
      updates.push(params.update);
      for (const look of looking) look();
    })
    .onRequest(session.requestPermission, ({ params }: { params: RequestPermissionRequest }) => {
      permissions.push(params);
      const optionId = options.permission ? options.permission(params) : "allow";
      if (optionId === undefined) return { outcome: { outcome: "cancelled" as const } };
      return { outcome: { outcome: "selected" as const, optionId } };
    })
    .onRequest(fs.readTextFile, ({ params }) => ({ content: terminals.read(params.path, buffers) }))
    .onRequest(fs.writeTextFile, ({ params }) => {
      terminals.write(params.path, params.content, buffers);
      return {};
    })
    .onRequest(terminal.create, ({ params }) => terminals.create(params))
    .onRequest(terminal.waitForExit, ({ params }) => terminals.waitForExit(params.terminalId))
    .onRequest(terminal.release, ({ params }) => terminals.release(params.terminalId))
    .onRequest(
      elicitation.create,
      ({ params }) => (options.elicit?.(params) ?? { action: "cancel" }) as never,
    )
    .connect({ writable: toAgent.writable, readable: toEditor.readable });
  const served = serveAcp(hostOf(options), {
    stream: { writable: toEditor.writable, readable: toAgent.readable },
  });
  onTestFinished(async () => {
    connection.close();
    hangUp();
    await served;
    terminals.killAll();
    expect(problems).toEqual([]);
  });
  return {
    agent: connection.agent,
    connection,
    updates,
    until,
    permissions,
    sent,
    served,
    terminals,
    buffers,
    hangUp,
  };
}

/** An editor with a new session. */
export async function started(options: EditorOptions = {}, cwd = project()) {
  const editor = openEditor(options);
  const { session, initialize } = methods.agent;
  await editor.agent.request(initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
  });
  const created = await editor.agent.request(session.new, { cwd, mcpServers: [] });
  const { sessionId } = created;
  const prompt = (text: string) =>
    editor.agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  return { ...editor, cwd, created, sessionId, prompt };
}

function hostOf({
  answers = [],
  session,
  host,
  onOpen,
  extend,
  packs,
  enable = [],
  confined,
}: EditorOptions): AcpHost {
  let count = 0;
  return {
    name: "agent",
    version: "0.0.0",
    listSessions: async () => [{ id: "kept", cwd: "/", title: "A kept one" }],
    openSession: async (request) => {
      onOpen?.(request);
      const { editorFiles, ask } = request;
      const conversation = new Conversation(request.resume !== undefined && session ? { session } : {});
      const registry = createToolRegistry(
        conversation,
        packs ?? [[preset, confined ? { root: request.cwd } : {}]],
        {
          enable: packs ? enable : ["run_bash"],
          host: { ask, ...(editorFiles && { editorFiles }) },
        },
      );
      const agent = new Agent(
        { ...scriptedProvider(answers), accepts: () => true },
        {
          conversation,
          registry,
          approve: request.approve,
        },
      );
      let current = "small";
      const opened: HostSession = {
        id: request.fork ? `session-${++count}` : (request.resume ?? `session-${++count}`),
        agent,
        contextTokens: 1000,
        model: {
          get current() {
            return current;
          },
          available: ["small", "large"],
          choose: (model) => {
            current = model;
          },
        },
        dispose: () => agent.dispose(),
      };
      return extend ? extend(opened, request.resume) : opened;
    },
    ...host,
  };
}
