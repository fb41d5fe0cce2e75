import {
  type AgentEvent,
  type ApprovalDecision,
  type ApprovalRequest,
  type ChatMessage,
  type Content,
  type ContentPart,
  type Conversation,
  contentText,
  isAgentError,
  type PackCommand,
  type ToolRegistry,
} from "@agent/core";
import { GrantedRules, offerRules } from "@agent/core/host";
import { errorMessage, isRecord, orAborted } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import type { ContentBlock, PromptResponse, SessionConfigOption } from "@agentclientprotocol/sdk";
import { ConfigOptions } from "./configOptions.js";
import type { EditorClient } from "./editor.js";
import type { HostSession, ModeChoice, PermissionChoice, SessionCommand, SessionMode } from "./host.js";
import { invalidParams, invalidRequest } from "./requestErrors.js";
import { shownLine, textContent, viewCall } from "./toolCalls.js";
import { chunk, UpdateWriter } from "./updates.js";

/** How long a cancelled message waits for its tools before the editor gets its response. Tools may end after it. */
const CANCEL_WAIT_MS = 20;
const STILL_ENDING = "Cancelled. The call had not ended yet when the answer was stopped.";
const MAX_TITLE_LENGTH = 80;

/** One session of an editor: an agent, its mode, and the message it works on. */
export class AcpSession {
  readonly #editor: EditorClient;
  readonly #cwd: string;
  readonly #modes = new BuiltInModes();
  readonly #permissions = new BuiltInPermissions(this.#modes);
  readonly #ended = new AbortController();
  #host: HostSession | undefined;
  #writer: UpdateWriter | undefined;
  #config: ConfigOptions | undefined;
  #running: AbortController | undefined;
  /** Settles when the tools of a cancelled message have finished; resolves to their events since the response. */
  #settling: Promise<readonly AgentEvent[]> = Promise.resolve([]);
  #hasTitle = false;
  /** The choices that were stored last. */
  #choices = "";
  #problems: readonly string[] = [];

  constructor(editor: EditorClient, cwd: string) {
    this.#editor = editor;
    this.#cwd = cwd;
  }

