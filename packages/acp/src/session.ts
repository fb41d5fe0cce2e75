import {
  type Agent,
  type AgentEvent,
  type ApprovalDecision,
  type ApprovalRequest,
  type Content,
  isAgentError,
} from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PermissionOption,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionConfigOption,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { HostSession } from "./host.js";
import { DEFAULT_MODE, decideByMode, findMode, type ModeId } from "./modes.js";
import { toContent } from "./prompt.js";
import { replayUpdates } from "./replay.js";
import { describeCall, textContent } from "./toolCalls.js";
import { chunk, UpdateWriter } from "./updates.js";

/** How long a cancelled message waits for its tools before the editor gets its answer. They go on ending after it. */
const CANCEL_WAIT_MS = 30;
const MODEL_OPTION = "model";

const OPTIONS: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow this tool", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/** One session of an editor: an agent, its mode, and the message it works on. */
export class AcpSession {
  mode: ModeId = DEFAULT_MODE;
  readonly #client: AgentContext;
  readonly #cwd: string;
  readonly #always = new Set<string>();
  #host: HostSession | undefined;
  #writer: UpdateWriter | undefined;
  #running: AbortController | undefined;

  constructor(client: AgentContext, cwd: string) {
    this.#client = client;
    this.#cwd = cwd;
  }

  /** Gives the session its agent, which could not be made before somebody could be asked. */
  attach(host: HostSession): void {
    this.#host = host;
    const { registry } = host.agent;
    this.#writer = new UpdateWriter(this.#cwd, (name) => registry.getCapabilities(name), host.contextTokens);
  }

  get id(): string {
    return this.#parts().host.id;
  }

