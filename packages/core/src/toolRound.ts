import { fitTogether } from "./budget.js";
import type { AgentEvent } from "./events.js";
import type { ChatMessage, ChatResponse, ChatToolCall } from "./providers/interface.js";
import { quote } from "./toolkit/describe.js";
import { isRecord } from "./toolkit/isRecord.js";
import { revealHiddenTags } from "./toolkit/visible.js";
import type { RunOptions, ToolResult } from "./tools/execution.js";
import type { ToolRegistry } from "./tools/registry.js";
import { asToolName } from "./tools/toolName.js";
import type { AccessNeed, ToolCapability } from "./tools/types.js";

// Calls of these run alone and in order: two edits of one file must not meet.
const EXCLUSIVE: readonly ToolCapability[] = ["write", "destroy", "execute"];

export interface RoundOptions {
  readonly registry: ToolRegistry;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  readonly maxOutputBytes: number;
  readonly approve?: (call: {
    id: string;
    name: string;
    args: Readonly<Record<string, unknown>>;
    needs: readonly AccessNeed[];
  }) => Promise<string | undefined>;
}

/** One answer with tool calls, all of them run: what joins the history, and what identifies a repetition. */
export interface Round {
  readonly messages: ChatMessage[];
  readonly signature: string;
}

/** One call, made ready: an id of its own, and arguments that could be read, or why not. */
interface PreparedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly raw: string;
  readonly problem: string | undefined;
}

/**
 * Runs the tool calls of one answer: readers together, the others one after the other, in the order asked.
 * Never rejects. Every call gets exactly one result, also when it was aborted.
 */
export async function runToolRound(response: ChatResponse, options: RoundOptions): Promise<Round> {
  const calls = prepareCalls(response);
  const results = await runInOrder(calls, options);
  const texts = fitTogether(
    results.map((result) => revealHiddenTags(result.text.toWellFormed())),
    options.maxOutputBytes,
  );
  return {
    messages: [
      { role: "assistant", content: textOrNull(response.content), tool_calls: calls.map(toHistory) },
      ...calls.map(
        ({ id }, index): ChatMessage => ({ role: "tool", tool_call_id: id, content: texts[index] ?? "" }),
      ),
    ],
    // Joined, not encoded: it is only ever compared, and results can be long.
    signature: calls.map(({ name, raw }, index) => `${name}\0${raw}\0${results[index]?.text}`).join("\0"),
  };
}

/** What a message may hold as its text. Half a character would make servers refuse the conversation for ever. */
export function textOrNull(content: unknown): string | null {
  return typeof content === "string" && content !== "" ? content.toWellFormed() : null;
}

function prepareCalls(response: ChatResponse): PreparedCall[] {
  const used = new Set<string>();
  return response.toolCalls.map((call: Partial<ChatToolCall>, index) => {
    const name = asText(call?.function?.name);
    const raw = asText(call?.function?.arguments);
    // Some servers send no id, or the same one twice; each result must still find its call.
    let id = asText(call?.id) || `call_${index}`;
    while (used.has(id)) id = `${id}_${index}`;
    used.add(id);
    return { id, name, raw, ...readArguments(raw, response.finishReason === "length") };
  });
}

/** A provider may pass on what its server made up: an object for arguments, no name at all. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value.toWellFormed() : (JSON.stringify(value) ?? "");
}

function readArguments(raw: string, cutOff: boolean): Pick<PreparedCall, "args" | "problem"> {
  if (cutOff) {
    return {
      args: {},
      problem:
        "the answer reached its length limit before the call was complete, so nothing was run. Make a shorter call.",
    };
  }
  if (raw.trim() === "") return { args: {}, problem: undefined };
  try {
    const args: unknown = JSON.parse(raw);
    if (isRecord(args)) return { args, problem: undefined };
    return { args: {}, problem: `the arguments must be a JSON object, got ${quote(raw)}.` };
  } catch (error) {
    return {
      args: {},
      problem: `the arguments are not valid JSON (${(error as Error).message}): ${quote(raw)}`,
    };
  }
}

/** The call as it is kept: servers refuse a history with names or arguments they could not have sent. */
function toHistory({ id, name, raw, problem }: PreparedCall): ChatToolCall {
  const readable = problem === undefined && raw.trim() !== "";
  return { id, type: "function", function: { name: asToolName(name), arguments: readable ? raw : "{}" } };
}

async function runInOrder(calls: readonly PreparedCall[], options: RoundOptions): Promise<ToolResult[]> {
  const results: Promise<ToolResult>[] = [];
  let lastExclusive: Promise<unknown> | undefined;
  for (const call of calls) {
    const capabilities = options.registry.getCapabilities(call.name);
    const exclusive = EXCLUSIVE.some((capability) => capabilities.includes(capability));
    const before = exclusive ? Promise.all(results) : lastExclusive;
    const result = before ? before.then(() => runCall(call, options)) : runCall(call, options);
    if (exclusive) lastExclusive = result;
    results.push(result);
  }
  return await Promise.all(results);
}

async function runCall(call: PreparedCall, options: RoundOptions): Promise<ToolResult> {
  const { id, name, args, problem } = call;
  const { registry, signal, emit, approve } = options;
  emit({ type: "tool_start", id, name, args });
  const runOptions: RunOptions = {
    signal,
    onOutput: (chunk) => emit({ type: "tool_output", id, name, chunk }),
    onProcess: (pid) => emit({ type: "tool_process", id, name, pid }),
    ...(approve && { approve: (final, needs) => approve({ id, name, args: final, needs }) }),
  };
  const result: ToolResult =
    problem === undefined
      ? await registry.run(name, args, runOptions)
      : { text: `Error executing ${name}: ${problem}`, outcome: "error", durationMs: 0 };
  emit({ type: "tool_end", id, name, ...result });
  return result;
}
