import type { ChatEvent } from "../events.js";
import { reduceBlocks, setCallState, withoutUnfinished } from "./blocks.js";
import type { Block, ChatState, ViewMessage } from "./chatState.js";

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
        messages: [...state.messages, { role: "user", content: event.content }],
      };
    case "resumed":
      return { ...withoutError(state), status: "working" };
    case "steered":
      return { ...state, messages: [...state.messages, { role: "user", content: event.content }] };
    case "approval": {
      const { request } = event;
      const approvals = [...state.approvals, request];
      return changeBlocks({ ...state, approvals }, (blocks) =>
        setCallState(blocks, request.callId, "waiting"),
      );
    }
    case "decided":
      return { ...state, approvals: state.approvals.filter(({ id }) => id !== event.id) };
    case "retry": {
      const { attempt, delayMs, reason } = event;
      return changeBlocks({ ...state, retry: { attempt, delayMs, reason } }, withoutUnfinished);
    }
    case "stopping":
      return { ...state, status: "stopping" };
    case "stopped":
      return markStopped(finish(state));
    case "failed":
      return { ...changeBlocks(finish(state), withoutUnfinished), error: event.message };
    case "done":
      return { ...finish(withFinalText(state, event.text)), usage: event.usage };
    case "usage": {
      if (event.summary) return state;
      const tokens = event.usage.inputTokens + event.usage.outputTokens;
      const { contextTokens: limit } = event;
      return { ...state, context: { tokens, ...(limit !== undefined && { limit }) } };
    }
    case "context":
      return state;
    default:
      return changeBlocks(withoutRetry(state), (blocks) => reduceBlocks(blocks, event));
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

/** Changes the current answer. Adds no empty answer if nothing changes. */
function changeBlocks(state: ChatState, change: (blocks: readonly Block[]) => readonly Block[]): ChatState {
  const last = state.messages.at(-1);
  const isAnswer = last?.role === "assistant";
  const before = isAnswer ? last.blocks : [];
  const blocks = change(before);
  if (blocks === before) return state;
  const answer: AssistantView = isAnswer ? { ...last, blocks } : { role: "assistant", blocks };
  return { ...state, messages: [...(isAnswer ? state.messages.slice(0, -1) : state.messages), answer] };
}

/** Adds the final text if it is missing: a provider that does not stream sends its text only at the end. */
function withFinalText(state: ChatState, text: string): ChatState {
  if (text === "") return state;
  return changeBlocks(state, (blocks) => {
    const last = blocks.at(-1);
    return last?.type === "text" ? blocks : [...blocks, { type: "text", text }];
  });
}

function markStopped(state: ChatState): ChatState {
  const last = state.messages.at(-1);
  if (last?.role === "assistant") {
    return { ...state, messages: [...state.messages.slice(0, -1), { ...last, stopped: true }] };
  }
  return { ...state, messages: [...state.messages, { role: "assistant", blocks: [], stopped: true }] };
}