  /**
   * Assigns the session its agent, and the problems found before. The session exists first, because creating an agent
   * may ask the user questions.
   */
  async attach(host: HostSession, problems: readonly string[]): Promise<void> {
    this.#host = host;
    this.#editor.sessionId = host.id;
    const config = new ConfigOptions(host, host.modes ?? this.#modes);
    this.#config = config;
    const lost = host.choices ? await config.restore(host.choices) : [];
    this.#choices = JSON.stringify(config.choices);
    // A copy of a session starts without its own choices.
    if (host.choices) await host.saveChoices?.(config.choices);
    this.#problems = [...problems, ...(host.problems ?? []), ...lost];
    this.#writer = this.#createWriter(host);
    this.#hasTitle = host.agent.conversation.sessionContext.length > 0;
  }

  get id(): string {
    return this.#parts().host.id;
  }

  /** Answers a message. Rejects with a readable error if the model or its server fails. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#running) throw invalidRequest("this session is answering another message");
    if (toContent(blocks).length === 0) throw invalidParams("the message is empty");
    const running = new AbortController();
    this.#running = running;
    try {
      return await this.#answer(blocks, AbortSignal.any([signal, running.signal]));
    } finally {
      this.#running = undefined;
    }
  }

  cancel(): void {
    this.#running?.abort();
  }

  /** Decides about a call, for an agent without approval rules. */
  async approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    return await this.#permissions.decide(request, (choices) => this.choose(request, choices), {
      registry: this.#parts().host.agent.registry,
      cwd: this.#cwd,
    });
  }

  async choose(request: ApprovalRequest, choices: readonly PermissionChoice[]): Promise<string | undefined> {
    const { writer } = this.#parts();
    const call = { callId: writer.noteQuestion(request), cwd: this.#cwd };
    return await choosePermission(this.#editor, request, choices, call);
  }

  /** The modes, models and options of the session, for the response to the request that opened it. */
  state() {
    const { config } = this.#parts();
    return { modes: config.modeState, configOptions: config.list() };
  }

  async setMode(id: string): Promise<void> {
    const { config } = this.#parts();
    config.setMode(id);
    await this.#saveChoices();
    await this.#editor.update({ sessionUpdate: "config_option_update", configOptions: config.list() });
  }

  async setConfigOption(id: string, value: unknown): Promise<SessionConfigOption[]> {
    const { config } = this.#parts();
    if ((await config.set(id, value)) === "mode") {
      const { currentModeId } = config.modeState;
      await this.#editor.update({ sessionUpdate: "current_mode_update", currentModeId });
    }
    await this.#saveChoices();
    return config.list();
  }

  /** Sends the updates that follow the opening of a session: commands, problems of the start, models. */
  async announce(): Promise<void> {
    const { host, config } = this.#parts();
    await this.#announceCommands();
    for (const problem of this.#problems) await this.#editor.notice("info", problem);
    void this.#announceLater(host, config).catch(() => undefined);
  }

  /** Sends the conversation so far. */
  async replay(): Promise<void> {
    const { host } = this.#parts();
    const writer = this.#createWriter(host);
    const { conversation, registry } = host.agent;
    // The recording contains messages that compaction replaced; without it the editor shows what the model sees.
    const whole = await conversation.whole().catch(() => conversation);
    for (const event of replayEvents(whole, registry)) {
      if (event.type === "user") await this.#editor.update(chunk("user_message_chunk", event.text));
      else for await (const update of writer.updatesFor(event)) await this.#editor.update(update);
    }
  }

  async dispose(): Promise<void> {
    this.#ended.abort();
    this.cancel();
    await this.#host?.dispose();
  }

  async #answer(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const { host } = this.#parts();
    const isReady = Promise.all([this.#settling, host.ready?.catch(() => undefined)]);
    const [late] = await orAborted(isReady, signal).catch((error: unknown) => {
      if (signal.aborted) return [];
      throw error;
    });
    if (late === undefined) return { stopReason: "cancelled" };
    this.#settling = Promise.resolve([]);
    for (const event of late) await this.#show(event);
    const written = toContent(blocks);
    const expanded = await expandCommand(sessionCommands(host), written, signal);
    if ("show" in expanded) {
      await this.#editor.update(chunk("agent_message_chunk", expanded.show));
      await this.#announceChoices();
      return { stopReason: "end_turn" };
    }
    await this.#announceTitle(written);
    const content = (await host.beforeMessage?.(expanded.send)) ?? expanded.send;
    return await this.#chat(content, signal);
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
      if (signal.aborted) return { stopReason: "cancelled" };
      if (isAgentError(error, "turn_limit")) return { stopReason: "max_turn_requests" };
      throw error;
    } finally {
      await this.#settle(signal.aborted);
    }
  }

  /**
   * Waits for the tools. After a cancellation the editor gets its response immediately: calls that take longer are
   * reported as failed before it. Their real outcome is sent with the next message, since no update may follow a
   * response.
   */
  async #settle(isCancelled: boolean): Promise<void> {
    const { host, writer } = this.#parts();
    const settled = host.agent.settled();
    const over = settled.then(() => host.afterMessage?.()).catch(() => undefined);
    const inTime = isCancelled
      ? await withTimeout<readonly AgentEvent[] | undefined>(settled, CANCEL_WAIT_MS, () => undefined)
      : await settled;
    for (const event of inTime ?? []) await this.#show(event);
    if (!isCancelled) return await over;
    for (const update of writer.unfinished(STILL_ENDING)) await this.#editor.update(update);
    this.#settling = Promise.all([inTime ? [] : settled, over]).then(([late]) => late);
  }

  /** Stores the user's choices, if they have changed. Resolves to whether they have. */
  async #saveChoices(): Promise<boolean> {
    const { host, config } = this.#parts();
    const choices = JSON.stringify(config.choices);
    if (choices === this.#choices) return false;
    this.#choices = choices;
    await host.saveChoices?.(config.choices);
    return true;
  }

  /** A command may have changed the mode, the model or the effort. */
  async #announceChoices(): Promise<void> {
    const { config } = this.#parts();
    if (!(await this.#saveChoices())) return;
    const { currentModeId } = config.modeState;
    await this.#editor.update({ sessionUpdate: "current_mode_update", currentModeId });
    await this.#editor.update({ sessionUpdate: "config_option_update", configOptions: config.list() });
  }

  async #announceCommands(): Promise<void> {
    const commands = sessionCommands(this.#parts().host);
    await this.#editor.update({
      sessionUpdate: "available_commands_update",
      availableCommands: commands.map(({ name, description, hint = "arguments" }) => ({
        name,
        description,
        ...(hint !== "" && { input: { hint } }),
      })),
    });
  }

  async #announceLater(host: HostSession, config: ConfigOptions): Promise<void> {
    const before = sessionCommands(host).length;
    for (const problem of (await host.ready) ?? []) await this.#editor.notice("warning", problem);
    // A pack that became ready late may have added commands.
    if (sessionCommands(host).length !== before) await this.#announceCommands();
    if (await config.listModels(this.#ended.signal)) {
      await this.#editor.update({ sessionUpdate: "config_option_update", configOptions: config.list() });
    }
  }

  /** Names the session after its first message. */
  async #announceTitle(content: Content): Promise<void> {
    if (this.#hasTitle) return;
    this.#hasTitle = true;
    const title = contentText(content).trim().replace(/\s+/g, " ").slice(0, MAX_TITLE_LENGTH).toWellFormed();
    const updatedAt = new Date().toISOString();
    if (title !== "") await this.#editor.update({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  async #show(event: AgentEvent): Promise<void> {
    this.#parts().host.onEvent?.(event);
    if (event.type === "notice") return await this.#editor.notice("info", event.text);
    if (event.type === "retry") {
      return await this.#editor.notice("warning", `The request to the model is repeated: ${event.reason}`);
    }
    for await (const update of this.#parts().writer.updatesFor(event)) await this.#editor.update(update);
  }

  #createWriter(host: HostSession): UpdateWriter {
    const { jobs } = host.agent.registry.services;
    return new UpdateWriter({
      editor: this.#editor,
      cwd: this.#cwd,
      // Another model may be chosen meanwhile.
      contextTokens: () => host.contextTokens,
      endProcess: (pid) => void jobs.endProcess?.(pid)?.catch(() => undefined),
    });
  }

  #parts() {
    const [host, config, writer] = [this.#host, this.#config, this.#writer];
    if (!host || !config || !writer) throw new Error("the session has no agent yet");
    return { host, config, writer };
  }
}

