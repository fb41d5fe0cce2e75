import { quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { ChatTool } from "../tools/interface.js";

/** The forms in which models write a tool call as text, when their server does not read it as one. */
const FORMS: readonly RegExp[] = [
  // Hermes, Qwen and others: <tool_call>{"name": …}</tool_call>
  /<\|?tool_calls?(?:_begin)?\|?>[\s\S]*$/,
  // <function_calls><invoke name="…">, <invoke name="…">
  /<(?:antml:)?(?:function_calls>\s*<(?:antml:)?)?invoke\s+name="[\s\S]*$/,
  // <function=read_file>
  /<function=[\s\S]*$/,
  // Mistral: [TOOL_CALLS][{"name": …}]
  /\[TOOL_CALLS\][\s\S]*$/,
  // Nothing but the call, as JSON.
  /^(?:```(?:json|tool_call)?\s*)?\[?\s*\{\s*"(?:name|tool|function|tool_name)"[\s\S]*[}\]`]$/,
];
// After the call there may be its end mark, but no answer.
const END = /[>}\]`]$/;

/** The name of the tool that an answer without calls calls as text, if its end is such a call. */
export function findWrittenCall(text: string, tools: readonly ChatTool[]): string | undefined {
  if (!/tool_call|invoke|<function=|TOOL_CALLS|"(?:name|tool|function|tool_name)"/.test(text))
    return undefined;
  // A fence around prose and calls is an explanation, unless the fence is all there is.
  // Trimmed here: several `\s*` in a row in a pattern take cubic time on a long run of blanks.
  const prose = (/^\s*```/.test(text) ? text : text.replace(/```[\s\S]*?```/g, "")).trim();
  for (const form of FORMS) {
    const call = form.exec(prose)?.[0];
    if (call === undefined || !END.test(call)) continue;
    const name =
      /"(?:name|tool|function|tool_name)"\s*:\s*"([^"]+)"|invoke\s+name="([^"]+)"|<function=([\w.-]+)/.exec(
        call,
      );
    const called = name?.slice(1).find((one) => one !== undefined);
    const plain = called?.replace(/^functions\./, "");
    if (tools.some((tool) => tool.function.name === plain)) return plain;
  }
  return undefined;
}

/** What the model sees about a call that it wrote as text. */
export function writtenCallCorrection(name: string): string {
  return `Your last answer has a call of ${quote(name)} written as text. It was not run. Call the tool through the tool interface, or answer without it.`;
}

/** What the user sees about it. */
export function writtenCallReason(name: string): string {
  return `the model wrote a call of ${quote(name)} as text, which is not run`;
}

export function writtenCallFailure(name: string): AgentError {
  return new AgentError(
    "provider_failed",
    `The model writes its calls of ${quote(name)} as text, so they cannot be run. Turn on tool calls on its server (vLLM: --enable-auto-tool-choice and a parser; llama.cpp: --jinja), or use another model.`,
  );
}
