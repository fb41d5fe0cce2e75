import {
  type AgentEvent,
  type ApprovalDecision,
  type ApprovalRequest,
  type Content,
  contentText,
  isAgentError,
} from "@agent/core";
import { withTimeout } from "@agent/internal";
import type { ContentBlock, PromptResponse, SessionConfigOption } from "@agentclientprotocol/sdk";
import { expandCommand, sessionCommands } from "./commands.js";
import { ConfigOptions } from "./configOptions.js";
import type { Editor } from "./editor.js";
import type { HostSession, PermissionChoice } from "./host.js";
import { BuiltInModes } from "./modes.js";
import { BuiltInPermissions, choosePermission } from "./permission.js";
import { toContent } from "./prompt.js";
import { replayEvents } from "./replay.js";
import { invalidParams, invalidRequest } from "./requestErrors.js";
import { unlessAborted } from "./unlessAborted.js";
import { chunk, UpdateWriter } from "./updates.js";

/** How long a cancelled message waits for its tools before the editor gets its response. Tools may end after it. */
const CANCEL_WAIT_MS = 20;
const STILL_ENDING = "Cancelled. The call had not ended yet when the answer was stopped.";
const MAX_TITLE_LENGTH = 80;

/** One session of an editor: an agent, its mode, and the message it works on. */
export class AcpSession {
  readonly #editor: Editor;
  readonly #cwd: string;
  readonly #modes = new BuiltInModes();
  readonly #permissions = new BuiltInPermissions(this.#modes);
  readonly #ended = new AbortController();
  #host: HostSession | undefined;
  #writer: UpdateWriter | undefined;
  #config: ConfigOptions | undefined;
  #running: AbortController | undefined;
  /** Settles when the tools of a cancelled message have ended; resolves to their events since the response. */
  #settling: Promise<readonly AgentEvent[]> = Promise.resolve([]);
  #hasTitle = false;
  /** The choices that were stored last. */
  #choices = "";
  #problems: readonly string[] = [];

  constructor(editor: Editor, cwd: string) {
    this.#editor = editor;
    this.#cwd = cwd;
  }

  /**
   * Gives the session its agent, and the problems found before. The session exists first, because making an agent may ask
   * the user questions.
   */
  async attach(host: HostSession, problems: readonly string[]): Promise<void> {
    this.#host = host;
    this.#editor.sessionId = host.id;
    const config = new ConfigOptions(host, host.modes ?? this.#modes);
    this.#config = config;
    const lost = host.choices ? await config.restore(host.choices) : [];
    this.#choices = JSON.stringify(config.choices);
    // A copy of a session starts without choices of its own.
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
    writer.notePreview(request.id, request.preview);
    const call = { callId: writer.idOf(request.id), cwd: this.#cwd };
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
    for (const event of replayEvents(host.agent)) {
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
    const [late] = (await unlessAborted(isReady, signal)) ?? [];
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
   * Waits for the tools. After a cancel the editor gets its response immediately: calls that take longer to end are reported
   * as failed before it. How they really ended is sent with the next message, since no update may follow a response.
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

  /** Stores what the user chose, if it has changed. Resolves to whether it has. */
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
