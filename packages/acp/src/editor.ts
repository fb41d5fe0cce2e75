import type { EditorFiles, QuestionField, UserAnswer, UserQuestion } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import {
  type AgentContext,
  type ClientCapabilities,
  type ElicitationPropertySchema,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

// An editor that does not answer must not block a tool: after this time the tool uses the disk.
const FILE_LIMIT_MS = 10_000;

/** The editor of one session: its capabilities, and the requests to it. */
export class EditorClient {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  sessionId = "";
  #questions = 0;

  constructor(client: AgentContext, capabilities: ClientCapabilities) {
    this.client = client;
    this.capabilities = capabilities;
  }

  async update(update: SessionUpdate): Promise<void> {
    await this.client.notify(methods.client.session.update, { sessionId: this.sessionId, update });
  }

  /** Shows the user a notice that is not part of the model's answer. */
  async notice(severity: "info" | "warning", text: string): Promise<void> {
    await this.update(
      this.capabilities.session?.notices
        ? { sessionUpdate: "notice", severity, title: text || "(no text)" }
        : { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${text}\n` } },
    );
  }

  /** Resolves to the id of the chosen option, or to `undefined` if the user closed the question. */
  async askPermission(
    toolCall: RequestPermissionRequest["toolCall"],
    options: readonly PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { outcome } = await this.client.request(
      methods.client.session.requestPermission,
      { sessionId: this.sessionId, toolCall, options: [...options] },
      { cancellationSignal: signal },
    );
    if (outcome.outcome !== "selected") return undefined;
    // An id that is not among the options is not an answer.
    return options.find(({ optionId }) => optionId === outcome.optionId)?.optionId;
  }

  /**
   * Asks the user a question of a pack: as a form or a URL if the editor supports those; a plain yes or no, or one
   * choice, as a permission request, which every editor supports. A question that the editor cannot show is answered
   * "dismissed".
   */
  async ask(question: UserQuestion): Promise<UserAnswer> {
    const { source, message, fields, url, signal } = question;
    const { elicitation } = this.capabilities;
    const id = `question-${++this.#questions}`;
    const title = `${source}: ${message}`;
    if (url !== undefined && elicitation?.url) {
      return await this.#elicit({ mode: "url", url, elicitationId: id }, title, signal);
    }
    if (elicitation?.form && url === undefined) {
      return await this.#elicit({ mode: "form", requestedSchema: toForm(fields) }, title, signal);
    }
    const choice = fields.length === 1 && fields[0]?.type === "choice" ? fields[0] : undefined;
    if (!choice && fields.some(({ required }) => required)) return { answer: "dismissed" };
    const text = url === undefined ? title : `${title}\n${url}`;
    const chosen = await this.askPermission(
      {
        toolCallId: id,
        title,
        kind: "other",
        content: [{ type: "content", content: { type: "text", text } }],
      },
      choice
        ? (choice.options ?? []).map(({ value, title: name }) => ({
            optionId: value,
            name: name ?? value,
            kind: value === "no" ? "reject_once" : "allow_once",
          }))
        : [
            { optionId: "yes", name: "Yes", kind: "allow_once" },
            { optionId: "no", name: "No", kind: "reject_once" },
          ],
      signal,
    );
    if (choice && chosen !== undefined) return { answer: "yes", values: { [choice.name]: chosen } };
    if (chosen === "yes") return { answer: "yes", values: {} };
    return { answer: chosen === "no" ? "no" : "dismissed" };
  }

  /** Access to the editor's files: only the operations that the editor offers. */
  files(): EditorFiles | undefined {
    const { readTextFile, writeTextFile } = this.capabilities.fs ?? {};
    if (!readTextFile && !writeTextFile) return undefined;
    const { fs } = methods.client;
    return {
      ...(readTextFile && {
        readText: async (path, signal) => {
          const params = { sessionId: this.sessionId, path };
          return (await this.client.request(fs.readTextFile, params, within(signal))).content;
        },
      }),
      ...(writeTextFile && {
        writeText: async (path, content, signal) => {
          const params = { sessionId: this.sessionId, path, content };
          await this.client.request(fs.writeTextFile, params, within(signal));
        },
      }),
    };
  }

  async #elicit(
    mode:
      | { readonly mode: "url"; readonly url: string; readonly elicitationId: string }
      | { readonly mode: "form"; readonly requestedSchema: ElicitationSchema },
    message: string,
    signal: AbortSignal,
  ): Promise<UserAnswer> {
    const params = { ...mode, message, sessionId: this.sessionId };
    const answer = await this.client.request(methods.client.elicitation.create, params, {
      cancellationSignal: signal,
    });
    return toAnswer(answer);
  }
}

/** Rejects after a timeout, or when the caller's signal aborts. */
function within(signal: AbortSignal | undefined): { cancellationSignal: AbortSignal } {
  const limit = AbortSignal.timeout(FILE_LIMIT_MS);
  return { cancellationSignal: signal ? AbortSignal.any([signal, limit]) : limit };
}

/** The fields of a question as a form of the protocol. */
function toForm(fields: readonly QuestionField[]): ElicitationSchema {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, toProperty(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Parses the user's answer. An unclear answer counts as none. */
function toAnswer(response: unknown): UserAnswer {
  const { action, content } = isRecord(response) ? response : {};
  if (action === "accept") return { answer: "yes", values: isRecord(content) ? content : {} };
  return { answer: action === "decline" ? "no" : "dismissed" };
}

function toProperty(field: QuestionField): ElicitationPropertySchema {
  const { type, title, description, options = [], default: preset } = field;
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const choices = options.map(({ value, title: name }) => ({ const: value, title: name ?? value }));
  switch (type) {
    case "text":
      return { type: "string", ...about, ...(typeof preset === "string" && { default: preset }) };
    case "number":
    case "integer":
      return { type, ...about, ...(typeof preset === "number" && { default: preset }) };
    case "boolean":
      return { type, ...about, ...(typeof preset === "boolean" && { default: preset }) };
    case "choice":
      return {
        type: "string",
        ...about,
        oneOf: choices,
        ...(typeof preset === "string" && { default: preset }),
      };
    case "choices":
      return {
        type: "array",
        ...about,
        items: { anyOf: choices },
        ...(Array.isArray(preset) && { default: preset.filter((one) => typeof one === "string") }),
      };
  }
}
