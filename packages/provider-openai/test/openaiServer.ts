import { AgentError } from "@agent/core";
import {
  type ChatServer,
  json,
  type ReceivedRequest,
  type Reply,
  startChatServer,
} from "@agent/test-support";
import { afterAll, expect } from "vitest";
import { OpenAIProvider, type OpenAIProviderOptions } from "../src/index.js";

/** The key that every provider of `useOpenAIServer` sends. */
export const KEY = "sk-secret-0123456789";

interface OpenAIServer {
  readonly server: ChatServer;
  /** A provider that sends its requests to the server. */
  provider(options?: Partial<OpenAIProviderOptions>): OpenAIProvider;
  /** The last request that the server received. */
  lastRequest(): ReceivedRequest;
  /** The error of a failed request, and how many HTTP requests were sent. */
  failure(asking: Promise<unknown>): Promise<AgentError & { requests: number }>;
}

/** Starts a server compatible with the API, for the tests of one file. */
export async function useOpenAIServer(): Promise<OpenAIServer> {
  const server = await startChatServer();
  afterAll(() => server.close());
  return {
    server,
    provider: (options = {}) =>
      new OpenAIProvider({
        model: "m",
        apiKey: KEY,
        baseURL: server.baseURL,
        retryDelayMs: 1,
        ...options,
      }),
    lastRequest: () => {
      const request = server.requests.at(-1);
      if (!request) throw new Error("nothing was requested");
      return request;
    },
    failure: async (asking) => {
      const before = server.requests.length;
      const error = await asking.then(
        () => expect.unreachable("the request succeeded"),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(AgentError);
      return Object.assign(error as AgentError, { requests: server.requests.length - before });
    },
  };
}

/** An error response in the form of the API. */
export function errorReply(
  status: number,
  message: string,
  more: object = {},
  headers: Record<string, string> = {},
): Reply {
  return json({ error: { message, ...more } }, status, headers);
}
