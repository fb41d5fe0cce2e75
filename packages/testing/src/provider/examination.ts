import type { ChatMessage, ChatProvider, ChatRequest, ChatResponse, ProviderRetry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import type { Finding } from "../types.js";
import { jsonReply, type Reply, ScriptedServer, streamReply } from "./server.js";
import type { ProviderSubject, ProviderTarget, SampleAnswer } from "./types.js";

export type Mode = "JSON" | "streaming";
const MODES: readonly Mode[] = ["JSON", "streaming"];

/** A key that is recognised in any encoding. */
export const KEY = "sk-conformance/Key+0123456789";
const SETTLE_MS = 20_000;

/** Everything one request told. */
export interface Asked {
  readonly response: ChatResponse | undefined;
  readonly error: unknown;
  /** The streamed text, without what a retry made void. */
  readonly text: string;
  readonly reasoning: string;
  readonly retries: readonly ProviderRetry[];
}

/** One promise of a good provider. `findings` is empty if it is kept. */
export interface ProviderCheck {
  readonly id: string;
  readonly title: string;
  readonly cure: string;
  run(examination: Examination): Promise<readonly Problem[]>;
  /** Why it cannot be made for this provider, if so. */
  skip?(examination: Examination): string | undefined;
}

export type Problem = Pick<Finding, "expected" | "got">;

/** Asks a provider in front of a server that answers by script. */
export class Examination {
  readonly subject: ProviderSubject;

  constructor(subject: ProviderSubject) {
    this.subject = subject;
  }

  /** An answer in the form that the request asked for. */
  reply(answer: SampleAnswer): Reply {
    const { dialect } = this.subject;
    return (request, response) => {
      const isStream = dialect.isStream?.(request) ?? request.body.stream === true;
      const reply = isStream ? streamReply(dialect.events(answer)) : jsonReply(dialect.whole(answer));
      return reply(request, response);
    };
  }

  errorReply(status: number, message: string, headers: Record<string, string> = {}): Reply {
    return jsonReply(this.subject.dialect.error(message), status, headers);
  }

  /** Runs `work` with a provider in front of a server that gives these replies. */
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

/** Asks once. Never rejects; a provider that never settles is an error, too. */
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

/** What a request came to, for a finding. */
export function outcome({ response, error }: Asked): string {
  if (response === undefined) {
    const { code } = (error ?? {}) as { code?: unknown };
    return `an error${typeof code === "string" ? ` with the code ${code}` : ""}: ${errorMessage(error)}`;
  }
  return JSON.stringify(response);
}

/** The same check in both modes; what is found says in which. */
export async function inBothModes(
  check: (mode: Mode) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  for (const mode of MODES) {
    for (const { expected, got } of await check(mode)) found.push({ expected: `${expected} (${mode})`, got });
  }
  return found;
}
