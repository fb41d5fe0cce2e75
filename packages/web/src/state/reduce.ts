import type { ChatEvent } from "../events.js";
import { reduceBlocks, setCallState, withoutUnfinished } from "./blocks.js";
import { answerId, type Block, type ChatState, type ViewMessage } from "./chatState.js";

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
