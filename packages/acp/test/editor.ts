import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Agent, Conversation, createToolRegistry, type Session } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import * as preset from "@agent/preset-default";
import {
  type AnyMessage,
  type ClientConnection,
  client as clientApp,
  methods,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { onTestFinished } from "vitest";
import type { AcpHost, OpenSessionRequest } from "../src/host.js";
import { serveAcp } from "../src/serve.js";

const schema = JSON.parse(
  readFileSync(
    createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v1/schema.json"),
    "utf8",
  ),
);

export interface EditorOptions {
  readonly answers?: readonly ScriptedAnswer[];
  readonly session?: Session;
  readonly permission?: (request: RequestPermissionRequest) => string;
  readonly host?: Partial<AcpHost>;
  readonly onOpen?: (request: OpenSessionRequest) => void;
  readonly packs?: Parameters<typeof createToolRegistry>[1];
}

/** An editor that is connected to an agent with a scripted model, and checks every message against the schema. */
export function openEditor(options: EditorOptions = {}) {
  let hangUp = (): void => undefined;
  const toAgent = new TransformStream<AnyMessage, AnyMessage>({
    start: (controller) => {
      hangUp = () => controller.terminate();
    },
  });
  const toEditor = new TransformStream<AnyMessage, AnyMessage>();
  const sent: AnyMessage[] = [];
  const checked = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      sent.push(message);
      controller.enqueue(message);
    },
  });
  void toEditor.readable.pipeTo(checked.writable).catch(() => undefined);
  const updates: SessionUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const connection: ClientConnection = clientApp({ name: "test editor" })
    .onNotification(methods.client.session.update, ({ params }: { params: SessionNotification }) => {
      updates.push(params.update);
    })
    .onRequest(
      methods.client.session.requestPermission,
      ({ params }: { params: RequestPermissionRequest }) => {
        permissions.push(params);
        const optionId = options.permission?.(params) ?? "allow";
        return { outcome: { outcome: "selected", optionId } };
      },
    )
    .connect({ writable: toAgent.writable, readable: checked.readable });
  const served = serveAcp(hostOf(options), { writable: toEditor.writable, readable: toAgent.readable });
  onTestFinished(async () => {
    connection.close();
    hangUp();
    await served;
  });
  return { agent: connection.agent, connection, updates, permissions, sent, served };
}

function hostOf({ answers = [], session, host, onOpen, packs }: EditorOptions): AcpHost {
  let count = 0;
  return {
    name: "agent",
    version: "0.0.0",
    listSessions: async () => [{ id: "kept", cwd: "/", title: "A kept one" }],
    openSession: async (request) => {
      onOpen?.(request);
      const conversation = new Conversation(request.resume !== undefined && session ? { session } : {});
      const registry = createToolRegistry(conversation, packs ?? [[preset, {}]], {
        enable: packs ? [] : ["run_bash"],
      });
      const agent = new Agent(scriptedProvider(answers), {
        conversation,
        registry,
        approve: request.approve,
      });
      const choice = { current: "small", available: ["small", "large"] };
      return {
        id: request.resume ?? `session-${++count}`,
        agent,
        contextTokens: 1000,
        model: {
          get current() {
            return choice.current;
          },
          available: choice.available,
          choose: (model) => {
            choice.current = model;
          },
        },
        dispose: () => agent.dispose(),
      };
    },
    ...host,
  };
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
ajv.addSchema(schema, "acp");

const RESULTS: Readonly<Record<string, string>> = {
  initialize: "InitializeResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/prompt": "PromptResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
  "session/close": "CloseSessionResponse",
  authenticate: "AuthenticateResponse",
};

/** What is wrong with a message of the agent under the published schema; `method` is the request it answers. */
export function schemaProblem(message: AnyMessage, method?: string): string | undefined {
  if ("method" in message) {
    const name = message.method === "session/update" ? "SessionNotification" : "RequestPermissionRequest";
    return problemOf(name, message.params);
  }
  if (!("result" in message) || method === undefined) return undefined;
  return problemOf(RESULTS[method] ?? "", message.result);
}

function problemOf(name: string, value: unknown): string | undefined {
  const check = ajv.getSchema(`acp#/$defs/${name}`);
  if (!check) return `there is no schema ${name}`;
  return check(value) ? undefined : `${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value)}`;
}
