import { AgentError, type ChatProvider, type ChatRequest } from "@agent/core";
import {
  AnswerBuilder,
  type AnswerReader,
  askWire,
  HttpEndpoint,
  incompleteAnswer,
  readProviderOptions,
  type Wire,
} from "@agent/core/provider";
import { OpenAIProvider } from "@agent/provider-openai";
import { checkProvider, formatReport, type ProviderSubject, type ProviderTarget } from "@agent/testing";
import { expect, test } from "vitest";
import { chat } from "./dialects.js";

/** How to make a faulty provider from a good one: by changing its answers, or the options it is created with. */
interface Fault {
  readonly options?: Partial<ProviderTarget>;
  respond?(
    good: ChatProvider,
    request: ChatRequest,
    target: ProviderTarget,
  ): ReturnType<ChatProvider["respond"]>;
}

let shared: ChatRequest["onText"];
let time = 0;

/** One fault for each check of the kit. */
const FAULTS: Readonly<Record<string, Fault>> = {
  answers: {
    respond: async (good, request) => {
      const response = await good.respond(request);
      return { ...response, toolCalls: response.toolCalls.slice(0, 1) };
    },
  },
  streams: {
    respond: async (good, request) => {
      const response = await good.respond({ ...request, ...(request.onText && { onText: () => undefined }) });
      request.onText?.(response.content ?? "");
      return response;
    },
  },
  "echoes-state": {
    respond: async (good, request) => {
      const { state: _, ...response } = await good.respond(request);
      return response;
    },
  },
  "stable-prefix": {
    respond: (good, request) =>
      good.respond({
        ...request,
        messages: [{ role: "system", content: `It is ${time++} o'clock.` }, ...request.messages],
      }),
  },
  parallel: {
    respond: (good, request) => {
      shared = request.onText;
      return good.respond({
        ...request,
        ...(request.onText && { onText: (text: string) => shared?.(text) }),
      });
    },
  },
  "whole-or-nothing": {
    respond: async (good, request) => {
      let text = "";
      const { onText } = request;
      const heard = (piece: string): void => {
        text += piece;
        onText?.(piece);
      };
      return await good.respond({ ...request, ...(onText && { onText: heard }) }).catch((error) => {
        if (text === "" || !/ended before|was lost|closed/.test(error.message)) throw error;
        return { content: text, toolCalls: [], finishReason: "stop" as const };
      });
    },
  },
  "reads-bytes": {
    respond: async (good, request) => {
      const response = await good.respond(request);
      // Like a reader that decodes each chunk on its own.
      const content = response.content?.replace(/ö|😀/gu, "\ufffd") ?? null;
      return request.tools.length === 0 && request.onText ? { ...response, content } : response;
    },
  },
  retries: {
    respond: (good, request) =>
      good.respond({
        ...request,
        onRetry: (retry) => {
          if (retry.reason.startsWith("502")) throw new AgentError("provider_failed", "gave up");
          request.onRetry?.(retry);
        },
      }),
  },
  "fails-in-words": {
    respond: (good, request) =>
      good.respond(request).catch((error) => {
        if (!/no such model/.test(error.message)) throw error;
        throw new Error("request failed");
      }),
  },
  "error-in-answer": {
    respond: (good, request) =>
      good.respond(request).catch((error) => {
        if (!/the model crashed/.test(error.message)) throw error;
        return { content: null, toolCalls: [], finishReason: "stop" as const };
      }),
  },
  overflow: {
    respond: (good, request) =>
      good.respond(request).catch((error) => {
        if (error.code !== "context_overflow") throw error;
        throw new AgentError("provider_failed", error.message);
      }),
  },
  "times-out": { options: { timeoutMs: 60_000 } },
  cancels: {
    respond: (good, request) => {
      if (request.signal.aborted) throw new Error("stopped");
      return good.respond(request);
    },
  },
  "hides-keys": {
    respond: (good, request, { apiKey }) =>
      good.respond(request).catch((error) => {
        if (!/401|\[secret\]/.test(error.message)) throw error;
        throw new AgentError(
          "provider_failed",
          `${error.message} (with ${Buffer.from(apiKey).toString("base64")})`,
        );
      }),
  },
  "stays-on-origin": {
    respond: async (good, request, { baseURL }) => {
      const body = JSON.stringify({ messages: request.messages });
      return await good.respond(request).catch(async (error) => {
        if (!/redirects to another origin/.test(error.message)) throw error;
        await fetch(`${baseURL}/v1/chat/completions`, { method: "POST", body });
        throw error;
      });
    },
  },
  "bounds-errors": {
    respond: (good, request) =>
      good.respond(request).catch((error) => {
        if (!error.message.includes("[2J")) throw error;
        throw new AgentError("provider_failed", `${error.message}\u001b[2J`);
      }),
  },
  "prints-nothing": {
    respond: async (good, request) => {
      const { onRetry } = request;
      return await good.respond({
        ...request,
        onRetry: (retry) => {
          process.stderr.write(`retrying: ${retry.reason}\n`);
          onRetry?.(retry);
        },
      });
    },
  },
};

