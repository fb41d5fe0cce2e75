import { errorMessage } from "@agent/core/toolkit";
import { RequestError } from "@agentclientprotocol/sdk";

// Editors show the message of an error to the user. The SDK's own constructors prefix it with "Internal error: " and
// similar, and put unknown details into `data`, which editors print as JSON.

/** The editor requested something that is not possible now. */
export function invalidRequest(message: string): RequestError {
  return new RequestError(-32600, message);
}

/** The editor named something that does not exist. */
export function invalidParams(message: string): RequestError {
  return new RequestError(-32602, message);
}

/** An error of the agent, with its own message. */
export function failure(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  // The protocol's code for a user who must authenticate: the editor offers the methods of `initialize`.
  const isAuth = error instanceof Error && "code" in error && error.code === "auth_required";
  return new RequestError(isAuth ? -32000 : -32603, errorMessage(error));
}

/** A handler whose errors reach the editor with their own message. */
export function withReadableErrors<Request, Response>(
  handle: (request: Request) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      throw failure(error);
    }
  };
}
