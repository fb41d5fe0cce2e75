import type { ChatMessage, ChatProvider, ChatRequest, ChatResponse, ProviderRetry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import type { Finding } from "../types.js";
import { jsonReply, type ReceivedRequest, type Reply, ScriptedServer, streamReply } from "./server.js";
import type { ProviderSubject, ProviderTarget, SampleAnswer } from "./types.js";

export type Mode = "JSON" | "streaming";
const MODES: readonly Mode[] = ["JSON", "streaming"];

/** An API key with characters that each encoding changes, so that the checks can find it encoded too. */
export const KEY = "sk-conformance/Key+0123456789";
const SETTLE_MS = 20_000;

/** The outcome of one request. */
export interface Asked {
  readonly response: ChatResponse | undefined;
  readonly error: unknown;
  /** The streamed text, without text of attempts that were repeated. */
  readonly text: string;
  readonly reasoning: string;
  readonly retries: readonly ProviderRetry[];
}

/** One check: a property of a good provider. `findings` is empty if the provider has it. */
export interface ProviderCheck {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  run(examination: Examination): Promise<readonly Problem[]>;
  /** Why the check does not apply to this provider; `undefined` if it applies. */
  skip?(examination: Examination): string | undefined;
}

export type Problem = Pick<Finding, "expected" | "got">;

/** Sends requests through a provider to a server that answers by script. */
export class Examination {
  readonly subject: ProviderSubject;

  constructor(subject: ProviderSubject) {
    this.subject = subject;
  }

  /** An answer in the format that the request asked for. */
  reply(answer: SampleAnswer): Reply {
    const { dialect } = this.subject;
    return (request, response) => {
      const reply = this.isStream(request)
        ? streamReply(dialect.events(answer))
        : jsonReply(dialect.whole(answer));
      return reply(request, response);
    };
  }

  isStream(request: ReceivedRequest): boolean {
    return this.subject.dialect.isStream?.(request) ?? request.body.stream === true;
  }

  errorReply(status: number, message: string, headers: Record<string, string> = {}): Reply {
    return jsonReply(this.subject.dialect.error(message), status, headers);
  }

  /** Runs `work` with a provider that talks to a server with these replies. */
  async with<T>(
    replies: readonly Reply[],
    work: (provider: ChatProvider, server: ScriptedServer) => Promise<T>,
    target: Partial<ProviderTarget> = {},
  ): Promise<T> {
    const server = await ScriptedServer.start(replies);
    try {
      const provider = this.subject.create({
        baseURL: server.baseURL,
        apiKey: KEY,
        timeoutMs: SETTLE_MS,
        maxRetries: 2,
        retryDelayMs: 1,
        ...target,
      });
      return await work(provider, server);
    } finally {
      await server.close();
    }
  }
}

/** Sends one request. Never rejects; a provider that never settles counts as an error. */
export async function ask(
  provider: ChatProvider,
  mode: Mode,
  request: Partial<ChatRequest> = {},
  settleMs = SETTLE_MS,
): Promise<Asked> {
  const retries: ProviderRetry[] = [];
  const { onText, ...rest } = request;
  let [text, reasoning] = ["", ""];
  const messages: readonly ChatMessage[] = [{ role: "user", content: "hello" }];
  const asking = (async () =>
    provider.respond({
      messages,
      tools: [],
      signal: new AbortController().signal,
      onRetry: (retry) => {
        retries.push(retry);
        text = "";
      },
      ...(mode === "streaming" && {
        onText: (piece: string) => {
          text += piece;
          onText?.(piece);
        },
        onReasoning: (piece: string) => {
          reasoning += piece;
        },
      }),
      ...rest,
    }))();
  try {
    const response = await withTimeout(asking, settleMs, () => {
      throw new Error(`it did not settle in ${settleMs} ms`);
    });
    return { response, error: undefined, text, reasoning, retries };
  } catch (error) {
    return { response: undefined, error, text, reasoning, retries };
  }
}

/** The outcome of a request as text, for a finding. */
export function outcome({ response, error }: Asked): string {
  if (response === undefined) {
    const { code } = (error ?? {}) as { code?: unknown };
    return `an error${typeof code === "string" ? ` with the code ${code}` : ""}: ${errorMessage(error)}`;
  }
  return JSON.stringify(response);
}

/** Runs a check with and without streaming; each finding names the mode. */
export async function inBothModes(
  check: (mode: Mode) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  for (const mode of MODES) {
    for (const { expected, got } of await check(mode)) found.push({ expected: `${expected} (${mode})`, got });
  }
  return found;
}
