import type { AgentEvent, ChildEvent, ToolDraftEvent, ToolEndEvent, ToolRequestedEvent } from "@agent/core";
import type { ChatEvent } from "../events.js";
import {
  answerId,
  type Block,
  type CallBlock,
  type CallState,
  type ChatState,
  type ChildBlocks,
  type ViewMessage,
} from "./chatState.js";
import { head, tail } from "./shorten.js";

type AssistantView = Extract<ViewMessage, { role: "assistant" }>;

/** The state after `event`. Pure: a page and a server that reduce the same events show the same. */
export function reduceChat(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case "snapshot":
      return event.state;
    case "sent":
      return {
        ...withoutError(state),
        status: "working",
        messages: withMessage(until(state.messages, event.replaces), event),
      };
    case "resumed":
      return { ...withoutError(state), status: "working" };
    case "steered":
      return { ...state, messages: withMessage(state.messages, event) };
    case "approval": {
      const { request } = event;
      const approvals = [...state.approvals, request];
      return changeBlocks({ ...state, approvals }, event, (blocks) =>
        setCallState(blocks, request.callId, "waiting"),
      );
    }
    case "decided":
      return { ...state, approvals: state.approvals.filter(({ id }) => id !== event.id) };
    case "question":
      return { ...state, questions: [...state.questions, event.question] };
    case "answered":
      return { ...state, questions: state.questions.filter(({ id }) => id !== event.id) };
    case "retry": {
      const { attempt, delayMs, reason } = event;
      return changeBlocks({ ...state, retry: { attempt, delayMs, reason } }, event, withoutUnfinished);
    }
    case "stopping":
      return { ...state, status: "stopping" };
    case "stopped":
      return markStopped(finish(state), event);
    case "failed":
      return { ...changeBlocks(finish(state), event, withoutUnfinished), error: event.message };
    case "done":
      return { ...finish(withFinalText(state, event, event.text)), usage: event.usage };
    case "usage": {
      if (event.summary) return state;
      const tokens = event.usage.inputTokens + event.usage.outputTokens;
      const { contextTokens: limit } = event;
      return { ...state, context: { tokens, ...(limit !== undefined && { limit }) } };
    }
    case "context":
      return state;
    default:
      return changeBlocks(withoutRetry(state), event, (blocks) => reduceBlocks(blocks, event));
  }
}

function finish({ retry: _retry, ...state }: ChatState): ChatState {
  return { ...state, status: "idle", approvals: [] };
}

function withoutError({ error: _error, ...state }: ChatState): ChatState {
  return state;
}

function withoutRetry(state: ChatState): ChatState {
  if (!state.retry) return state;
  const { retry: _retry, ...rest } = state;
  return rest;
}

/** The messages before the one with this id; all of them without an id, or if it is gone. */
function until(messages: readonly ViewMessage[], id: string | undefined): readonly ViewMessage[] {
  const end = id === undefined ? -1 : messages.findIndex((message) => message.id === id);
  return end === -1 ? messages : messages.slice(0, end);
}

type UserEvent = Extract<ChatEvent, { type: "sent" | "steered" }>;

function withMessage(messages: readonly ViewMessage[], { id, content, at }: UserEvent): ViewMessage[] {
  return [...messages, { role: "user", id, content, ...(at !== undefined && { at }) }];
}

function emptyAnswer({ messages }: ChatState, { at }: ChatEvent): AssistantView {
  return { role: "assistant", id: answerId(messages), blocks: [], ...(at !== undefined && { at }) };
}

/** Changes the current answer. Adds no empty answer if nothing changes. */
function changeBlocks(
  state: ChatState,
  event: ChatEvent,
  change: (blocks: readonly Block[]) => readonly Block[],
): ChatState {
  const last = state.messages.at(-1);
  const isAnswer = last?.role === "assistant";
  const before = isAnswer ? last.blocks : [];
  const blocks = change(before);
  if (blocks === before) return state;
  const answer: AssistantView = { ...(isAnswer ? last : emptyAnswer(state, event)), blocks };
  return { ...state, messages: [...(isAnswer ? state.messages.slice(0, -1) : state.messages), answer] };
}

/** Adds the final text if it is missing: a provider that does not stream sends its text only at the end. */
function withFinalText(state: ChatState, event: ChatEvent, text: string): ChatState {
  if (text === "") return state;
  return changeBlocks(state, event, (blocks) => {
    const last = blocks.at(-1);
    return last?.type === "text" ? blocks : [...blocks, { type: "text", text }];
  });
}

function markStopped(state: ChatState, event: ChatEvent): ChatState {
  const last = state.messages.at(-1);
  if (last?.role === "assistant") {
    return { ...state, messages: [...state.messages.slice(0, -1), { ...last, stopped: true }] };
  }
  return { ...state, messages: [...state.messages, { ...emptyAnswer(state, event), stopped: true }] };
}