  /** Answers a message. Rejects with words for a person if the model or its server fails. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#running)
      throw RequestError.invalidRequest(undefined, "this session is answering another message");
    const running = new AbortController();
    this.#running = running;
    try {
      const content = await this.#expandCommand(toContent(blocks), AbortSignal.any([signal, running.signal]));
      if (content === undefined) return { stopReason: "end_turn" };
      return await this.#chat(content, AbortSignal.any([signal, running.signal]));
    } finally {
      this.#running = undefined;
    }
  }

  cancel(): void {
    this.#running?.abort();
  }

  /** Asked by the agent about every call. */
  async approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    const verdict = decideByMode(this.mode, request);
    if (verdict === "refuse") return { deny: "the session is read-only." };
    if (verdict === "allow") return "allow";
    // Kept here rather than by the agent: a later change to read-only must hold for these tools too.
    if (this.#always.has(request.name) && request.needs.length === 0) return "allow";
    const { id, name, args, capabilities, needs } = request;
    const { host, writer } = this.#parts();
    const view = describeCall(name, args, capabilities, this.#cwd);
    const reasons = needs.map(({ kind, path, reason }) => `${kind} ${path}: ${reason}`);
    const question: RequestPermissionRequest = {
      sessionId: host.id,
      toolCall: {
        toolCallId: writer.idOf(id),
        ...view,
        content: [...view.content, ...reasons.map(textContent)],
        status: "pending",
        rawInput: args,
      },
      options: OPTIONS.filter(({ optionId }) => optionId !== "always" || needs.length === 0),
    };
    const { outcome } = await this.#client.request(methods.client.session.requestPermission, question, {
      cancellationSignal: request.signal,
    });
    if (outcome.outcome !== "selected") return { deny: "the person cancelled the question." };
    if (outcome.optionId === "always") this.#always.add(name);
    return outcome.optionId === "allow" || outcome.optionId === "always"
      ? "allow"
      : { deny: "the person rejected it." };
  }

  setMode(id: string): void {
    const mode = findMode(id);
    if (mode === undefined) throw RequestError.invalidParams(undefined, `there is no mode "${id}"`);
    this.mode = mode;
  }

  configOptions(): SessionConfigOption[] {
    const { model } = this.#parts().host;
    if (model === undefined) return [];
    const values = [...new Set([model.current, ...model.available])];
    return [
      {
        type: "select",
        id: MODEL_OPTION,
        name: "Model",
        category: "model",
        currentValue: model.current,
        options: values.map((value) => ({ value, name: value })),
      },
    ];
  }

  async setConfigOption(id: string, value: unknown): Promise<SessionConfigOption[]> {
    const { model } = this.#parts().host;
    const isKnown =
      typeof value === "string" && (model?.current === value || model?.available.includes(value));
    if (id !== MODEL_OPTION || !model || !isKnown) {
      throw RequestError.invalidParams(undefined, `there is no option "${id}" with this value`);
    }
    await model.choose(value);
    return this.configOptions();
  }

  /** Sends what the editor needs once a session is there: commands, and problems of the start. */
  async announce(): Promise<void> {
    const { host } = this.#parts();
    const { commands } = host.agent.registry.services;
    await this.#send({
      sessionUpdate: "available_commands_update",
      availableCommands: commands.map(({ name, description }) => ({
        name,
        description,
        input: { hint: "arguments" },
      })),
    });
    for (const problem of host.problems ?? []) await this.#send(chunk("agent_thought_chunk", `${problem}\n`));
  }

  /** Sends the conversation so far. */
  async replay(): Promise<void> {
    const { host, writer } = this.#parts();
    for (const update of replayUpdates(host.agent, writer)) await this.#send(update);
  }

  async dispose(): Promise<void> {
    this.cancel();
    await this.#host?.dispose();
  }

  async #chat(content: Content, signal: AbortSignal): Promise<PromptResponse> {
    const { agent } = this.#parts().host;
    let stopReason: PromptResponse["stopReason"] = "end_turn";
    try {
      for await (const event of agent.streamChat(content, { signal })) {
        await this.#show(event);
        if (event.type === "done") stopReason = stopReasonOf(event.finishReason);
      }
      return { stopReason };
    } catch (error) {
      if (signal.aborted) return await this.#cancelled(agent);
      if (isAgentError(error, "turn_limit")) return { stopReason: "max_turn_requests" };
      throw RequestError.internalError(undefined, errorMessage(error));
    }
  }

  /** The editor gets its answer at once; how the stopped tools ended follows as soon as they have. */
  async #cancelled(agent: Agent): Promise<PromptResponse> {
    const settled = agent.settled().then(async (events) => {
      for (const event of events) await this.#show(event);
    });
    settled.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CANCEL_WAIT_MS);
    });
    await Promise.race([settled, late]).catch(() => undefined);
    clearTimeout(timer);
    return { stopReason: "cancelled" };
  }

  /** A message that begins with a command of a pack runs it. Undefined if there is nothing to send to the model. */
  async #expandCommand(content: Content, signal: AbortSignal): Promise<Content | undefined> {
    const [, name = "", input = ""] =
      typeof content === "string" ? (/^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(content.trim()) ?? []) : [];
    const { commands } = this.#parts().host.agent.registry.services;
    const command = commands.find((one) => one.name === name);
    if (command === undefined) return content;
    try {
      const result = await command.run(input, signal);
      if ("send" in result) return result.send;
      await this.#send(chunk("agent_message_chunk", result.show));
      return undefined;
    } catch (error) {
      throw RequestError.internalError(undefined, `/${name}: ${errorMessage(error)}`);
    }
  }

  async #show(event: AgentEvent): Promise<void> {
    for (const update of this.#parts().writer.updatesFor(event)) await this.#send(update);
  }

  async #send(update: SessionUpdate): Promise<void> {
    await this.#client.notify(methods.client.session.update, { sessionId: this.id, update });
  }

  #parts(): { readonly host: HostSession; readonly writer: UpdateWriter } {
    if (!this.#host || !this.#writer)
      throw RequestError.internalError(undefined, "the session has no agent yet");
    return { host: this.#host, writer: this.#writer };
  }
}

function stopReasonOf(finishReason: string): PromptResponse["stopReason"] {
  if (finishReason === "length") return "max_tokens";
  return finishReason === "content_filter" ? "refusal" : "end_turn";
}