function subjectWith(fault: Fault): ProviderSubject {
  return {
    name: "fixture",
    dialect: chat,
    create: (target) => {
      const { baseURL, ...options } = { ...target, ...fault.options };
      const good = new OpenAIProvider({ ...options, model: "m", baseURL: `${baseURL}/v1` });
      return {
        id: good.id,
        model: good.model,
        respond: (request) => fault.respond?.(good, request, target) ?? good.respond(request),
      };
    },
  };
}

test("passes every check with a good provider, and has a fault for each", async () => {
  const report = await checkProvider(subjectWith({}));
  expect(formatReport(report)).toMatch(/^fixture\n(ok {3}.*\n)+All checks passed\.\n$/);
  expect(report.checks.map(({ id }) => id).sort()).toEqual(Object.keys(FAULTS).sort());
});

test.each(Object.entries(FAULTS))(
  "fails at the one fault of a provider and nowhere else: %s",
  async (id, fault) => {
    const { checks } = await checkProvider(subjectWith(fault));
    expect(checks.filter(({ status }) => status === "failed").map((check) => check.id)).toEqual([id]);
  },
);

test("explains how to describe a request for a stream to the kit", async () => {
  const { isStream: _, ...dialect } = chat;
  const subject: ProviderSubject = {
    name: "asks in another way",
    dialect,
    create: (target) => {
      const good = new OpenAIProvider({ ...target, api: "chat", model: "m" });
      return { respond: ({ onText: _onText, ...request }) => good.respond(request) };
    },
  };
  const report = formatReport(await checkProvider(subject));
  expect(report).toMatch(
    /FAIL answers:[^\n]*\n +expected a request for a stream.*isStream\(\) of the dialect/,
  );
});

test("finds a reader that takes JSON instead of a stream for the end of an answer", async () => {
  const endpointOf = ({ baseURL, apiKey, ...limits }: ProviderTarget) =>
    new HttpEndpoint({
      ...readProviderOptions({ baseURL, apiKey, ...limits, model: "m" }, HASTY),
      headers: {},
      hints: {},
    });
  const subject: ProviderSubject = {
    name: "hasty",
    dialect: {
      whole: ({ text, calls }) => ({ text, calls, end: true }),
      events: ({ text }) => [{ say: text }, { end: true }].map((one) => `data: ${JSON.stringify(one)}\n\n`),
      error: (message) => ({ error: { message } }),
    },
    create: (target) => {
      const endpoint = endpointOf(target);
      const wire: Wire = {
        request: (_request, stream) => ({ path: "/talk", body: JSON.stringify({ stream }) }),
        reader: (request) => hastyReader(new AnswerBuilder("m", request)),
      };
      return { respond: (request) => askWire(endpoint, wire, request) };
    },
  };
  const report = formatReport(await checkProvider(subject));
  expect(report).toMatch(/FAIL whole-or-nothing:[^\n]*\n +expected [^\n]*JSON instead of events/);
});

const HASTY = {
  owner: "HastyProvider",
  keyVariables: ["HASTY_KEY"],
  baseURLVariable: "HASTY_URL",
  baseURL: "https://hasty.example",
  ownFields: ["stream"],
};

/** Looks only for what an event of its stream holds. */
function hastyReader(answer: AnswerBuilder): AnswerReader {
  let ended = false;
  return {
    whole: (given) => {
      answer.addText((given as { text?: string }).text);
      return answer.finish("stop");
    },
    add: (event) => {
      const { say, end } = event as { say?: string; end?: boolean };
      answer.addText(say);
      ended ||= end === true;
    },
    end: () => {
      if (!ended) throw incompleteAnswer();
      return answer.finish("stop");
    },
  };
}