function stopReasonOf(finishReason: string): PromptResponse["stopReason"] {
  if (finishReason === "length") return "max_tokens";
  return finishReason === "content_filter" ? "refusal" : "end_turn";
}

/** The commands of a session: the host's own come first and take precedence. */
function sessionCommands({ commands = [], agent }: HostSession): SessionCommand[] {
  const own = new Set(commands.map(({ name }) => name));
  return [...commands, ...agent.registry.services.commands.filter(({ name }) => !own.has(name))];
}

/** Runs the command that a message begins with. Its result is sent to the model, or only shown to the user. */
async function expandCommand(
  commands: readonly PackCommand[],
  content: Content,
  signal: AbortSignal,
): Promise<{ readonly send: Content } | { readonly show: string }> {
  const [, name = "", input = ""] =
    typeof content === "string" ? (/^\/(\S+)(?:\s+([\s\S]*))?$/.exec(content.trim()) ?? []) : [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return { send: content };
  try {
    return await command.run(input, signal);
  } catch (error) {
    throw new Error(`/${name}: ${errorMessage(error)}`, { cause: error });
  }
}

const ALLOW: PermissionChoice = { id: "allow", name: "Allow", kind: "allow_once" };
const REJECT: PermissionChoice = { id: "reject", name: "Reject", kind: "reject_once" };

/** Shows a call in the editor, with the whole command or diff, and lets the user choose. */
async function choosePermission(
  editor: EditorClient,
  request: ApprovalRequest,
  choices: readonly PermissionChoice[],
  { callId, cwd }: { readonly callId: string; readonly cwd: string },
): Promise<string | undefined> {
  const { name, args, preview, signal, label, directory } = request;
  const { title, kind, needs, caution, targets = [] } = request.description;
  const files = targets.filter((target) => target.type === "file");
  const view = viewCall({ name, args, preview, about: { title, kind, files } }, cwd);
  const reasons = needs.map(({ kind, path, reason }) =>
    textContent(`It ${kind}s ${shownLine(path)}: ${shownLine(reason)}.`),
  );
  if (directory !== undefined) reasons.unshift(textContent(`It works in ${shownLine(directory)}.`));
  if (label !== undefined) reasons.unshift(textContent(`Asked by the sub-agent ${shownLine(label)}.`));
  if (caution !== undefined) reasons.push(textContent(`${shownLine(caution)}.`));
  return await editor.askPermission(
    {
      toolCallId: callId,
      ...view,
      content: [...view.content, ...reasons],
      status: "pending",
      rawInput: args,
    },
    choices.map(({ id, ...choice }) => ({ optionId: id, ...choice })),
    signal,
  );
}

/** Decides about calls of an agent without approval rules: by the mode, then by asking the user. */
class BuiltInPermissions {
  readonly #modes: BuiltInModes;
  #granted: GrantedRules | undefined;

  constructor(modes: BuiltInModes) {
    this.#modes = modes;
  }

  async decide(
    request: ApprovalRequest,
    choose: (choices: readonly PermissionChoice[]) => Promise<string | undefined>,
    { registry, cwd }: { readonly registry: ToolRegistry; readonly cwd: string },
  ): Promise<ApprovalDecision> {
    const verdict = this.#modes.decide(request);
    if (verdict === "refuse") return { deny: "the session is read-only." };
    if (verdict === "allow") return "allow";
    // "Always" is stored here and not by the agent: after a change to read-only these calls must be refused too.
    this.#granted ??= new GrantedRules(registry, cwd);
    if ((await this.#granted.decide(request)).type === "allow") return "allow";
    const offers = (await offerRules(request, { tools: registry, root: cwd })).slice(1);
    const always = offers.map(({ rule, label }, index): PermissionChoice & { rule: string } => ({
      id: index === offers.length - 1 ? "always" : `always-${index}`,
      name: shownLine(index === offers.length - 1 ? "Always allow this tool" : `Always allow ${label}`),
      kind: "allow_always",
      rule,
    }));
    const chosen = await choose([ALLOW, ...always.map(({ rule: _, ...choice }) => choice), REJECT]);
    const rule = always.find(({ id }) => id === chosen)?.rule;
    if (rule !== undefined) this.#granted.allow(rule);
    if (chosen === ALLOW.id || rule !== undefined) return "allow";
    return { deny: chosen === undefined ? "the user closed the question." : "the user rejected it." };
  }
}

/** Converts an editor's message to the agent's content parts. */
export function toContent(blocks: readonly ContentBlock[]): Content {
  const parts = blocks.map(toPart);
  if (parts.every((part) => part.type === "text")) return parts.map(({ text }) => text).join("\n\n");
  return parts;
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", mediaType: block.mimeType, data: block.data };
    case "audio":
      return { type: "file", mediaType: block.mimeType, data: block.data };
    case "resource_link":
      return { type: "text", text: `[${block.name}: ${toPath(block.uri)}]` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: `[${toPath(resource.uri)}]\n${resource.text}` };
      const mediaType = resource.mimeType ?? "application/octet-stream";
      const type = mediaType.startsWith("image/") ? "image" : "file";
      return { type, mediaType, data: resource.blob, name: toPath(resource.uri) };
    }
  }
}

/** Converts a `file:` URL to a path, which tools understand. An invalid URL is unchanged. */
function toPath(uri: string): string {
  if (!uri.startsWith("file://") || !URL.canParse(uri)) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}

/**
 * The events of a stored conversation in order: the user's messages, and the events of the answers. Titles, outcomes
 * and views are those stored with the results, so that the packs of the calls need not be installed any more.
 */
function* replayEvents(
  conversation: Conversation,
  registry: ToolRegistry,
): Generator<AgentEvent | { type: "user"; text: string }> {
  const names = new Map<string, string>();
  const messages = conversation.sessionContext;
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") yield { type: "user", text: contentText(message.content) };
    if (message.role === "assistant") {
      if (message.content) yield { type: "text", text: message.content };
      for (const { id, function: call } of message.tool_calls ?? []) {
        names.set(id, call.name);
        const { name } = call;
        const args = readArguments(call.arguments);
        const result = resultOf(messages, index, id);
        const about = (result && conversation.detailsOf(result)?.about) ?? registry.aboutCall(name, args);
        yield { type: "tool_requested", id, name, args, title: about.title, kind: about.kind };
      }
    }
    if (message.role === "tool") {
      const text = contentText(message.content);
      const details = conversation.detailsOf(message);
      yield {
        // A session that was stored without details.
        outcome: /^(Error executing|Tool not |Tool call denied)/.test(text) ? "error" : "ok",
        durationMs: 0,
        ...details,
        type: "tool_end",
        id: message.tool_call_id,
        name: names.get(message.tool_call_id) ?? "",
        text,
      };
    }
  }
}