/** The blocks of an answer after `event`. Returns the same array if nothing changes. */
function reduceBlocks(blocks: readonly Block[], event: AgentEvent): readonly Block[] {
  switch (event.type) {
    case "text":
      return appendText(blocks, "text", event.whole ?? event.text);
    case "reasoning":
      return appendText(blocks, "reasoning", event.text);
    case "tool_draft":
      return writeDraft(blocks, event);
    case "tool_requested":
      return request(blocks, event);
    case "notice":
      return [...blocks, { type: "notice", text: event.text }];
    case "tool_start":
      return changeCall(blocks, event.id, (call) => ({
        ...call,
        state: "running",
        args: event.args,
        ...(event.about && { title: event.about.title, kind: event.about.kind }),
      }));
    case "tool_progress": {
      const { done, total, message } = event;
      const progress = {
        ...(done !== undefined && { done }),
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message: head(message) }),
      };
      return changeCall(blocks, event.id, (call) => ({ ...call, progress }));
    }
    case "tool_output":
      return changeCall(blocks, event.id, (call) => ({ ...call, output: tail(call.output + event.chunk) }));
    case "tool_end":
      return changeCall(blocks, event.id, (call) => endCall(call, event));
    case "child":
      return changeCall(blocks, event.id, (call) => ({
        ...call,
        children: reduceChild(call.children, event),
      }));
    case "retry":
      return withoutUnfinished(blocks);
    case "tool_process":
    case "steered":
    case "usage":
    case "context":
    case "done":
      return blocks;
    default:
      // A server with a newer version may send events that this page does not know.
      event satisfies never;
      return blocks;
  }
}

function setCallState(blocks: readonly Block[], id: string, state: CallState): readonly Block[] {
  return changeCall(blocks, id, (call) => ({ ...call, state }));
}

/** Removes the text of an answer that the model restarts: everything after the last requested call. */
function withoutUnfinished(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.findLastIndex((block) => block.type === "call" && block.state !== "writing");
  return last === blocks.length - 1 ? blocks : blocks.slice(0, last + 1);
}

function appendText(blocks: readonly Block[], type: "text" | "reasoning", text: string): readonly Block[] {
  const last = blocks.at(-1);
  if (text === "") return blocks;
  if (last?.type === type) return [...blocks.slice(0, -1), { type, text: last.text + text }];
  return [...blocks, { type, text }];
}

function writeDraft(blocks: readonly Block[], { index, name, delta }: ToolDraftEvent): readonly Block[] {
  const id = draftId(index);
  const written = blocks.findLast(
    (block) => block.type === "call" && block.state === "writing" && block.id === id,
  );
  if (!written) {
    return [...blocks, { type: "call", id, name, args: {}, state: "writing", draft: delta, output: "" }];
  }
  return changeCall(blocks, id, (call) => ({ ...call, draft: head((call.draft ?? "") + delta) }));
}

/** Turns a draft into a call. Calls are requested in the order they were written, so the first draft is the one. */
function request(
  blocks: readonly Block[],
  { id, name, args, title, kind, parent }: ToolRequestedEvent,
): readonly Block[] {
  const call: CallBlock = {
    type: "call",
    id,
    name,
    args,
    ...(title !== undefined && { title }),
    ...(kind && { kind }),
    ...(parent !== undefined && { parent }),
    state: "requested",
    output: "",
  };
  const draft = blocks.findIndex((block) => block.type === "call" && block.state === "writing");
  return draft === -1 ? [...blocks, call] : blocks.with(draft, call);
}

function endCall(call: CallBlock, event: ToolEndEvent): CallBlock {
  const { outcome, text, parts, summary, durationMs, view, about } = event;
  const { progress: _, ...rest } = call;
  return {
    ...rest,
    state: outcome,
    text: head(text),
    durationMs,
    ...(parts && { parts }),
    ...(summary !== undefined && { summary }),
    ...(about && { title: about.title, kind: about.kind }),
    ...(view && { view }),
  };
}

function reduceChild(children: readonly ChildBlocks[] = [], event: ChildEvent): readonly ChildBlocks[] {
  const all = [...children];
  while (all.length <= event.child) all.push({ blocks: [] });
  return all.map((child, index) => {
    if (index !== event.child) return child;
    const { label = child.label, elapsedMs = child.elapsedMs } = event;
    const inner = event.event;
    const { tokens = child.tokens } =
      inner.type === "usage" ? { tokens: inner.total.inputTokens + inner.total.outputTokens } : {};
    return {
      blocks: reduceBlocks(child.blocks, inner),
      ...(label !== undefined && { label }),
      ...(tokens !== undefined && { tokens }),
      ...(elapsedMs !== undefined && { elapsedMs }),
      ...((child.isDone || inner.type === "done") && { isDone: true as const }),
    };
  });
}

/** Changes the newest call with this id: a server may reuse an id in a later answer. */
function changeCall(
  blocks: readonly Block[],
  id: string,
  change: (call: CallBlock) => CallBlock,
): readonly Block[] {
  const index = blocks.findLastIndex((block) => block.type === "call" && block.id === id);
  const call = blocks[index];
  return call?.type === "call" ? blocks.with(index, change(call)) : blocks;
}

function draftId(index: number): string {
  return `draft-${index}`;
}