/** The result of a call: ids are reused, so only the results right after the answer are considered. */
function resultOf(messages: readonly ChatMessage[], answer: number, id: string) {
  for (let at = answer + 1; ; at++) {
    const message = messages[at];
    if (message?.role !== "tool") return undefined;
    if (message.tool_call_id === id) return message;
  }
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(text);
    return isRecord(args) ? args : {};
  } catch {
    return {};
  }
}

type ModeId = "read-only" | "ask" | "auto";

/** The modes of a session whose host has no modes. */
const MODES: readonly (SessionMode & { readonly id: ModeId })[] = [
  { id: "read-only", name: "Read only", description: "Tools that could change something are refused" },
  { id: "ask", name: "Ask", description: "Asks before every call that could change something" },
  { id: "auto", name: "Auto", description: "Asks only for what goes beyond the project" },
];

/** Decides about calls by the mode alone, for an agent without approval rules. */
class BuiltInModes implements ModeChoice {
  readonly available = MODES;
  current: ModeId = "ask";

  choose(id: string): void {
    this.current = MODES.find((mode) => mode.id === id)?.id ?? this.current;
  }

  /** The decision of the mode about a call; `ask` means that the user decides. */
  decide({ capabilities, description: { needs, caution } }: ApprovalRequest): "allow" | "ask" | "refuse" {
    const reads = capabilities.length > 0 && capabilities.every((one) => one === "read");
    if (reads && needs.length === 0) return "allow";
    if (this.current === "read-only") return reads ? "ask" : "refuse";
    return this.current === "auto" && needs.length === 0 && caution === undefined ? "allow" : "ask";
  }
}
